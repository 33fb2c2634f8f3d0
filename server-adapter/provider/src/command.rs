//! A program that makes an action happen.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use deskfleet::locks::lock;
use serde_json::{Value, json};

use super::kind::{Answer, Kind, Order};

/// Exit code of a program that says: try again (`EX_TEMPFAIL` of `sysexits.h`).
const TRY_AGAIN: i32 = 75;
/// Bytes of standard error that are read; its first line is in the audit.
const ERRORS_MAX: usize = 4096;
/// How long the rest of standard error is waited for once the program has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// How often a program is asked whether it has ended.
const LOOK: Duration = Duration::from_millis(50);
/// What a program sees of the environment: no key, no secret of the provider.
const ENVIRONMENT: [&str; 6] = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "SystemRoot"];

/// Runs a program for each action, with the action as JSON on its standard input. Exit code 0: it has happened; 75: try again; any other:
/// it has failed, for the reason in the first line of standard error.
#[derive(Debug)]
pub(super) struct Program {
    /// The program and its arguments; not empty.
    pub(super) line: Vec<PathBuf>,
    /// How long it may run; then it is killed.
    pub(super) time: Duration,
}

impl Kind for Program {
    fn answers_within(&self) -> Duration {
        self.time + LAST_WORDS
    }

    fn send(&self, orders: &[Order], _: &dyn Fn(&Value) -> bool) -> Vec<Answer> {
        orders.iter().map(|order| self.run(order)).collect()
    }
}

impl Program {
    /// Looks for the program: one that cannot be started would be found out only after it has taken actions over.
    ///
    /// # Errors
    ///
    /// One sentence, where it is not there or must not be executed.
    pub(super) fn check(&self) -> Result<(), String> {
        let program = self.line.first().ok_or("no program is named")?;
        let folders = if program.components().count() > 1 {
            vec![PathBuf::new()]
        } else {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).collect()
        };
        let found = folders
            .iter()
            .any(|folder| is_executable(&folder.join(program)));
        if found {
            return Ok(());
        }
        Err(format!(
            "{} is no program that can be started: give its path, and make it executable",
            program.display()
        ))
    }

    fn run(&self, order: &Order) -> Answer {
        let mut child = match self.start() {
            Ok(child) => child,
            Err(why) => return Answer::Denied(why),
        };
        let input = json!({
            "id": order.id,
            "action": order.action.as_str(),
            "workSpaceId": order.workspace_id,
            "computeType": order.compute_type,
            "attempt": order.attempt,
        });
        if let Some(mut stdin) = child.stdin.take() {
            // A program need not read it, and less than a page never blocks.
            let _ = writeln!(stdin, "{input}");
        }
        let errors = child.stderr.take().map(read);
        let ended = wait(&mut child, self.time);
        let Some(status) = ended else {
            kill(&mut child);
            let seconds = self.time.as_secs();
            return Answer::Lost(format!(
                "The program ran for {seconds} seconds; it was killed."
            ));
        };
        let text = errors.map(Errors::take).unwrap_or_default();
        answer(status, &text)
    }

    fn start(&self) -> Result<Child, String> {
        let Some((program, arguments)) = self.line.split_first() else {
            return Err("no program is named".to_owned());
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(ENVIRONMENT.into_iter().filter_map(|name| {
                let value = std::env::var_os(name)?;
                Some((name, value))
            }))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let started = command.spawn();
        started.map_err(|error| format!("cannot start {}: {error}", program.display()))
    }
}

fn is_executable(file: &Path) -> bool {
    let Ok(found) = file.metadata() else {
        return false;
    };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    found.is_file() && may_run
}

/// What a program writes to standard error.
struct Errors {
    text: Arc<Mutex<Vec<u8>>>,
    /// Ends with standard error.
    end: Receiver<()>,
}

impl Errors {
    /// All of it, or what there is where something that the program started keeps it open.
    fn take(self) -> Vec<u8> {
        let _ = self.end.recv_timeout(LAST_WORDS);
        std::mem::take(&mut *lock(&self.text))
    }
}

