//! `deskfleet-provider aws --switch-running-mode`: recovery reboots of desktops that are always on. `fleet.rs` kills it meanwhile.

use crate::fleets::{CloudFleet, FAST, count};
use deskfleet::{Action, AuditResult};
use serde_json::json;

#[test]
fn recovery_reboot_of_a_desktop_that_is_always_on_switches_its_mode_and_back_if_that_is_wanted() {
    let Some(cloud) = CloudFleet::start() else {
        return;
    };
    let fleet = &cloud.fleet;
    cloud.fake.control(&json!({"seconds": 1}));
    let ids = [0, 1, 2].map(|n| format!("ws-{}", 100_000_000 + n));
    cloud.add(&ids.clone().map(|id| (id, "AVAILABLE")));
    cloud.make_always_on(&ids[..2]);
    fleet.act(Action::RecoveryReboot, &ids[0]);
    let provider = cloud.provide(FAST);
    fleet.wait_until_done();
    drop(provider);
    let (result, detail) = fleet.outcome(Action::RecoveryReboot, &ids[0]);
    assert!(
        result == AuditResult::Failed && detail.contains("--switch-running-mode"),
        "{result:?} {detail}"
    );
    assert_eq!(cloud.effects().len(), 0);
    for id in &ids[1..] {
        fleet.act(Action::RecoveryReboot, id);
    }
    let _provider = cloud.provide(&format!("{FAST} --switch-running-mode"));
    fleet.wait_until_done();
    let effects = cloud.effects();
    for (id, mode, switches) in [(&ids[1], "ALWAYS_ON", 2), (&ids[2], "AUTO_STOP", 0)] {
        let (result, detail) = fleet.outcome(Action::RecoveryReboot, id);
        assert_eq!(result, AuditResult::Completed, "{detail}");
        let calls = [
            "StopWorkspaces",
            "StartWorkspaces",
            "ModifyWorkspaceProperties",
        ];
        let calls = calls.map(|call| count(&effects, call, id));
        assert_eq!(calls, [1, 1, switches]);
        assert_eq!(cloud.running_modes(id), [mode, mode]);
    }
}

#[test]
fn recovery_reboot_that_is_refused_leaves_no_switched_mode() {
    let Some(cloud) = CloudFleet::start() else {
        return;
    };
    let fleet = &cloud.fleet;
    let id = "ws-100000000".to_owned();
    cloud.add(&[(id.clone(), "AVAILABLE")]);
    cloud.make_always_on(std::slice::from_ref(&id));
    cloud.fake.control(&json!({"faults": [
        {"operation": "StopWorkspaces", "kind": "refused", "count": 1},
    ]}));
    fleet.act(Action::RecoveryReboot, &id);
    let _provider = cloud.provide(&format!("{FAST} --switch-running-mode"));
    fleet.wait_until_done();
    let (result, detail) = fleet.outcome(Action::RecoveryReboot, &id);
    assert!(
        result == AuditResult::Failed && detail.contains("OperationNotSupported"),
        "{result:?} {detail}"
    );
    assert_eq!(count(&cloud.effects(), "ModifyWorkspaceProperties", &id), 2);
    assert_eq!(cloud.running_modes(&id), ["ALWAYS_ON", "ALWAYS_ON"]);
    fleet.wait("the state that the cloud shows", || {
        fleet.state(&id) == "AVAILABLE"
    });
}
