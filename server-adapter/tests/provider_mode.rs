//! `deskfleet-provider aws --switch-running-mode`: recovery reboots of desktops that are always on. `provider_fleet.rs` kills it meanwhile.
#![cfg(all(unix, feature = "providers"))]

use crate::driven::{FAST, Fleet, act, count, outcome};
use serde_json::json;

#[test]
fn recovery_reboot_of_a_desktop_that_is_always_on_switches_its_mode_and_back_if_that_is_wanted() {
    let Some(fleet) = Fleet::start() else { return };
    fleet.fake.control(&json!({"seconds": 1}));
    let ids = [0, 1, 2].map(|n| format!("ws-{}", 100_000_000 + n));
    fleet.add(&ids.clone().map(|id| (id, "AVAILABLE")));
    fleet.make_always_on(&ids[..2]);
    let mut client = fleet.client();
    act(&mut client, "RecoveryRebootWorkSpace", &ids[0]);
    let provider = fleet.provide(FAST);
    fleet.wait_until_done();
    drop(provider);
    let (result, detail) = outcome(&mut client, "RecoveryRebootWorkSpace", &ids[0]);
    assert!(
        result == "Failed" && detail.contains("--switch-running-mode"),
        "{result} {detail}"
    );
    assert_eq!(fleet.effects().len(), 0);
    for id in &ids[1..] {
        act(&mut client, "RecoveryRebootWorkSpace", id);
    }
    let _provider = fleet.provide(&format!("{FAST} --switch-running-mode"));
    fleet.wait_until_done();
    let effects = fleet.effects();
    for (id, mode, switches) in [(&ids[1], "ALWAYS_ON", 2), (&ids[2], "AUTO_STOP", 0)] {
        let (result, detail) = outcome(&mut client, "RecoveryRebootWorkSpace", id);
        assert_eq!(result, "Completed", "{detail}");
        let calls = [
            "StopWorkspaces",
            "StartWorkspaces",
            "ModifyWorkspaceProperties",
        ];
        let calls = calls.map(|call| count(&effects, call, id));
        assert_eq!(calls, [1, 1, switches]);
        assert_eq!(fleet.running_modes(id), [mode, mode]);
    }
}

#[test]
fn recovery_reboot_that_is_refused_leaves_no_switched_mode() {
    let Some(fleet) = Fleet::start() else { return };
    let id = "ws-100000000".to_owned();
    fleet.add(&[(id.clone(), "AVAILABLE")]);
    fleet.make_always_on(std::slice::from_ref(&id));
    fleet.fake.control(&json!({"faults": [
        {"operation": "StopWorkspaces", "kind": "refused", "count": 1},
    ]}));
    let mut client = fleet.client();
    act(&mut client, "RecoveryRebootWorkSpace", &id);
    let _provider = fleet.provide(&format!("{FAST} --switch-running-mode"));
    fleet.wait_until_done();
    let (result, detail) = outcome(&mut client, "RecoveryRebootWorkSpace", &id);
    assert!(
        result == "Failed" && detail.contains("OperationNotSupported"),
        "{result} {detail}"
    );
    assert_eq!(count(&fleet.effects(), "ModifyWorkspaceProperties", &id), 2);
    assert_eq!(fleet.running_modes(&id), ["ALWAYS_ON", "ALWAYS_ON"]);
    fleet.wait("the state that the cloud shows", || {
        let view = client.json(&format!("GET /operator/workspaces/{id}"));
        view["workSpace"]["state"] == "AVAILABLE"
    });
}
