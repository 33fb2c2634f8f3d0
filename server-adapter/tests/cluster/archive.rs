//! A node that archives the log in PostgreSQL, and stores that are restored from the archive.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use deskfleet::Timestamp;
#[cfg(feature = "nats")]
use deskfleet::cluster::Log as _;
#[cfg(feature = "nats")]
use deskfleet_server::Metrics;
#[cfg(feature = "nats")]
use deskfleet_server::cluster::{FleetLog, LogOptions};

use super::{Fleet, has, message, put, readyz, wait_until};
use crate::load::{Client, Place, Served, command, done};

/// A node that archives into the folder `archive` beside its store.
fn serve(fleet: &Fleet, place: &Place) -> Served {
    let archive = place.file("archive");
    if !archive.exists() {
        fs::create_dir(&archive).unwrap();
    }
    place.serve_with(&format!("{} --archive archive", fleet.options(place)))
}

/// Waits until all that this node has applied is archived: no earlier it says that it has it on disk.
fn archived(client: &mut Client) -> u64 {
    let mut position = 0;
    wait_until(|| {
        let status = client.json("GET /operator/cluster");
        position = status["position"].as_u64().unwrap();
        let node = |node: &serde_json::Value| node["node"] == status["node"];
        let nodes = status["nodes"].as_array().unwrap();
        let own = nodes.iter().find(|own| node(own)).unwrap();
        own["durable"] == position
    });
    position
}

/// A line of the node with these words, also one from before it listened.
fn line_with(node: &Served, what: &str) -> String {
    if node.before.contains(what) {
        return node.before.clone();
    }
    node.wait_for(what)
}

/// Now, with later entries certainly later.
fn now() -> Timestamp {
    std::thread::sleep(Duration::from_millis(20));
    let now = std::time::SystemTime::now().into();
    std::thread::sleep(Duration::from_millis(20));
    now
}

/// Standard error of a restoration in a folder that must succeed.
fn restored(place: &Path, options: &str) -> String {
    let line = format!("cluster restore {options}");
    let output = command(place, &line).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{message}");
    message
}

/// Standard error of one that must fail, and leaves no file.
fn refused(place: &Path, options: &str) -> String {
    let line = format!("cluster restore {options} --data refused.redb");
    let refused = message(&command(place, &line).output().unwrap());
    let files = fs::read_dir(place).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let left: Vec<_> = names.filter(|name| name.starts_with("refused")).collect();
    assert_eq!(left, Vec::<String>::new(), "{refused}");
    refused
}

/// The numbers of the workspaces `ws-N` in a file.
fn workspaces(place: &Path, file: &str) -> Vec<u32> {
    let rows = done(place, &format!("export workspaces --data {file}"));
    let ids = rows.lines().map(|row| {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        let id = row["workSpId"].as_str().unwrap();
        id.strip_prefix("ws-").unwrap().parse().unwrap()
    });
    let mut ids: Vec<_> = ids.collect();
    ids.sort_unstable();
    ids
}

fn put_all(client: &mut Client, numbers: std::ops::Range<u32>) {
    for number in numbers {
        assert_eq!(put(client, &format!("ws-{number}")), 200);
    }
}

