//! Amazon WorkSpaces for tests: moto, and a fake that has all calls and faults. Both are Python, from `PyPI`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;

/// `moto` with what its server needs: the rest of `moto[server]` is for other services.
const PACKAGES: [&str; 3] = ["moto==5.2.5", "flask", "flask-cors"];
/// Longer than any answer takes under load.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// A running server. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Aws {
    child: Child,
    /// The server ends when this is closed, also where the test is killed.
    _stdin: Option<ChildStdin>,
    /// What it says at its start.
    pub(crate) start: Value,
}

impl Aws {
    /// Moto, which checks signatures and permissions; it has no Reboot, Start, Rebuild, Restore.
    ///
    /// `None` where it cannot be installed: the test is skipped, with a line that says so. With `DESKFLEET_REQUIRE_MOTO=1` that is a
    /// failure.
    pub(crate) fn moto() -> Option<Self> {
        Self::run("moto_server.py")
    }

    /// The fake, or `None` as [`Self::moto`] says.
    pub(crate) fn fake() -> Option<Self> {
        Self::run("fake_workspaces.py")
    }

    fn run(script: &str) -> Option<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/clouds")
            .join(script);
        let mut command = Command::new(python()?);
        command.arg(script);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let start = serde_json::from_str(&line).unwrap();
        Some(Self {
            _stdin: child.stdin.take(),
            child,
            start,
        })
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.start["port"])
    }

    /// The access key id and the secret of one of its users.
    pub(crate) fn key(&self, user: &str) -> (String, String) {
        let part = |name: &str| self.start["keys"][user][name].as_str().unwrap().to_owned();
        (part("id"), part("secret"))
    }

    /// Sets desktops, limits and faults of the fake.
    pub(crate) fn control(&self, set: &Value) {
        self.request("POST", &set.to_string());
    }

    /// All calls to the fake, in their order.
    pub(crate) fn log(&self) -> Vec<Value> {
        let mut body: Value = serde_json::from_str(&self.request("GET", "")).unwrap();
        body["log"].as_array_mut().map(std::mem::take).unwrap()
    }

    /// The calls with an effect: their operation and a desktop of each.
    pub(crate) fn effects(&self) -> Vec<(String, String)> {
        let calls = self.log();
        let effects = calls.iter().flat_map(|call| {
            let operation = call["operation"].as_str().unwrap();
            let ids = call["done"].as_array().unwrap().iter();
            ids.map(move |id| (operation.to_owned(), id.as_str().unwrap().to_owned()))
        });
        effects.collect()
    }

    /// The state of a desktop of the fake; `None` where it is gone.
    pub(crate) fn state(&self, id: &str) -> Option<String> {
        self.member(id, "state")
    }

    /// A member of a desktop of the fake; `None` where it is gone.
    pub(crate) fn member(&self, id: &str, name: &str) -> Option<String> {
        let body: Value = serde_json::from_str(&self.request("GET", "")).unwrap();
        body["desktops"][id][name].as_str().map(str::to_owned)
    }

    fn request(&self, method: &str, body: &str) -> String {
        let port = self.start["port"].as_u64().unwrap();
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        stream.set_read_timeout(Some(ANSWER_MAX)).unwrap();
        let length = body.len();
        let head = format!("{method} /control HTTP/1.0\r\ncontent-length: {length}\r\n\r\n{body}");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(" 200 "), "{answer}");
        body.to_owned()
    }
}

impl Drop for Aws {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The Python that has the packages, or `None` and a line that says why there is none.
fn python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    let python = PYTHON.get_or_init(|| match installed() {
        Ok(python) => Some(python),
        Err(message) => {
            let required = std::env::var_os("DESKFLEET_REQUIRE_MOTO").is_some_and(|set| set == "1");
            assert!(!required, "moto cannot be installed: {message}");
            let message = format!("skipped: moto cannot be installed here: {message}\n");
            // Not `eprintln`, which is not shown of a test that passes.
            let _ = std::io::stderr().write_all(message.as_bytes());
            None
        }
    });
    python.as_deref()
}

/// Installs them beside what was compiled.
fn installed() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = own.ancestors().nth(2).ok_or("a test has a folder")?;
    let folder = target.join("moto");
    let python = folder.join("bin/python");
    let run = |command: &mut Command| {
        let output = command.output().map_err(|error| error.to_string())?;
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        output
            .status
            .success()
            .then_some(output.stdout)
            .ok_or(message)
    };
    let wanted = PACKAGES[0].split('=').next_back().unwrap_or_default();
    let has_it = || {
        let version = "import moto, flask, flask_cors; print(moto.__version__)";
        let version = run(Command::new(&python).args(["-c", version]))?;
        let version = String::from_utf8_lossy(&version).into_owned();
        (version.trim() == wanted).then_some(()).ok_or(version)
    };
    if has_it().is_err() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let mut pip = Command::new(&python);
        run(pip.args(["-m", "pip", "install", "--quiet"]).args(PACKAGES))?;
        has_it()?;
    }
    Ok(python)
}