/// Reads all of it, on a thread of its own, and keeps the beginning.
fn read(mut stderr: ChildStderr) -> Errors {
    let text = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&text);
    let (open, end) = channel();
    let reader = move || {
        let mut piece = [0; 1024];
        while let Ok(length @ 1..) = stderr.read(&mut piece) {
            let mut kept = lock(&kept);
            let room = ERRORS_MAX.saturating_sub(kept.len());
            kept.extend(piece.iter().take(length.min(room)));
        }
        drop(open);
    };
    // Without a thread there is no text: that is all that is lost.
    let _ = std::thread::Builder::new().spawn(reader);
    Errors { text, end }
}

/// How the program ended; `None` where it still runs after `time`.
pub(super) fn wait(child: &mut Child, time: Duration) -> Option<ExitStatus> {
    let until = Instant::now() + time;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => std::thread::sleep(LOOK),
            Ok(None) | Err(_) => return None,
        }
    }
}

/// Ends the program and what it started.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn answer(status: ExitStatus, errors: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(errors);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let why = |otherwise: String| line.map_or(otherwise, str::to_owned);
    match status.code() {
        Some(0) => Answer::Done,
        Some(TRY_AGAIN) => Answer::Later {
            after: None,
            why: why("The program asked for another attempt.".to_owned()),
        },
        Some(code) => Answer::Failed(why(format!("The program ended with code {code}."))),
        None => Answer::Lost(why(format!("The program was killed: {status}."))),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use deskfleet::Action;

    use super::super::kind::Stage;
    use super::*;

    fn run(script: &str, time: Duration) -> Answer {
        let program = Program {
            line: ["sh", "-c", script].map(PathBuf::from).to_vec(),
            time,
        };
        let order = Order {
            id: 7,
            action: Action::Reboot,
            workspace_id: "ws-1".to_owned(),
            compute_type: None,
            attempt: 2,
            stage: Stage::First,
        };
        let mut answers = program.send(&[order], &|_| true);
        assert_eq!(answers.len(), 1);
        answers.remove(0)
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn exit_code_says_how_it_went() {
        let failed = |why: &str| Answer::Failed(why.to_owned());
        let later = |why: &str| Answer::Later {
            after: None,
            why: why.to_owned(),
        };
        for (script, expected) in [
            ("exit 0", Answer::Done),
            ("echo busy >&2; exit 75", later("busy")),
            ("exit 75", later("The program asked for another attempt.")),
            (
                "echo; echo ' no disk ' >&2; echo more >&2; exit 1",
                failed("no disk"),
            ),
            ("exit 3", failed("The program ended with code 3.")),
        ] {
            assert_eq!(run(script, MINUTE), expected, "{script}");
        }
    }

    #[test]
    fn program_reads_the_action_and_nothing_of_the_environment() {
        let expected = r#"{"action":"RebootWorkSpace","attempt":2,"computeType":null,"id":7,"workSpaceId":"ws-1"}"#;
        let script = format!(
            "read -r line; [ \"$line\" = '{expected}' ] || {{ echo \"$line\" >&2; exit 1; }}; [ -z \"$CARGO_MANIFEST_DIR\" ] || exit 2"
        );
        assert_eq!(run(&script, MINUTE), Answer::Done);
    }

    #[test]
    fn program_that_takes_too_long_is_killed_with_what_it_started() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let script = format!("(sleep 2; echo late > {}) & wait", file.path().display());
        let answer = run(&script, Duration::from_millis(100));
        assert!(matches!(answer, Answer::Lost(_)), "{answer:?}");
        std::thread::sleep(Duration::from_secs(3));
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "");
    }

    #[test]
    fn program_that_writes_much_or_reads_nothing_ends() {
        let script = "head -c 1000000 /dev/zero >&2; exit 1";
        assert!(matches!(run(script, MINUTE), Answer::Failed(_)));
        assert_eq!(run("exec <&-; exit 0", MINUTE), Answer::Done);
    }

    #[test]
    fn program_that_is_not_there_pauses_everything() {
        let program = Program {
            line: vec!["/nowhere/at-all".into()],
            time: MINUTE,
        };
        let why = program.start().unwrap_err();
        assert!(why.starts_with("cannot start /nowhere/at-all: "), "{why}");
    }
}
