//! PostgreSQL from Debian's packages, in a temporary folder: a primary and two standbys, one of which must have what is acknowledged.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::network::Host;
use super::ports::free_ports;

/// Longer than any step takes under load.
const STEP_MAX: Duration = Duration::from_secs(120);
/// The longest that a standby takes to follow another primary.
const FOLLOWS_MAX: Duration = Duration::from_secs(20);
/// PostgreSQL refuses to run as root.
const USER: &str = "postgres";

/// Servers that replicate each other. Dropping it ends them.
#[derive(Debug)]
pub struct Postgres {
    programs: PathBuf,
    folder: TempDir,
    pub(super) servers: Vec<Server>,
    pub(super) primary: usize,
    /// Whether a commit waits for a standby.
    is_synchronous: bool,
}

#[derive(Debug)]
pub(super) struct Server {
    host: Host,
    pub(super) port: u16,
    /// The postmaster, while it runs.
    pub(super) process: Option<Child>,
}

impl Postgres {
    /// Starts a primary and two standbys; a commit waits for one of them.
    ///
    /// `None` where PostgreSQL is not installed: the test is skipped, with a line that says so. With `DESKFLEET_REQUIRE_POSTGRES=1`
    /// that is a failure.
    pub fn start() -> Option<Self> {
        Self::start_on(&[(); 3].map(|()| Host::local()))
    }

    /// Starts a primary that waits for none of its two standbys, or returns `None` as [`Self::start`] does.
    pub fn start_asynchronous() -> Option<Self> {
        Self::start_servers(&[(); 3].map(|()| Host::local()), false)
    }

    /// Starts one server without standbys, or returns `None` as [`Self::start`] does.
    pub fn start_alone() -> Option<Self> {
        Self::start_on(&[Host::local()])
    }

    /// Starts a primary on the first host, and a standby on each of the others.
    pub fn start_on(hosts: &[Host]) -> Option<Self> {
        Self::start_servers(hosts, hosts.len() > 1)
    }

    fn start_servers(hosts: &[Host], is_synchronous: bool) -> Option<Self> {
        let programs = programs()?;
        let folder = tempfile::Builder::new().prefix("postgres").tempdir();
        let folder = folder.unwrap();
        if is_root() {
            let mut chown = Command::new("chown");
            succeed(chown.arg(USER).arg(folder.path()));
        }
        let server = |(host, port): (&Host, u16)| Server {
            host: host.clone(),
            port,
            process: None,
        };
        let mut started = Self {
            programs,
            folder,
            servers: hosts
                .iter()
                .zip(free_ports(hosts.len()))
                .map(server)
                .collect(),
            primary: 0,
            is_synchronous,
        };
        let mut initdb = started.command("initdb");
        initdb.args(["--auth=trust", "--no-sync", "--wal-segsize=1"]);
        initdb.args(["--username", USER]);
        succeed(initdb.arg("--pgdata").arg(started.data(0)));
        let rules = started.data(0).join("pg_hba.conf");
        let mut rules = fs::File::options().append(true).open(rules).unwrap();
        let own = "host all,replication all samenet trust";
        writeln!(rules, "{own}").unwrap();
        started.launch(0);
        for index in 1..hosts.len() {
            started.copy(index);
        }
        started.wait_for_standbys();
        Some(started)
    }

    /// The URL of the database, with all servers: clients find the primary among them.
    pub fn url(&self) -> String {
        let host = |server: &Server| format!("{}:{}", server.host.address, server.port);
        let hosts: Vec<_> = self.servers.iter().map(host).collect();
        let hosts = hosts.join(",");
        format!("postgres://{USER}@{hosts}/postgres?target_session_attrs=read-write")
    }

    /// Which server is the primary.
    pub fn primary(&self) -> usize {
        self.primary
    }

    /// The port of the primary.
    pub fn port(&self) -> u16 {
        self.servers[self.primary].port
    }

    /// What a statement returns on the primary: a line for each row, with `|` between the columns.
    pub fn sql(&self, statement: &str) -> String {
        self.sql_at(self.primary, statement)
    }

