//! A server in this process, and agents as processes.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant, SystemTime};

use deskfleet::{Config, Engine, HistoryQuery, NewKey, Record, Scope, Stream};
use deskfleet_server::{RunningServer, ServerOptions, spawn};
use tempfile::TempDir;

/// The instance of every agent here: one whose first record is early.
pub(crate) const INSTANCE: &str = "ws-104";
/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, a key for agents, and the folder of one agent.
pub(crate) struct Fleet {
    pub(crate) engine: Engine,
    server: Option<RunningServer>,
    folder: TempDir,
}

impl Fleet {
    pub(crate) fn new() -> Self {
        Self::with_clock(SystemTime::now)
    }

    pub(crate) fn with_clock(clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self::from_parts(clock, Config::default())
    }

    pub(crate) fn from_parts(
        clock: impl Fn() -> SystemTime + Send + Sync + 'static,
        config: Config,
    ) -> Self {
        let engine = Engine::builder().clock(clock).seed(1).config(config);
        let engine = engine.open_in_memory().unwrap();
        let server = spawn(engine.clone(), ServerOptions::default()).unwrap();
        let fleet = Self {
            engine,
            server: Some(server),
            folder: TempDir::new().unwrap(),
        };
        fleet.issue_key("agent");
        fleet
    }

    /// Puts a new key where the agent looks for it.
    pub(crate) fn issue_key(&self, name: &str) {
        let new = NewKey::new(name, [Scope::Ingest]);
        let key = self.engine.issue_key(new).unwrap().secret;
        fs::write(self.file("key"), key).unwrap();
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.server.as_ref().unwrap().addr()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.addr())
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The command with the spool of this fleet.
    pub(crate) fn agent(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deskfleet-agent"));
        command
            .args(arguments)
            .env("DESKFLEET_AGENT_SPOOL", self.file("spool"))
            .env("DESKFLEET_AGENT_INSTANCE", INSTANCE)
            .env_remove("DESKFLEET_KEY")
            .env_remove("STATE_DIRECTORY")
            .current_dir(self.folder.path());
        command
    }

    /// Measures once and sends everything to `url`.
    pub(crate) fn once(&self, url: &str) -> Output {
        let arguments = ["--once", "--url", url, "--key-file", "key"];
        self.agent(&arguments).output().unwrap()
    }

    /// Starts an agent that goes on.
    pub(crate) fn start(&self, url: &str, arguments: &[&str]) -> Running {
        let mut command = self.agent(&["--url", url, "--key-file", "key"]);
        Running::start(command.args(arguments))
    }

    /// Reports the lock of a user through the agent.
    pub(crate) fn report(&self, user: &str) {
        let output = self
            .agent(&["report", "lock", "--user", user])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// The records of a stream that the server has, repetitions left out, after the queue was filed.
    pub(crate) fn records(&self, stream: Stream) -> Vec<Record> {
        self.engine.maintain().unwrap();
        let found = self.engine.all_history(HistoryQuery::new(stream, INSTANCE));
        found.map(|received| received.unwrap().record).collect()
    }

    /// The users whose locks the server has, in order.
    pub(crate) fn locks(&self) -> Vec<String> {
        let locks = self
            .records(Stream::Activity)
            .into_iter()
            .filter_map(|record| {
                let Record::Activity(activity) = record else {
                    panic!("{record:?}");
                };
                let is_lock = activity.activity.value().is_some_and(|word| word == "Lock");
                is_lock.then(|| activity.username.value().unwrap().clone())
            });
        let mut locks: Vec<String> = locks.collect();
        locks.sort();
        locks
    }

    /// Waits until the server has the locks of these users, each once.
    pub(crate) fn wait_for_locks(&self, users: &[String]) {
        let begun = Instant::now();
        while self.locks().len() < users.len() {
            assert!(begun.elapsed() < PATIENCE, "{:?}", self.locks());
            sleep(Duration::from_millis(100));
        }
        let mut users = users.to_vec();
        users.sort();
        assert_eq!(self.locks(), users);
    }

    /// Whether the spool has no record.
    pub(crate) fn spool_is_empty(&self) -> bool {
        segments(&self.file("spool")).is_empty()
    }

    /// Waits until the spool has no file with records.
    pub(crate) fn wait_for_an_empty_spool(&self) {
        let begun = Instant::now();
        while !self.spool_is_empty() {
            assert!(
                begun.elapsed() < PATIENCE,
                "{:?}",
                segments(&self.file("spool"))
            );
            sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            let _ = server.stop();
        }
    }
}

/// The files with records.
pub(crate) fn segments(spool: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(spool)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.extension().is_some_and(|of| of == "spool"))
        .collect()
}

/// An agent that is killed with the test.
pub(crate) struct Running {
    child: Child,
    log: Arc<Mutex<String>>,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        // A pipe, which a limit of the size of files does not concern.
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let log = Arc::new(Mutex::new(String::new()));
        let written = Arc::clone(&log);
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                *written.lock().unwrap() += &(line + "\n");
            }
        });
        Self { child, log }
    }

    /// Kills it as `kill -9` does.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits for a text in the log.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let begun = Instant::now();
        while !self.log().contains(text) {
            let ended = self.child.try_wait().unwrap();
            assert!(
                ended.is_none() && begun.elapsed() < PATIENCE,
                "{ended:?} no {text:?}: {}",
                self.log()
            );
            sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
