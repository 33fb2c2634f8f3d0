//! `/readyz` of a server whose actions wait for a provider.

use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use crate::client::Client;
use deskfleet::{ActionDriver, ActionRequest, Attempt, Config, Engine, ManualClock, Workspace};
use deskfleet_server::{ServerOptions, spawn};

#[test]
fn readyz_with_an_unattended_or_stalled_action_warns() {
    let mut config = Config::default();
    config.actions.driver = ActionDriver::Host;
    let clock = ManualClock::new("2026-11-20T08:00:00Z".parse().unwrap());
    let builder = Engine::builder().clock(clock.clone()).seed(1);
    let engine = builder.config(config).open_in_memory().unwrap();
    let workspace = Workspace {
        id: "ws-1".into(),
        state: Some("AVAILABLE".into()),
        ..Workspace::default()
    };
    engine.put_workspace(workspace).unwrap();
    let id = engine.act(ActionRequest::reboot("ws-1")).unwrap().unwrap();
    let server = spawn(engine.clone(), ServerOptions::default()).unwrap();
    let mut client = Client::connect(server.addr());
    // Reading pauses for a moment after each time.
    let mut until = |wanted: &str| {
        for _ in 0..600 {
            let ready = client.ask("GET", "/readyz", "");
            assert_eq!(ready.status, 200);
            if ready.body == wanted {
                return;
            }
            sleep(Duration::from_millis(100));
        }
        panic!("{wanted}");
    };
    until("ready\n");
    clock.advance_seconds(15 * 60);
    until(
        "ready\nwarning: actions that no provider has begun within 15 minutes: 1, the first accepted at \
         2026-11-20T08:00:00Z; is deskfleet-provider running?\n",
    );
    engine.dispatch_action(id, Attempt::new(1, "aws")).unwrap();
    until("ready\n");
    clock.advance_seconds(2 * 3600);
    until(
        "ready\nwarning: actions whose last attempt began 2 hours ago or earlier: 1, the first begun at 2026-11-20T08:15:00Z; is \
         their provider running, under the same --name, and does its web service complete them? \
         GET /operator/actions?state=dispatched names it\n",
    );
    engine.complete_action(id).unwrap();
    until("ready\n");
}

#[test]
fn readyz_looks_at_the_disk_off_the_event_loop() {
    let threads = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&threads);
    let probe = move || {
        let name = std::thread::current().name().map(str::to_owned);
        asked.lock().unwrap().push(name);
        Some(u64::MAX)
    };
    let engine = Engine::builder()
        .clock(SystemTime::now)
        .seed(1)
        .free_space(probe)
        .open_in_memory()
        .unwrap();
    let options = ServerOptions {
        maintain_every: None,
        ..ServerOptions::default()
    };
    let server = spawn(engine, options).unwrap();
    threads.lock().unwrap().clear();
    let mut client = Client::connect(server.addr());
    assert_eq!(client.ask("GET", "/readyz", "").status, 200);
    let threads = threads.lock().unwrap();
    assert!(!threads.is_empty());
    // The thread of the event loop has this name.
    let on_the_loop = |name: &Option<String>| name.as_deref() == Some("deskfleet-server");
    assert!(!threads.iter().any(on_the_loop), "{threads:?}");
}