fn last_file(place: &Place) -> PathBuf {
    let files = fs::read_dir(place.file("archive")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let is_log = |path: &PathBuf| path.extension().is_some_and(|of| of == "log");
    files.filter(is_log).max().unwrap()
}

#[test]
fn store_is_restored_from_an_archive_as_of_a_time() {
    let Some(fleet) = Fleet::begin() else { return };
    let place = fleet.node_folder();
    let mut node = serve(&fleet, &place);
    let mut client = fleet.client(&node);
    put_all(&mut client, 0..3);
    let early = now();
    put_all(&mut client, 3..5);
    archived(&mut client);
    node.terminate();
    done(place.path(), "backup backup.redb");
    let at_backup = now();
    let mut node = serve(&fleet, &place);
    let mut client = fleet.client(&node);
    put_all(&mut client, 5..7);
    let late = now();
    put_all(&mut client, 7..9);
    archived(&mut client);

    // The node goes on meanwhile.
    let message = restored(
        place.path(),
        &format!("--archive archive --until {early} --data early.redb"),
    );
    assert!(
        message.contains("early.redb has the log up to entry "),
        "{message}"
    );
    assert!(
        message.contains("deskfleet cluster leave early.redb"),
        "{message}"
    );
    assert_eq!(workspaces(place.path(), "early.redb"), [0, 1, 2]);
    let from = "--archive archive --from backup.redb";
    restored(
        place.path(),
        &format!("{from} --until {late} --data late.redb"),
    );
    assert_eq!(
        workspaces(place.path(), "late.redb"),
        (0..7).collect::<Vec<_>>()
    );
    restored(
        place.path(),
        &format!("{from} --until {at_backup} --data same.redb"),
    );
    assert_eq!(
        workspaces(place.path(), "same.redb"),
        (0..5).collect::<Vec<_>>()
    );
    restored(place.path(), &format!("{from} --data all.redb"));
    assert_eq!(
        workspaces(place.path(), "all.redb"),
        (0..9).collect::<Vec<_>>()
    );
    let early = refused(place.path(), &format!("{from} --until {early}"));
    assert!(
        early.contains("the backup is of 20") && early.contains("name a later time"),
        "{early}"
    );
    let exists = message_of(place.path(), "--archive archive --data all.redb");
    assert!(exists.contains("all.redb exists"), "{exists}");

    // As a node, where the log still goes on.
    node.terminate();
    fs::rename(place.file("late.redb"), place.file("deskfleet.redb")).unwrap();
    let node = fleet.serve(&place);
    let mut client = fleet.client(&node);
    assert!(has(&mut client, "ws-8"));
}

fn message_of(place: &Path, options: &str) -> String {
    let line = format!("cluster restore {options}");
    message(&command(place, &line).output().unwrap())
}

#[test]
fn all_that_was_archived_is_restored_after_the_log_and_all_files_are_gone() {
    let Some(fleet) = Fleet::begin() else { return };
    let [place, other] = [(); 2].map(|()| fleet.node_folder());
    let mut nodes = [serve(&fleet, &place), fleet.serve(&other)];
    let mut clients = nodes.each_ref().map(|node| fleet.client(node));
    for number in 0..20 {
        put_all(&mut clients[number as usize % 2], number..number + 1);
    }
    wait_until(|| has(&mut clients[0], "ws-19"));
    archived(&mut clients[0]);
    for node in &mut nodes {
        node.kill();
    }
    fleet
        .postgres
        .sql("DROP TABLE df_log; DROP TABLE df_head; DROP TABLE df_node");
    for place in [&place, &other] {
        fs::remove_file(place.file("deskfleet.redb")).unwrap();
    }
    let message = restored(place.path(), "--archive archive --data deskfleet.redb");
    assert!(message.contains("up to entry "), "{message}");
    done(place.path(), "cluster leave deskfleet.redb");
    let node = fleet.serve(&place);
    let mut client = fleet.client(&node);
    for number in 0..20 {
        assert!(has(&mut client, &format!("ws-{number}")), "{number}");
    }
    // Beyond the end of the archive: its entries do not follow, but that is not what is wrong.
    put_all(&mut client, 20..60);
    drop(node);
    // The archive is of the fleet that is gone: the new one is not mixed with it.
    let node = serve(&fleet, &place);
    let line = line_with(&node, "is not archived");
    assert!(line.contains("archive of another fleet"), "{line}");
}

#[test]
fn restoring_is_refused_where_backup_and_archive_do_not_fit() {
    let Some(fleet) = Fleet::begin() else { return };
    let place = fleet.node_folder();
    let mut node = serve(&fleet, &place);
    let mut client = fleet.client(&node);
    put_all(&mut client, 0..4);
    let last = archived(&mut client);
    let before_all = refused(
        place.path(),
        "--archive archive --until 2020-01-01T00:00:00Z",
    );
    assert!(
        before_all.contains("the archive begins after 2020"),
        "{before_all}"
    );
    node.terminate();
    done(place.path(), "backup old.redb");
    // It writes what is not archived.
    let mut node = fleet.serve(&place);
    put_all(&mut fleet.client(&node), 4..6);
    node.terminate();
    done(place.path(), "backup new.redb");
    let new = refused(place.path(), "--archive archive --from new.redb");
    assert!(
        new.contains("does not go on from the backup")
            && new.contains(&format!("ends with entry {last}, before")),
        "{new}"
    );
    let missing = refused(place.path(), "--archive nowhere");
    assert!(missing.contains("cannot list nowhere"), "{missing}");
    fs::create_dir(place.file("empty")).unwrap();
    let empty = refused(place.path(), "--archive empty");
    assert!(empty.contains("empty has no archive"), "{empty}");
    let none = refused(place.path(), "--archive archive --from none.redb");
    assert!(none.contains("name a backup with --from"), "{none}");

    let alone = Place::new();
    fs::copy(alone.file("deskfleet.redb"), place.file("alone.redb")).unwrap();
    let alone = refused(place.path(), "--archive archive --from alone.redb");
    assert!(
        alone.contains("alone.redb is no backup of a node"),
        "{alone}"
    );
    let other = fleet.node_folder();
    let options = format!("--log {}?fleet=other --node m", fleet.url());
    let issue = format!(
        "keys issue --name o --scope admin --set cluster.log={}?fleet=other",
        fleet.url()
    );
    done(other.path(), &issue);
    other.serve_with(&options).terminate();
    fs::copy(other.file("deskfleet.redb"), place.file("other.redb")).unwrap();
    let other = refused(place.path(), "--archive archive --from other.redb");
    assert!(other.contains("other.redb is of the fleet "), "{other}");

    // Damage after the backup.
    let file = last_file(&place);
    let whole = fs::read(&file).unwrap();
    let mut bytes = whole.clone();
    let end = bytes.len();
    bytes[end - 1] ^= 1;
    fs::write(&file, &bytes).unwrap();
    let damaged = refused(place.path(), "--archive archive --from old.redb");
    assert!(
        damaged.contains(".log is damaged at byte ")
            && damaged.contains(&format!("before entry {last}")),
        "{damaged}"
    );
    fs::write(&file, &whole).unwrap();
    // Another restoration is under way, or was killed.
    fs::write(place.file("busy.redb.part"), "").unwrap();
    let busy = message_of(place.path(), "--archive archive --data busy.redb");
    assert!(busy.contains("busy.redb.part exists"), "{busy}");
    assert!(place.file("busy.redb.part").exists() && !place.file("busy.redb").exists());
}

#[test]
fn restoring_to_a_name_with_files_of_another_store_is_refused() {
    let place = Place::empty("");
    for beside in ["new.redb-queue", "new.redb-damaged", "new.redb-webhooks"] {
        fs::write(place.file(beside), "").unwrap();
        let refused = message_of(place.path(), "--archive archive --data new.redb");
        assert!(refused.contains(&format!("{beside} exists")), "{refused}");
        fs::remove_file(place.file(beside)).unwrap();
    }
}

#[test]
fn archive_that_begins_after_the_first_entry_needs_a_backup() {
    let Some(fleet) = Fleet::begin() else { return };
    let place = fleet.node_folder();
    let mut node = fleet.serve(&place);
    put_all(&mut fleet.client(&node), 0..3);
    node.terminate();
    fleet
        .postgres
        .sql("DELETE FROM df_log WHERE seq < (SELECT seq - 1 FROM df_head)");
    let mut node = serve(&fleet, &place);
    let line = line_with(&node, "The archive begins after entry ");
    assert!(line.contains("Write a backup"), "{line}");
    let mut client = fleet.client(&node);
    put_all(&mut client, 3..5);
    archived(&mut client);
    assert!(conditions(&mut client).contains(r#""code":"ArchiveGap""#));
    node.terminate();
    done(place.path(), "backup backup.redb");
    let alone = refused(place.path(), "--archive archive");
    assert!(alone.contains("it needs a backup to begin with"), "{alone}");
    restored(
        place.path(),
        "--archive archive --from backup.redb --data new.redb",
    );
    assert_eq!(workspaces(place.path(), "new.redb"), [0, 1, 2, 3, 4]);

    // It runs without the archive, and the log is trimmed meanwhile.
    let mut node = fleet.serve(&place);
    put_all(&mut fleet.client(&node), 5..8);
    node.terminate();
    fleet
        .postgres
        .sql("DELETE FROM df_log WHERE seq < (SELECT seq FROM df_head)");
    let node = serve(&fleet, &place);
    let line = line_with(&node, "The archive lacks entries ");
    assert!(line.contains("Write a backup"), "{line}");
    let mut client = fleet.client(&node);
    put_all(&mut client, 8..9);
    archived(&mut client);
    let (_, listed) = client.ask("GET /query/conditions", "").unwrap();
    assert!(listed.contains(r#""code":"ArchiveGap""#), "{listed}");
    let gap = refused(place.path(), "--archive archive --from backup.redb");
    assert!(gap.contains("the archive lacks entries "), "{gap}");
}

#[test]
fn folder_of_an_archive_has_one_writer() {
    let Some(fleet) = Fleet::begin() else { return };
    let [first, second] = [(); 2].map(|()| fleet.node_folder());
    let _node = serve(&fleet, &first);
    let archive = first.file("archive");
    let options = format!("--archive {}", archive.display());
    let refused = fleet.refused(&second, &options);
    assert!(
        refused.contains("another process archives into "),
        "{refused}"
    );
    let alone = command(second.path(), "serve --archive archive")
        .output()
        .unwrap();
    let alone = String::from_utf8(alone.stderr).unwrap();
    assert!(alone.contains("needs the log that it archives"), "{alone}");
}

#[test]
fn archive_of_a_fleet_that_began_with_a_store_needs_a_backup() {
    let Some(fleet) = Fleet::begin() else { return };
    let place = Place::new();
    fs::create_dir(place.file("archive")).unwrap();
    let options = format!(
        "--log {}?fleet=mine --node m --archive archive",
        fleet.url()
    );
    let mut node = place.serve_with(&options);
    let mut client = Client::connect(node.address, &place.admin).unwrap();
    put_all(&mut client, 0..2);
    archived(&mut client);
    node.terminate();
    let alone = refused(place.path(), "--archive archive");
    assert!(
        alone.contains("began with the data of one node") && alone.contains("--from"),
        "{alone}"
    );
    done(place.path(), "backup backup.redb");
    restored(
        place.path(),
        "--archive archive --from backup.redb --data new.redb",
    );
    assert_eq!(workspaces(place.path(), "new.redb"), [0, 1]);
}

/// JetStream keeps no chain: the archive has the one that the node computes.
#[cfg(feature = "nats")]
#[test]
fn log_in_jetstream_is_archived_across_a_kill() {
    let Some(servers) = crate::servers::nats::Nats::start() else {
        return;
    };
    let place = Place::empty("");
    let log = servers.url();
    let issue = format!("keys issue --name admin --scope admin --set cluster.log={log}");
    let admin = done(place.path(), &issue);
    fs::create_dir(place.file("archive")).unwrap();
    let serve = || place.serve_with(&format!("--log {log} --node n --archive archive"));
    let mut node = serve();
    let mut client = Client::connect(node.address, admin.trim()).unwrap();
    put_all(&mut client, 0..3);
    archived(&mut client);
    put_all(&mut client, 3..5);
    node.kill();
    let node = serve();
    let mut client = Client::connect(node.address, admin.trim()).unwrap();
    put_all(&mut client, 5..7);
    archived(&mut client);
    restored(place.path(), "--archive archive --data new.redb");
    assert_eq!(
        workspaces(place.path(), "new.redb"),
        (0..7).collect::<Vec<_>>()
    );
}

/// JetStream keeps no chain, so the entries that it still has after a gap are not archived.
#[cfg(feature = "nats")]
#[test]
fn archive_of_a_trimmed_log_in_jetstream_begins_with_what_is_applied() {
    let Some(servers) = crate::servers::nats::Nats::start() else {
        return;
    };
    let place = Place::empty("");
    let url = servers.url();
    let issue = format!("keys issue --name admin --scope admin --set cluster.log={url}");
    let admin = done(place.path(), &issue);
    let options = format!("--log {url} --node n");
    let mut node = place.serve_with(&options);
    let mut client = Client::connect(node.address, admin.trim()).unwrap();
    put_all(&mut client, 0..3);
    let last = archived(&mut client);
    node.terminate();
    let log = FleetLog::open(&url, LogOptions::default(), Metrics::default(), |_| ()).unwrap();
    log.trim(3).unwrap();
    fs::create_dir(place.file("archive")).unwrap();
    let node = place.serve_with(&format!("{options} --archive archive"));
    line_with(&node, &format!("The archive begins after entry {last}."));
    let mut client = Client::connect(node.address, admin.trim()).unwrap();
    put_all(&mut client, 3..5);
    archived(&mut client);
    let name = format!("{:020}.log", last + 1);
    assert_eq!(last_file(&place), place.file("archive").join(name));
}

fn conditions(client: &mut Client) -> String {
    client.ask("GET /query/conditions", "").unwrap().1
}

#[test]
fn node_whose_archive_is_gone_serves_on_and_archives_all_when_it_is_back() {
    let Some(fleet) = Fleet::begin() else { return };
    let place = fleet.node_folder();
    let mut node = serve(&fleet, &place);
    let mut client = fleet.client(&node);
    put_all(&mut client, 0..2);
    archived(&mut client);
    let [archive, away] = ["archive", "away"].map(|name| place.file(name));
    fs::rename(&archive, &away).unwrap();
    put_all(&mut client, 2..4);
    let line = node.wait_for("is not archived");
    assert!(
        line.contains("grows until it is") && line.contains("cannot write to "),
        "{line}"
    );
    wait_until(|| {
        conditions(&mut client).contains(r#""code":"ArchiveFailing","severity":"warning""#)
    });
    let listed = conditions(&mut client);
    assert!(!listed.contains("archive/"), "no paths: {listed}");
    assert_eq!(readyz(&mut client).0, 200);
    // A start without the folder does not fail either.
    node.terminate();
    let mut node = place.serve_with(&format!("{} --archive archive", fleet.options(&place)));
    let mut client = fleet.client(&node);
    wait_until(|| conditions(&mut client).contains("ArchiveFailing"));
    put_all(&mut client, 4..5);
    fs::rename(&away, &archive).unwrap();
    node.wait_for("the archive of the log goes on");
    archived(&mut client);
    assert!(!conditions(&mut client).contains("ArchiveFailing"));
    node.terminate();
    restored(place.path(), "--archive archive --data new.redb");
    assert_eq!(workspaces(place.path(), "new.redb"), [0, 1, 2, 3, 4]);
}

/// A small disk; it is unmounted when this is dropped.
struct Disk(PathBuf);

impl Disk {
    /// `None` where nothing may be mounted.
    fn mount(place: PathBuf) -> Option<Self> {
        fs::create_dir(&place).unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
            .arg(&place)
            .output();
        mount
            .is_ok_and(|done| done.status.success())
            .then_some(Self(place))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn full_disk_of_an_archive_loses_nothing() {
    let Some(fleet) = Fleet::begin() else { return };
    let place = fleet.node_folder();
    let Some(disk) = Disk::mount(place.file("archive")) else {
        return;
    };
    let mut node = serve(&fleet, &place);
    let mut client = fleet.client(&node);
    put_all(&mut client, 0..2);
    archived(&mut client);
    fs::write(disk.0.join("balloon"), vec![1; 220 << 10]).unwrap();
    let text = "x".repeat(250);
    for number in 2..80 {
        let id = format!("ws-{number}");
        let body = format!(
            r#"{{"workSpId":"{id}","state":"AVAILABLE","account":"{text}","region":"{text}"}}"#
        );
        let put = client.ask(&format!("PUT /operator/workspaces/{id}"), &body);
        assert_eq!(put.unwrap().0, 200);
    }
    let line = node.wait_for("is not archived");
    assert!(line.contains("No space left"), "{line}");
    fs::remove_file(disk.0.join("balloon")).unwrap();
    node.wait_for("the archive of the log goes on");
    archived(&mut client);
    node.terminate();
    restored(place.path(), "--archive archive --data new.redb");
    assert_eq!(
        workspaces(place.path(), "new.redb"),
        (0..80).collect::<Vec<_>>()
    );
}
