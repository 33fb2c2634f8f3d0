//! PostgreSQL from Debian's packages, in a temporary folder: a primary and two standbys, one of which must have what is acknowledged.

use std::fs;
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Longer than any step takes under load.
const STEP_MAX: Duration = Duration::from_secs(120);
/// PostgreSQL refuses to run as root.
const USER: &str = "postgres";

/// Servers that replicate each other. Dropping it ends them.
#[derive(Debug)]
pub struct Postgres {
    programs: PathBuf,
    folder: TempDir,
    servers: Vec<Server>,
    primary: usize,
}

#[derive(Debug)]
struct Server {
    port: u16,
    /// The postmaster, while it runs.
    process: Option<Child>,
}

impl Postgres {
    /// Starts a primary and two standbys; a commit waits for one of them.
    ///
    /// `None` where PostgreSQL is not installed: the test is skipped, with a line that says so. With `DESKFLEET_REQUIRE_POSTGRES=1`
    /// that is a failure.
    pub fn start() -> Option<Self> {
        Self::with_standbys(2)
    }

    /// Starts one server without standbys, or returns `None` as [`Self::start`] does.
    pub fn start_alone() -> Option<Self> {
        Self::with_standbys(0)
    }

    fn with_standbys(standbys: usize) -> Option<Self> {
        let programs = programs()?;
        let folder = tempfile::Builder::new().prefix("postgres").tempdir();
        let folder = folder.unwrap();
        if is_root() {
            let mut chown = Command::new("chown");
            succeed(chown.arg(USER).arg(folder.path()));
        }
        let server = |port| Server {
            port,
            process: None,
        };
        let mut started = Self {
            programs,
            folder,
            servers: free_ports(standbys + 1).into_iter().map(server).collect(),
            primary: 0,
        };
        let mut initdb = started.command("initdb");
        initdb.args(["--auth=trust", "--no-sync", "--wal-segsize=1"]);
        initdb.args(["--username", USER]);
        succeed(initdb.arg("--pgdata").arg(started.data(0)));
        started.launch(0);
        for index in 1..=standbys {
            started.copy(index);
        }
        started.wait_for_standbys();
        Some(started)
    }

    /// The URL of the database, with all servers: clients find the primary among them.
    pub fn url(&self) -> String {
        let host = |server: &Server| format!("127.0.0.1:{}", server.port);
        let hosts: Vec<_> = self.servers.iter().map(host).collect();
        let hosts = hosts.join(",");
        format!("postgres://{USER}@{hosts}/postgres?target_session_attrs=read-write")
    }