    /// Changes a setting of the primary; returns once it holds.
    pub fn set(&self, setting: &str, value: &str) {
        self.sql(&format!("ALTER SYSTEM SET {setting} = {value}"));
        self.reload();
        self.wait(setting, |own| own.sql(&format!("SHOW {setting}")) == value);
    }

    /// Has the primary read its files of settings again.
    pub fn reload(&self) {
        self.sql("SELECT pg_reload_conf()");
    }

    pub(super) fn sql_at(&self, index: usize, statement: &str) -> String {
        let output = succeed(&mut self.psql(index, statement));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(super) fn psql(&self, index: usize, statement: &str) -> Command {
        let server = &self.servers[index];
        let mut psql = self.command("psql");
        psql.args(["--host", &server.host.address.to_string()]);
        psql.args(["--username", USER, "--dbname=postgres"]);
        psql.args(["--quiet", "--no-psqlrc", "--tuples-only", "--no-align"]);
        psql.args(["--port", &server.port.to_string(), "--command", statement]);
        psql
    }

    /// A command that runs as the user of the servers; a name without a folder is one of PostgreSQL's programs.
    pub fn command(&self, program: &str) -> Command {
        self.command_on(&Host::local(), program)
    }

    fn command_on(&self, host: &Host, program: &str) -> Command {
        let path = self.programs.join(program);
        let path = if path.exists() { path } else { program.into() };
        let mut command = if is_root() {
            let mut command = host.command("setpriv");
            command.args(["--reuid", USER, "--regid", USER, "--clear-groups", "--"]);
            command.arg(path);
            command
        } else {
            host.command(path)
        };
        command.current_dir(self.folder.path());
        command
    }

    /// The folder of the primary's data.
    pub fn folder(&self) -> PathBuf {
        self.data(self.primary)
    }

    fn data(&self, index: usize) -> PathBuf {
        self.folder.path().join(format!("s{index}"))
    }

    /// Kills a server with its processes.
    pub fn kill(&mut self, index: usize) {
        let Some(mut process) = self.servers[index].process.take() else {
            return;
        };
        let mut processes = vec![process.id()];
        processes.extend(children(process.id()));
        signal("KILL", &processes);
        process.wait().unwrap();
    }

    pub(super) fn signal(&self, name: &str, index: usize) {
        if let Some(process) = &self.servers[index].process {
            let mut processes = vec![process.id()];
            processes.extend(children(process.id()));
            signal(name, &processes);
        }
    }

    /// The setting with which a standby follows the primary.
    pub(super) fn followed(&self) -> String {
        let (host, port) = (self.servers[self.primary].host.address, self.port());
        format!("primary_conninfo = 'host={host} port={port} user={USER}'")
    }

    pub(super) fn running_standbys(&self) -> impl Iterator<Item = usize> + '_ {
        let runs = |index: &usize| self.servers[*index].process.is_some();
        let standby = move |index: &usize| *index != self.primary && runs(index);
        (0..self.servers.len()).filter(standby)
    }

    /// Returns once all standbys replicate. One that asks the new primary for a segment of the timeline before, which was never there,
    /// asks for ever: it gets a new copy.
    pub(super) fn wait_for_standbys(&mut self) {
        let standbys = self.servers.len() - 1;
        let streams = |own: &Self| own.streaming().len() == standbys;
        let begun = Instant::now();
        while !streams(self) && begun.elapsed() < FOLLOWS_MAX {
            std::thread::sleep(Duration::from_millis(20));
        }
        let streaming = self.streaming();
        let lost = |index: &usize| !streaming.contains(&format!("s{index}"));
        for index in self.running_standbys().filter(lost).collect::<Vec<_>>() {
            self.kill(index);
            self.copy(index);
        }
        self.wait("the standbys", streams);
    }

    /// The names of the standbys that replicate.
    fn streaming(&self) -> Vec<String> {
        let names = "SELECT application_name FROM pg_stat_replication WHERE state = 'streaming'";
        self.sql(names).lines().map(str::to_owned).collect()
    }

