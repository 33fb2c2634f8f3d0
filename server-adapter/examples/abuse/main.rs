//! The effect of one source at full force on other clients: for each attack, how long a healthy client's posts and
//! `/livez` take meanwhile, how much memory the server needs, and how long its shutdown takes.
//! `cargo run --release -p deskfleet-server --example abuse [ATTACK...] [--program FILE] [--seconds N]`
//!
//! Builds nothing: it attacks the `deskfleet` in its folder, which must have been built before, or another one, to
//! compare. The attacker has the address 127.0.0.2 and the lowest priority, as if it ran on another host.

#[cfg(target_os = "linux")]
mod attacks;
#[cfg(target_os = "linux")]
mod healthy;
#[cfg(target_os = "linux")]
mod server;

use std::error::Error;

#[cfg(not(target_os = "linux"))]
fn main() -> Result<(), Box<dyn Error>> {
    Err("needs Linux, where every address of 127.0.0.0/8 is this machine, and its /proc".into())
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn Error>> {
    linux::main()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io::Write as _;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::Error;
    use super::attacks::{ALL, Attack};
    use super::healthy::{Times, watch};
    use super::server::AttackedServer;

    /// The bounds of each row.
    const P99_MAX: Duration = Duration::from_millis(100);
    /// See [`P99_MAX`].
    const MEMORY_MAX_MIB: f64 = 256.0;
    /// See [`P99_MAX`]: from SIGTERM; requests in flight may take ten seconds of it.
    const END_MAX: Duration = Duration::from_secs(15);
    /// How long the healthy client is measured.
    const WATCHED: Duration = Duration::from_secs(10);

    struct Arguments {
        program: PathBuf,
        attacks: Vec<String>,
        watched: Duration,
    }

    pub(super) fn main() -> Result<(), Box<dyn Error>> {
        let arguments = arguments()?;
        allow_files()?;
        let mut out = std::io::stdout().lock();
        writeln!(
            out,
            "| attack | posts: p50, p99, max ms | `/livez`: p50, p99, max ms | failed | peak MiB | end s | verdict |\n\
             |---|---|---|---|---|---|---|"
        )?;
        for attack in ALL {
            let wanted = &arguments.attacks;
            if wanted.is_empty() || wanted.iter().any(|wanted| wanted == attack.name) {
                writeln!(out, "{}", row(attack, &arguments)?)?;
            }
        }
        Ok(())
    }

    fn arguments() -> Result<Arguments, Box<dyn Error>> {
        let example = std::env::current_exe()?;
        let folder = example
            .ancestors()
            .nth(2)
            .ok_or("not where cargo puts examples")?;
        let mut arguments = Arguments {
            program: folder.join("deskfleet"),
            attacks: Vec::new(),
            watched: WATCHED,
        };
        let mut given = std::env::args().skip(1);
        while let Some(argument) = given.next() {
            match argument.as_str() {
                "--program" => arguments.program = given.next().ok_or("--program FILE")?.into(),
                "--seconds" => {
                    let seconds = given.next().ok_or("--seconds N")?.parse()?;
                    arguments.watched = Duration::from_secs(seconds);
                }
                name if ALL.iter().any(|attack| attack.name == name) => {
                    arguments.attacks.push(argument);
                }
                other => {
                    let names: Vec<_> = ALL.iter().map(|attack| attack.name).collect();
                    return Err(format!("{other} is none of {}", names.join(", ")).into());
                }
            }
        }
        Ok(arguments)
    }

    /// Runs one attack and prints its row.
    fn row(attack: &Attack, arguments: &Arguments) -> Result<String, Box<dyn Error>> {
        let server = AttackedServer::start(&arguments.program, &attack.setup)?;
        // If the server does not take all of it in time, the measurement goes on.
        let taken = (attack.prepare)(&server).is_ok();
        let stop = AtomicBool::new(false);
        let (times, end, peak) = thread::scope(|scope| {
            let attackers = (attack.attackers)(&server);
            for attacker in attackers {
                let stop = &stop;
                scope.spawn(move || {
                    low_priority();
                    while !stop.load(Ordering::Relaxed) {
                        // Requests that the server refuses or cuts off are sent again.
                        if attacker().is_err() {
                            thread::sleep(Duration::from_millis(1));
                        }
                    }
                });
            }
            let times = watch(server.address, arguments.watched);
            let peak = server.peak_mib();
            let end = server.terminate();
            stop.store(true, Ordering::Relaxed);
            (times, end, peak)
        });
        Ok(summary(attack, taken, &times, end?, peak?))
    }

    fn summary(
        attack: &Attack,
        taken: bool,
        [posts, livez]: &[Times; 2],
        end: Duration,
        peak: f64,
    ) -> String {
        let failed = posts.failed + livez.failed;
        let holds = taken
            && [posts, livez].iter().all(|times| times.p99() <= P99_MAX)
            && failed == 0
            && peak <= MEMORY_MAX_MIB
            && end <= END_MAX;
        let verdict = if holds { "holds" } else { "FAILS" };
        let end = end.as_secs_f64();
        format!(
            "| {} | {posts} | {livez} | {failed} | {peak:.0} | {end:.1} | {verdict} |",
            attack.name
        )
    }

    /// The attacker would run on another host: its computation must not take the server's time.
    pub(super) fn low_priority() {
        // If this fails, the rows are worse than they should be.
        let _ = rustix::process::nice(19);
    }

    fn allow_files() -> Result<(), Box<dyn Error>> {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        Ok(setrlimit(Resource::Nofile, limit)?)
    }
}
