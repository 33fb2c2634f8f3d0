//! Nodes that do not begin, and commands that are none.

use super::{Fleet, has, put, readyz};
use crate::certificates::{authority, certificate, has as has_programs};
use crate::load::{Place, command, done};

#[test]
fn file_of_another_fleet_is_not_made_a_node() {
    let Some(fleet) = Fleet::begin() else { return };
    let own = Place::new();
    let refused = fleet.refused(&own, "");
    assert!(refused.contains("has data of its own"), "{refused}");

    let place = fleet.node_folder();
    let mut node = fleet.serve(&place);
    assert_eq!(put(&mut fleet.client(&node), "ws-1"), 200);
    node.terminate();
    let other = format!("--log {}?fleet=other --node n", fleet.url());
    let mut node = place.serve_with(&other);
    let line = node.wait_for("APPLIES NOTHING MORE");
    assert!(line.contains("the log is empty"), "{line}");
    let mut client = fleet.client(&node);
    assert!(has(&mut client, "ws-1"));
    assert_eq!(put(&mut client, "ws-2"), 503);
    let (status, message) = readyz(&mut client);
    assert_eq!(status, 503);
    assert!(message.starts_with("Halted: "), "{message}");
    node.terminate();
    assert!(done(place.path(), "export workspaces").contains("ws-1"));

    // Another node begins that fleet.
    let another = fleet.node_folder();
    let mut begun = another.serve_with(&other.replace("--node n", "--node m"));
    let refused = format!("serve --listen 127.0.0.1:0 {other}");
    let refused = command(place.path(), &refused).output().unwrap();
    let refused = super::message(&refused);
    assert!(
        refused.contains("the log is that of another fleet"),
        "{refused}"
    );
    begun.terminate();
}

#[test]
fn node_joins_one_that_asks_for_a_certificate() {
    let Some(fleet) = Fleet::begin() else { return };
    if !has_programs(&["openssl"]) {
        return;
    }
    let [first, new] = [(); 2].map(|()| fleet.node_folder());
    authority(first.path(), "ca");
    certificate(first.path(), "server", "ca");
    for file in ["ca.pem", "server.pem", "server.key"] {
        std::fs::copy(first.file(file), new.file(file)).unwrap();
    }
    let tls = "--tls-cert server.pem --tls-key server.key --client-ca ca.pem";
    let node = first.serve_with(&format!("{} {tls}", fleet.options(&first)));
    let join = format!(
        "--join https://localhost:{} --join-key-file admin.key --join-ca ca.pem",
        node.address.port()
    );
    let half = fleet.usage(&new, &format!("{join} --join-cert server.pem"));
    assert!(
        half.contains("--join-cert: cluster.join_cert needs the key"),
        "{half}"
    );
    let half = fleet.usage(&new, "--log-key server.key");
    assert!(
        half.contains("--log-key: cluster.log_key needs the certificate"),
        "{half}"
    );
    // Without one it begins by the log alone, and says why.
    let mut without = new.serve_with(&format!("{} {join}", fleet.options(&new)));
    assert!(
        without.before.contains("the log alone has to do"),
        "{}",
        without.before
    );
    without.terminate();
    std::fs::remove_file(new.file("deskfleet.redb")).unwrap();
    let identity = "--join-cert server.pem --join-key server.key";
    let with = new.serve_with(&format!("{} {join} {identity}", fleet.options(&new)));
    assert!(with.before.contains("Copied "), "{}", with.before);
}

/// A command is no node: nobody waits for it. Its user's file would not be that of the server's user.
#[test]
fn command_that_writes_through_the_log_leaves_no_file_and_no_node() {
    let Some(fleet) = Fleet::begin() else { return };
    let place = fleet.node_folder();
    let mut node = fleet.serve(&place);
    let elsewhere = tempfile::tempdir().unwrap();
    let issue = format!(
        "keys issue --name two --scope read --set cluster.log={}",
        fleet.url()
    );
    assert!(done(elsewhere.path(), &issue).starts_with("dfk_"));
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    let (_, status) = fleet
        .client(&node)
        .ask("GET /operator/cluster", "")
        .unwrap();
    assert_eq!(
        status.matches(r#""node":"#).count(),
        2,
        "itself and the list: {status}"
    );
    node.terminate();
}

/// Without any key it could answer nothing.
#[test]
fn node_that_never_reached_the_log_says_so_and_does_not_start() {
    let Some(fleet) = Fleet::begin() else { return };
    fleet.gate.close();
    let refused = fleet.refused(&fleet.node_folder(), "");
    assert!(
        refused.contains("has to reach the log of the fleet to begin"),
        "{refused}"
    );
    assert!(refused.contains("cannot be used"), "{refused}");
    fleet.gate.open();
}
