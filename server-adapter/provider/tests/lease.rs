//! Two processes of one provider: one acts, and the other takes over.

use std::fs::{File, read_to_string};
use std::time::Duration;

use crate::fleets::{Fleet, Provider};
use crate::gate::Gate;
use deskfleet::{Action, AuditResult};
use rustix::process::{Pid, Signal, kill_process};

/// A process of the provider `command`, whose program writes a line into a file of its name.
struct Process<'f> {
    fleet: &'f Fleet,
    name: &'static str,
    provider: Provider,
}

impl<'f> Process<'f> {
    /// Starts it with these options; `then` is what the program does besides.
    fn start(fleet: &'f Fleet, name: &'static str, options: &str, then: &str) -> Self {
        let script = fleet.file(&format!("{name}.sh"), &format!("cat >> {name}; {then}"));
        let mut line = vec!["command", "--apply"];
        line.extend(options.split_whitespace());
        line.extend(["--", "sh", script.to_str().unwrap()]);
        let log = File::create(fleet.folder.path().join(format!("{name}.log"))).unwrap();
        let provider = Provider(fleet.command(&line).stderr(log).spawn().unwrap());
        Self {
            fleet,
            name,
            provider,
        }
    }

    fn text(&self) -> String {
        read_to_string(self.fleet.folder.path().join(format!("{}.log", self.name))).unwrap()
    }

    /// Waits until it logs that.
    fn logs(&self, text: &str) {
        self.fleet.wait(text, || self.text().contains(text));
    }

    /// How many programs it has begun.
    fn begun(&self) -> usize {
        let lines = read_to_string(self.fleet.folder.path().join(self.name));
        lines.unwrap_or_default().lines().count()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.provider.0), signal).unwrap();
    }

    /// Waits for its end; returns the exit code.
    fn ends(&mut self) -> Option<i32> {
        let process = &mut self.provider.0;
        self.fleet
            .wait("its end", || process.try_wait().unwrap().is_some());
        process.wait().unwrap().code()
    }
}

const STANDS_BY: &str = "standing by, to take over command";

#[test]
fn second_process_of_a_name_stands_by_and_takes_over() {
    let fleet = Fleet::new(&["ws-1", "ws-2", "ws-3", "ws-4"]);
    let start = |name| Process::start(&fleet, name, "--lease 5s", "");
    let mut first = start("first");
    fleet.act(Action::Reboot, "ws-1");
    fleet.wait_until_done();
    let mut second = start("second");
    second.logs(STANDS_BY);
    fleet.act(Action::Reboot, "ws-2");
    fleet.wait_until_done();
    assert_eq!((first.begun(), second.begun()), (2, 0));

    // One that is stopped and goes on later finds that it was replaced.
    first.signal(Signal::STOP);
    fleet.act(Action::Reboot, "ws-3");
    fleet.wait_until_done();
    assert_eq!(second.begun(), 1);
    first.signal(Signal::CONT);
    assert_eq!(first.ends(), Some(1));
    first.logs("another process of this name has the lease now");

    // One that ends gives the lease back.
    let third = start("third");
    third.logs(STANDS_BY);
    second.signal(Signal::TERM);
    assert_eq!(second.ends(), Some(0));
    fleet.act(Action::Reboot, "ws-4");
    fleet.wait_until_done();
    assert_eq!([first, second, third].map(|of| of.begun()), [2, 1, 1]);
}

/// A process that is replaced while its programs run: nothing is begun beside them, and what destroys is not called unknown.
#[test]
fn one_that_takes_over_leaves_what_runs_to_the_other() {
    let fleet = Fleet::new(&["ws-1", "ws-2"]);
    let reboot = fleet.act(Action::Reboot, "ws-1");
    let rebuild = fleet.act(Action::Rebuild, "ws-2");
    let start = |name| Process::start(&fleet, name, "--lease 2s --timeout 30s", "sleep 15");
    let first = start("first");
    fleet.wait("two programs", || first.begun() == 2);
    let second = start("second");
    second.logs(STANDS_BY);
    first.signal(Signal::STOP);
    second.logs("2 actions that another process of this name began are left alone");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!((second.begun(), fleet.pending().len()), (0, 2));
    first.signal(Signal::CONT);
    fleet.wait_until_done();
    assert_eq!((first.begun(), second.begun()), (2, 0));
    for id in [reboot, rebuild] {
        assert_eq!(fleet.end_of(id).0, AuditResult::Completed);
    }
}

/// Nobody could extend the lease meanwhile, so the first to ask would have it.
#[test]
fn outage_of_the_server_moves_no_lease() {
    let fleet = Fleet::new(&["ws-1"]);
    let gate = Gate::before(fleet.server.server.addr().port());
    let url = format!("http://127.0.0.1:{}", gate.port());
    let options = format!("--lease 2s --timeout 30s --url {url}");
    let start = |name| Process::start(&fleet, name, &options, "sleep 10");
    let mut first = start("first");
    first.logs("driving the actions");
    let second = start("second");
    second.logs(STANDS_BY);
    let [longer, over] = [4, 6].map(Duration::from_secs);
    gate.close();
    std::thread::sleep(longer);
    gate.open();
    std::thread::sleep(over);
    let ended = first.provider.0.try_wait().unwrap();
    assert!(ended.is_none(), "{}", first.text());

    // A request of the second may arrive late, and then it has the lease. It leaves what runs alone.
    fleet.act(Action::Reboot, "ws-1");
    fleet.wait("a program", || first.begun() == 1);
    let held = gate.hold();
    std::thread::sleep(longer);
    drop(held);
    fleet.wait_until_done();
    assert_eq!((first.begun(), second.begun()), (1, 0), "{}", second.text());
}