    /// Starts `index` as a standby, from a copy of the primary.
    pub(super) fn copy(&mut self, index: usize) {
        let data = self.data(index);
        let mut remove = self.command("/bin/rm");
        succeed(remove.arg("-rf").arg(&data));
        let mut backup = self.command("pg_basebackup");
        let primary = self.servers[self.primary].host.address.to_string();
        backup.args(["--host", &primary, "--username", USER, "--no-sync"]);
        backup.args(["--checkpoint=fast", "--port", &self.port().to_string()]);
        succeed(backup.arg("--pgdata").arg(&data));
        succeed(self.command("/bin/touch").arg(data.join("standby.signal")));
        let settings = data.join("postgresql.auto.conf");
        let mut settings = fs::OpenOptions::new().append(true).open(settings).unwrap();
        writeln!(settings, "{}", self.followed()).unwrap();
        self.launch(index);
    }

    /// Starts a server; returns once it accepts connections.
    pub(super) fn launch(&mut self, index: usize) {
        let host = self.servers[index].host.clone();
        let mut postgres = self.command_on(&host, "postgres");
        let mut settings = vec![
            format!("port={}", self.servers[index].port),
            format!("cluster_name=s{index}"),
            format!("listen_addresses={}", host.address),
            "unix_socket_directories=".to_owned(),
            "shared_buffers=32MB".to_owned(),
            "max_connections=50".to_owned(),
            "wal_keep_size=512MB".to_owned(),
            "wal_retrieve_retry_interval=100ms".to_owned(),
            // A copy is synced as a whole, not file by file.
            "recovery_init_sync_method=syncfs".to_owned(),
        ];
        if self.is_synchronous {
            // Each one has the same, so whichever is promoted waits for one of the others.
            let names: Vec<_> = (0..self.servers.len())
                .map(|index| format!("s{index}"))
                .collect();
            settings.push(format!(
                "synchronous_standby_names=ANY 1 ({})",
                names.join(", ")
            ));
        }
        for setting in settings {
            postgres.args(["-c", &setting]);
        }
        let log = fs::File::create(self.folder.path().join(format!("s{index}.log"))).unwrap();
        postgres.arg("-D").arg(self.data(index));
        postgres
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        self.servers[index].process = Some(postgres.spawn().unwrap());
        self.wait(&format!("server {index}"), |own| {
            own.psql(index, "SELECT 1")
                .output()
                .unwrap()
                .status
                .success()
        });
    }

    pub(super) fn wait(&self, what: &str, is_there: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is_there(self) {
            assert!(
                begun.elapsed() < STEP_MAX,
                "no sign of {what}\n{}",
                self.logs()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn logs(&self) -> String {
        let log = |index| fs::read_to_string(self.folder.path().join(format!("s{index}.log")));
        let logs = (0..self.servers.len()).map(|index| log(index).unwrap_or_default());
        logs.collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        for index in 0..self.servers.len() {
            self.kill(index);
        }
    }
}

/// The folder of the newest PostgreSQL, or `None` and a line that says what to install.
fn programs() -> Option<PathBuf> {
    static SAID: Once = Once::new();
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let newest = installed
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.join("bin/postgres").exists())
        .max_by_key(|path| version(path));
    if newest.is_none() {
        let required = std::env::var_os("DESKFLEET_REQUIRE_POSTGRES").is_some_and(|set| set == "1");
        let install =
            "PostgreSQL is not installed: apt-get install --no-install-recommends postgresql";
        assert!(!required, "{install}");
        // Not `eprintln`, which is not shown of a test that passes.
        let line = format!("skipped: {install}\n");
        SAID.call_once(|| io::stderr().write_all(line.as_bytes()).unwrap());
    }
    newest.map(|path| path.join("bin"))
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

fn children(process: u32) -> Vec<u32> {
    let path = format!("/proc/{process}/task/{process}/children");
    let children = fs::read_to_string(path).unwrap_or_default();
    let children = children.split_whitespace();
    children.map(|child| child.parse().unwrap()).collect()
}

/// Processes that are gone already are none to fail at.
fn signal(name: &str, processes: &[u32]) {
    let mut kill = Command::new("kill");
    kill.arg(format!("-{name}"));
    kill.args(processes.iter().map(u32::to_string));
    kill.stderr(Stdio::null()).status().unwrap();
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {message}");
    output
}