    /// The port of the primary, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.servers[self.primary].port
    }

    /// The ports of the standbys that run.
    pub fn standby_ports(&self) -> Vec<u16> {
        let standbys = self.running_standbys();
        standbys.map(|index| self.servers[index].port).collect()
    }

    /// What a statement returns on the primary: a line for each row, with `|` between the columns.
    pub fn sql(&self, statement: &str) -> String {
        self.sql_at(self.port(), statement)
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

    fn sql_at(&self, port: u16, statement: &str) -> String {
        let output = succeed(&mut self.psql(port, statement));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn psql(&self, port: u16, statement: &str) -> Command {
        let mut psql = self.command("psql");
        psql.args(["--host=127.0.0.1", "--username", USER, "--dbname=postgres"]);
        psql.args(["--quiet", "--no-psqlrc", "--tuples-only", "--no-align"]);
        psql.args(["--port", &port.to_string(), "--command", statement]);
        psql
    }

    /// A command that runs as the user of the servers; a name without a folder is one of PostgreSQL's programs.
    pub fn command(&self, program: &str) -> Command {
        let path = self.programs.join(program);
        let path = if path.exists() { path } else { program.into() };
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", USER, "--regid", USER, "--clear-groups", "--"]);
            command.arg(path);
            command
        } else {
            Command::new(path)
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

    /// Kills the primary with its processes, as a loss of power of its machine would look to the others.
    pub fn kill_primary(&mut self) {
        self.kill(self.primary);
    }

    fn kill(&mut self, index: usize) {
        let Some(mut process) = self.servers[index].process.take() else {
            return;
        };
        let mut processes = vec![process.id()];
        processes.extend(children(process.id()));
        signal("KILL", &processes);
        process.wait().unwrap();
    }

    /// Stops the processes of the primary, as a machine would look from which no packet comes any more.
    pub fn stop_primary(&self) {
        self.signal("STOP", self.primary);
    }

    /// Continues those that [`Self::stop_primary`] stopped.
    pub fn continue_primary(&self) {
        self.signal("CONT", self.primary);
    }

    /// Stops the processes of the standbys: no commit is acknowledged.
    pub fn stop_standbys(&self) {
        let standbys = self.running_standbys();
        standbys.for_each(|index| self.signal("STOP", index));
    }

    /// Continues those that [`Self::stop_standbys`] stopped.
    pub fn continue_standbys(&self) {
        let standbys = self.running_standbys();
        standbys.for_each(|index| self.signal("CONT", index));
    }

    fn signal(&self, name: &str, index: usize) {
        if let Some(process) = &self.servers[index].process {
            let mut processes = vec![process.id()];
            processes.extend(children(process.id()));
            signal(name, &processes);
        }
    }

    /// Makes the standby that has most the primary; returns once it takes writes. The other standby follows it.
    pub fn promote(&mut self) {
        let received = "SELECT pg_wal_lsn_diff(greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0')";
        let most = self.running_standbys().max_by_key(|index| {
            let bytes = self.sql_at(self.servers[*index].port, received);
            bytes.parse::<u64>().unwrap()
        });
        self.primary = most.expect("a standby that runs");
        self.sql("SELECT pg_promote(true, 120)");
        self.wait("the new primary", |own| {
            own.sql("SELECT pg_is_in_recovery()") == "f"
        });
        let follow = format!("ALTER SYSTEM SET {}", self.followed());
        for port in self.standby_ports() {
            for statement in [&follow, "SELECT pg_reload_conf()"] {
                let mut psql = self.psql(port, statement);
                // Without success at a former primary that is stopped.
                psql.env("PGCONNECT_TIMEOUT", "10").output().unwrap();
            }
        }
    }

    /// Starts the servers that do not run as they were: a former primary takes itself for one still.
    pub fn restart(&mut self) {
        for index in 0..self.servers.len() {
            if self.servers[index].process.is_none() {
                self.launch(index);
            }
        }
    }

    /// Starts the servers that do not run, as standbys with a copy of the primary; returns once all standbys replicate.
    pub fn revive(&mut self) {
        for index in 0..self.servers.len() {
            if self.servers[index].process.is_none() {
                self.copy(index);
            }
        }
        self.wait_for_standbys();
    }

    /// The setting with which a standby follows the primary.
    fn followed(&self) -> String {
        let port = self.port();
        format!("primary_conninfo = 'host=127.0.0.1 port={port} user={USER}'")
    }

    fn running_standbys(&self) -> impl Iterator<Item = usize> + '_ {
        let runs = |index: &usize| self.servers[*index].process.is_some();
        let standby = move |index: &usize| *index != self.primary && runs(index);
        (0..self.servers.len()).filter(standby)
    }

    fn wait_for_standbys(&self) {
        let standbys = self.servers.len() - 1;
        let replicating = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'";
        self.wait("the standbys", |own| {
            own.sql(replicating) == standbys.to_string()
        });
    }

    /// Starts `index` as a standby, from a copy of the primary.
    fn copy(&mut self, index: usize) {
        let data = self.data(index);
        let mut remove = self.command("/bin/rm");
        succeed(remove.arg("-rf").arg(&data));
        let mut backup = self.command("pg_basebackup");
        backup.args(["--host=127.0.0.1", "--username", USER, "--no-sync"]);
        backup.args(["--checkpoint=fast", "--port", &self.port().to_string()]);
        succeed(backup.arg("--pgdata").arg(&data));
        succeed(self.command("/bin/touch").arg(data.join("standby.signal")));
        let settings = data.join("postgresql.auto.conf");
        let mut settings = fs::OpenOptions::new().append(true).open(settings).unwrap();
        writeln!(settings, "{}", self.followed()).unwrap();
        self.launch(index);
    }

    /// Starts a server; returns once it accepts connections.
    fn launch(&mut self, index: usize) {
        let mut postgres = self.command("postgres");
        let mut settings = vec![
            format!("port={}", self.servers[index].port),
            format!("cluster_name=s{index}"),
            "listen_addresses=127.0.0.1".to_owned(),
            "unix_socket_directories=".to_owned(),
            "shared_buffers=32MB".to_owned(),
            "max_connections=50".to_owned(),
            "wal_keep_size=512MB".to_owned(),
            "wal_retrieve_retry_interval=100ms".to_owned(),
            // A copy is synced as a whole, not file by file.
            "recovery_init_sync_method=syncfs".to_owned(),
        ];
        let count = self.servers.len();
        if count > 1 {
            // Each one has the same, so whichever is promoted waits for one of the others.
            let names: Vec<_> = (0..count).map(|index| format!("s{index}")).collect();
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
        let port = self.servers[index].port;
        self.wait(&format!("server {index}"), |own| {
            own.psql(port, "SELECT 1")
                .output()
                .unwrap()
                .status
                .success()
        });
    }

    fn wait(&self, what: &str, is_there: impl Fn(&Self) -> bool) {
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

/// Ports that nothing listens at, all different.
fn free_ports(count: usize) -> Vec<u16> {
    let listeners: Vec<_> = (0..count)
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    listeners.iter().map(port).collect()
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
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}
