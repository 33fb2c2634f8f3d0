//! A scripted year: agents, late spools, a full disk, a certificate that ends, a silent site and a failed backup, by the clock of libfaketime. Each
//! raises its condition within two minutes by webhook and in `/metrics`, and clears after the remedy.
//!
//! In the suite it is one round of 16 days. `DESKFLEET_YEAR_DAYS=365` goes on for a year.
#![cfg(all(unix, feature = "tls"))]

use std::fs;
use std::io::{Write as _, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use crate::https::{TLS, authority, curl, has, openssl};
use crate::load::{Client, PROGRAM, Place, Served, done};
use crate::notifications::{Monitor, configure, webhook};
use deskfleet::Timestamp;
use rustix::fs::statvfs;
use rustix::process::Signal;
use serde_json::{Value, json};

/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);
/// A condition is raised, and cleared, at most this many seconds after its cause.
const NOTICED_SECONDS: i64 = 120;
/// The clock goes on by this where something is about to happen.
const TICK_SECONDS: i64 = 30;
const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;
/// The longest jump of the clock: retention does not believe one of more than a day.
const STEP_SECONDS: i64 = 20 * HOUR;
/// A desktop that has sent nothing for that long is silent.
const SILENT_SECONDS: i64 = 23 * HOUR;
const BACKUP_OLD_SECONDS: i64 = 26 * HOUR;
/// How long each certificate is valid.
const CERTIFICATE_DAYS: i64 = 15;
const DESKTOPS: usize = 10;
/// The desktops of the site that falls silent: more than half.
const SITE: std::ops::Range<usize> = 0..6;

/// The clock of the servers: that of the host and an offset, in a file that libfaketime reads.
struct Clock {
    library: PathBuf,
    file: PathBuf,
    offset: i64,
}

impl Clock {
    /// `None` where libfaketime is not installed.
    fn find(folder: &Path) -> Option<Self> {
        let entries = fs::read_dir("/usr/lib").ok()?;
        let libraries =
            entries.map(|entry| entry.unwrap().path().join("faketime/libfaketime.so.1"));
        let library = libraries.into_iter().find(|library| library.exists())?;
        let clock = Self {
            library,
            file: folder.join("clock"),
            offset: 0,
        };
        clock.write();
        Some(clock)
    }

    fn write(&self) {
        let new = self.file.with_extension("new");
        fs::write(&new, format!("+{}", self.offset)).unwrap();
        fs::rename(new, &self.file).unwrap();
    }

    fn advance(&mut self, seconds: i64) {
        self.offset += seconds;
        self.write();
    }

    fn now(&self) -> Timestamp {
        Timestamp::from(SystemTime::now()).plus_seconds(self.offset)
    }

    /// The server's program by this clock. Waits go by that of the host.
    fn program(&self) -> Command {
        let mut program = Command::new("/usr/bin/env");
        program
            .arg(format!("LD_PRELOAD={}", self.library.display()))
            .arg(format!("FAKETIME_TIMESTAMP_FILE={}", self.file.display()))
            .args(["FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"])
            // A file that seems changed is taken for one that another program wrote to.
            .arg("NO_FAKE_STAT=1")
            .arg(PROGRAM);
        program
    }
}

/// A small disk for a store.
struct Disk(PathBuf);

impl Disk {
    /// `None` where nothing may be mounted.
    fn mount(place: &Path) -> Option<Self> {
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=128m", "tmpfs"])
            .arg(place)
            .output();
        let is_mounted = mount.is_ok_and(|done| done.status.success());
        is_mounted.then(|| Self(place.to_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// One server with its webhook.
struct Watched {
    served: Served,
    place: Place,
    monitor: Monitor,
}

impl Watched {
    fn start(clock: &Clock, place: Place, settings: &str, options: &str) -> Self {
        let monitor = Monitor::start();
        let webhook = webhook(&monitor, "events = ['condition.*']");
        configure(&place, &format!("{settings}\n{webhook}"));
        let served = place.serve_by(
            clock.program(),
            &format!("--listen 127.0.0.1:0 --quiet --set server.maintain_every=50ms {options}"),
        );
        Self {
            served,
            place,
            monitor,
        }
    }

    fn metrics(&self) -> String {
        let is_tls = self.place.file("server.pem").exists();
        if is_tls {
            let output = curl(&self.place, &self.served, "", "/metrics");
            return String::from_utf8(output.stdout).unwrap();
        }
        self.client().ask("GET /metrics", "").unwrap().1
    }

    fn metric(&self, name: &str) -> Option<f64> {
        let text = self.metrics();
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.map(|value| value.trim().parse().unwrap())
    }

    fn client(&self) -> Client {
        Client::connect(self.served.address, &self.place.admin).unwrap()
    }
}

struct Year {
    clock: Clock,
    /// The fleet, with agents and backups.
    fleet: Watched,
    /// A server that has a certificate.
    tls: Watched,
    /// Desktops that send nothing.
    silent: Vec<usize>,
    disk: Option<Disk>,
    has_backups: bool,
    /// What was measured: a condition, and after how many seconds it was raised or cleared.
    noticed: Vec<String>,
}

#[derive(Clone, Copy)]
enum Which {
    Fleet,
    Tls,
}

impl Year {
    fn server(&self, which: Which) -> &Watched {
        match which {
            Which::Fleet => &self.fleet,
            Which::Tls => &self.tls,
        }
    }

    /// Every agent that is not silent sends, and a backup is written.
    fn live(&self) {
        let mut client = self.fleet.client();
        for desktop in (0..DESKTOPS).filter(|desktop| !self.silent.contains(desktop)) {
            let record = format!(r#"{{"instanceId":"ws-{desktop}"}}"#);
            client.accepted("POST /api/Stats/Post", &record).unwrap();
        }
        if self.has_backups {
            self.fleet.served.signal(Signal::USR1);
            self.fleet.served.wait_for("Backup: ");
        }
    }

    /// The fleet lives on until `end`.
    fn pass_until(&mut self, end: Timestamp) {
        while self.clock.now() < end {
            let left = (end.ticks() - self.clock.now().ticks()) / 10_000_000 + 1;
            self.clock.advance(left.clamp(1, STEP_SECONDS));
            self.live();
            self.wait_for_upkeep();
        }
    }

    /// Waits until upkeep of both servers has seen the clock.
    fn wait_for_upkeep(&self) {
        let now = self.clock.now();
        let seconds = now.duration_since(Timestamp::UNIX_EPOCH).as_secs_f64();
        for server in [&self.fleet, &self.tls] {
            let begun = Instant::now();
            let name = "deskfleet_maintenance_last_success_timestamp_seconds";
            while server.metric(name).is_none_or(|at| at < seconds) {
                assert!(begun.elapsed() < PATIENCE, "upkeep stands still");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }

    /// The next message, if there is one.
    fn message(&self, which: Which) -> Option<(String, Value)> {
        let posted = self
            .server(which)
            .monitor
            .next_within(Duration::from_millis(60))?;
        let body = posted.json();
        Some((
            body["type"].as_str().unwrap().to_owned(),
            body["data"].clone(),
        ))
    }

    /// Lets time pass until the condition is raised with this severity, or cleared, for which there is a reason since `cause`. Nothing else is
    /// raised or cleared meanwhile.
    fn expect(&mut self, which: Which, code: &str, severity: Option<&str>, cause: Timestamp) {
        let (kind, data) = loop {
            if let Some((kind, data)) = self.message(which) {
                // A disk that fills, or is freed, passes what is only a warning.
                let detail = &data["detail"];
                let is_passed = kind == "condition.raised"
                    && (&detail["code"], &detail["severity"])
                        == (&json!("LowDisk"), &json!("warning"));
                if is_passed && code == "LowDisk" {
                    continue;
                }
                break (kind, data);
            }
            let late = cause.plus_seconds(2 * NOTICED_SECONDS);
            assert!(
                self.clock.now() < late,
                "{code} {severity:?}: {:?}",
                self.noticed
            );
            self.clock.advance(TICK_SECONDS);
        };
        let detail = &data["detail"];
        assert_eq!(detail["code"], code, "{data} {:?}", self.noticed);
        let wanted = if severity.is_some() {
            "condition.raised"
        } else {
            "condition.cleared"
        };
        assert_eq!(kind, wanted, "{data}");
        if let Some(severity) = severity {
            assert_eq!(detail["severity"], severity, "{data}");
        }
        let at: Timestamp = data["at"].as_str().unwrap().parse().unwrap();
        let seconds = (at.ticks() - cause.ticks()) / 10_000_000;
        assert!(
            (-1..=NOTICED_SECONDS).contains(&seconds),
            "{code}: {seconds} s"
        );
        self.noticed
            .push(format!("{kind} {code} after {seconds} s"));
        // The figures are read anew after a pause.
        let series = format!("deskfleet_condition{{code=\"{code}\"");
        let begun = Instant::now();
        let is_shown = || {
            let text = self.server(which).metrics();
            let mut lines = text.lines().filter(|line| line.starts_with(&series));
            lines
                .next()
                .map(|line| line.split('"').nth(3).unwrap().to_owned())
        };
        while is_shown().as_deref() != severity {
            assert!(begun.elapsed() < PATIENCE, "{code} {severity:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn silent_site(&mut self) {
        self.live();
        let last = self.clock.now();
        self.silent.extend(SITE);
        self.pass_until(last.plus_seconds(SILENT_SECONDS - TICK_SECONDS));
        let cause = last.plus_seconds(SILENT_SECONDS);
        self.expect(Which::Fleet, "FleetSilent", Some("critical"), cause);
        self.silent.clear();
        self.live();
        self.expect(Which::Fleet, "FleetSilent", None, self.clock.now());
    }

    /// The agent of one desktop reaches nobody, and sends all at once later.
    fn late_spool(&mut self) {
        self.live();
        let last = self.clock.now();
        self.silent.push(9);
        self.pass_until(last.plus_seconds(SILENT_SECONDS - TICK_SECONDS));
        let cause = last.plus_seconds(SILENT_SECONDS);
        self.expect(Which::Fleet, "DesktopsSilent", Some("warning"), cause);
        self.pass_until(last.plus_seconds(2 * DAY));
        let now = self.clock.now();
        let spooled = (0..48).map(|hour| {
            let at = now.plus_seconds((hour - 47) * HOUR - 1);
            json!({"stats": {"instanceId": "ws-9", "id": hour, "updatetime": at}}).to_string()
        });
        let spool: Vec<_> = spooled.collect();
        let answer = self
            .fleet
            .client()
            .accepted("POST /operator/telemetry", &spool.join("\n"));
        let answer: Value = serde_json::from_str(&answer.unwrap()).unwrap();
        assert_eq!(answer["accepted"], 48, "{answer}");
        self.silent.clear();
        self.expect(Which::Fleet, "DesktopsSilent", None, now);
        let from = now.plus_seconds(-2 * DAY);
        let query = format!("GET /operator/telemetry/stats?instanceId=ws-9&limit=500&from={from}");
        let page = self.fleet.client().json(&query);
        let records = page["records"].as_array().unwrap();
        let found = records.iter().filter(|record| record["id"].is_number());
        assert_eq!(found.count(), 48);
    }

    fn full_disk(&mut self) {
        if self.disk.is_none() {
            return;
        }
        let (balloon, left) = (self.fleet.place.file("balloon"), 20 << 20);
        let free = || {
            let disk = statvfs(self.fleet.place.path()).unwrap();
            disk.f_bavail * disk.f_frsize
        };
        let bytes = vec![1; 1 << 20];
        let mut file = fs::File::create(&balloon).unwrap();
        while free() > left {
            file.write_all(&bytes).unwrap();
        }
        drop(file);
        self.expect(Which::Fleet, "LowDisk", Some("critical"), self.clock.now());
        let (status, text) = self.fleet.client().ask("GET /readyz", "").unwrap();
        assert!(status == 503 && text.starts_with("LowDisk: "), "{text}");
        fs::remove_file(balloon).unwrap();
        self.expect(Which::Fleet, "LowDisk", None, self.clock.now());
        assert_eq!(self.fleet.client().ask("GET /readyz", "").unwrap().0, 200);
    }

    fn failed_backup(&mut self) {
        self.live();
        let last = self.clock.now();
        let (folder, away) = (self.fleet.place.file("b"), self.fleet.place.file("away"));
        fs::rename(&folder, &away).unwrap();
        fs::write(&folder, "no folder").unwrap();
        self.fleet.served.signal(Signal::USR1);
        self.fleet.served.wait_for("No backup ");
        self.has_backups = false;
        self.pass_until(last.plus_seconds(BACKUP_OLD_SECONDS - TICK_SECONDS));
        let cause = last.plus_seconds(BACKUP_OLD_SECONDS);
        self.expect(Which::Fleet, "BackupOld", Some("warning"), cause);
        fs::remove_file(&folder).unwrap();
        fs::rename(&away, &folder).unwrap();
        self.has_backups = true;
        self.live();
        self.expect(Which::Fleet, "BackupOld", None, self.clock.now());
    }

    /// When the certificate ends.
    fn certificate_end(&self) -> Timestamp {
        let end = self
            .tls
            .metric("deskfleet_certificate_expires_timestamp_seconds ");
        Timestamp::from(SystemTime::UNIX_EPOCH + Duration::from_secs_f64(end.unwrap()))
    }

    fn certificate_soon_ends(&mut self) {
        let cause = self.certificate_end().plus_seconds(-14 * DAY);
        self.pass_until(cause.plus_seconds(-TICK_SECONDS));
        self.expect(Which::Tls, "CertificateExpires", Some("warning"), cause);
    }

    /// It ends, and another takes its place.
    fn certificate_ends(&mut self) {
        let end = self.certificate_end();
        let cause = end.plus_seconds(-2 * DAY);
        self.pass_until(cause.plus_seconds(-TICK_SECONDS));
        self.expect(Which::Tls, "CertificateExpires", Some("critical"), cause);
        self.pass_until(end.plus_seconds(HOUR));
        certify(&self.tls.place, &self.clock);
        self.tls.served.signal(Signal::HUP);
        self.tls.served.wait_for("was read again");
        self.expect(Which::Tls, "CertificateExpires", None, self.clock.now());
    }
}

/// Puts a certificate in the place of the one before.
fn certify(place: &Place, clock: &Clock) {
    let days = clock.offset / DAY + 1 + CERTIFICATE_DAYS;
    openssl(
        place.path(),
        &format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout new.key -out new.pem -days {days} -subj /CN=localhost \
             -CA ca.pem -CAkey ca.key -addext basicConstraints=critical,CA:FALSE -addext subjectAltName=DNS:localhost"
        ),
    );
    for name in ["pem", "key"] {
        let new = place.file(&format!("new.{name}"));
        fs::rename(new, place.file(&format!("server.{name}"))).unwrap();
    }
}

/// Written past the capture of the test runner: a skipped test must not look like one that passed.
fn skip(what: &str) {
    let _ = writeln!(stderr(), "SKIPPED {what}");
}

#[test]
fn year_of_operating_raises_and_clears_each_condition_within_two_minutes() {
    let folder = tempfile::tempdir().unwrap();
    let Some(clock) = Clock::find(folder.path()) else {
        return skip("the scripted year: libfaketime is not installed");
    };
    if !has(&["openssl", "curl"]) {
        return;
    }
    let mut place = Place::empty("");
    let disk = Disk::mount(place.path());
    if disk.is_none() {
        skip("the full disk of the scripted year: nothing may be mounted");
    }
    fs::create_dir(place.file("b")).unwrap();
    let admin = done(
        place.path(),
        "keys issue --name admin --scope admin --create",
    );
    admin.trim().clone_into(&mut place.admin);
    let now = Timestamp::from_unix_seconds(clock.now().ticks() / 10_000_000);
    let name = now.to_string().replace(':', "-").replace('Z', ".000Z");
    done(place.path(), &format!("backup b/deskfleet-{name}.redb"));
    let settings = "backups.folder = 'b'\nbackups.keep = 2\nalerts.silent_after = '23h'";
    let fleet = Watched::start(&clock, place, settings, "");
    let place = Place::new();
    authority(place.path(), "ca");
    certify(&place, &clock);
    let tls = Watched::start(&clock, place, "", TLS);
    let mut year = Year {
        clock,
        fleet,
        tls,
        silent: Vec::new(),
        disk,
        has_backups: true,
        noticed: Vec::new(),
    };
    for desktop in 0..DESKTOPS {
        let put = format!("PUT /operator/workspaces/ws-{desktop}");
        let body = r#"{"state":"AVAILABLE"}"#;
        year.fleet.client().accepted(&put, body).unwrap();
    }
    let begun = year.clock.now();
    year.live();
    let days = std::env::var("DESKFLEET_YEAR_DAYS");
    let days: i64 = days.map_or(1, |days| days.parse().unwrap());
    while year.clock.now() < begun.plus_seconds(days * DAY) {
        year.certificate_soon_ends();
        year.silent_site();
        year.late_spool();
        year.full_disk();
        year.failed_backup();
        year.certificate_ends();
    }
    year.wait_for_upkeep();
    for noticed in &year.noticed {
        println!("{noticed}");
    }
    // Nothing is wrong any more, and nothing else was.
    for which in [Which::Fleet, Which::Tls] {
        assert_eq!(year.message(which), None, "{:?}", year.noticed);
    }
    year.fleet.served.terminate();
    year.tls.served.terminate();
}
