//! `deskfleet-provider aws` between a real server and a fake of Amazon WorkSpaces: each action, faults, and SIGKILL at any moment.
//!
//! `DESKFLEET_PROVIDER_ROUNDS` sets the rounds of SIGKILL; by default there are two.

use std::time::{Duration, Instant};

use crate::fleets::{CloudFleet, Effects, FAST, count};
use deskfleet::{Action, AuditResult};
use serde_json::{Value, json};

/// An action, the state of the desktops it is asked for, the call that carries it out, and whether it may be carried out twice.
type Kind = (Action, &'static str, &'static str, bool);

const KINDS: [Kind; 7] = [
    (Action::Reboot, "AVAILABLE", "RebootWorkspaces", true),
    (Action::Start, "STOPPED", "StartWorkspaces", true),
    (Action::RecoveryReboot, "AVAILABLE", "StartWorkspaces", true),
    (
        Action::ChangeComputeType,
        "AVAILABLE",
        "ModifyWorkspaceProperties",
        false,
    ),
    (Action::Rebuild, "AVAILABLE", "RebuildWorkspaces", false),
    (Action::Restore, "AVAILABLE", "RestoreWorkspace", false),
    (Action::Terminate, "AVAILABLE", "TerminateWorkspaces", false),
];

#[test]
fn each_action_happens_once_and_is_completed_with_its_request() {
    let Some(cloud) = CloudFleet::start() else {
        return;
    };
    let fleet = &cloud.fleet;
    cloud.fake.control(&json!({"seconds": 1}));
    let ids: Vec<String> = (0..KINDS.len())
        .map(|n| format!("ws-{}", 100_000_000 + n))
        .collect();
    let desktops = ids.iter().cloned().zip(KINDS.map(|(_, state, ..)| state));
    cloud.add(&desktops.collect::<Vec<_>>());
    for ((action, ..), id) in KINDS.iter().zip(&ids) {
        fleet.act(*action, id);
    }
    let _provider = cloud.provide(FAST);
    fleet.wait_until_done();
    let effects = cloud.effects();
    for ((action, _, call, _), id) in KINDS.iter().zip(&ids) {
        assert_eq!(count(&effects, call, id), 1, "{action}");
        let (result, detail) = fleet.outcome(*action, id);
        assert_eq!(result, AuditResult::Completed, "{action}: {detail}");
        // A recovery reboot stops and starts.
        let attempts = if *call == "StartWorkspaces" && count(&effects, "StopWorkspaces", id) == 1 {
            "aws-eu-west-1, 2 attempts, request request-"
        } else {
            "aws-eu-west-1, 1 attempt, request request-"
        };
        assert!(detail.starts_with(attempts), "{action}: {detail}");
    }
    assert_eq!(count(&effects, "StopWorkspaces", &ids[2]), 1);
    assert_eq!(effects.values().sum::<usize>(), KINDS.len() + 1);
}

#[test]
fn refused_actions_fail_with_the_reason_of_the_cloud() {
    let Some(cloud) = CloudFleet::start() else {
        return;
    };
    let fleet = &cloud.fleet;
    let ids = ["ws-100000000", "ws-100000001", "ws-not-of-aws"].map(str::to_owned);
    let mut desktops = ids.clone().map(|id| (id, "AVAILABLE")).to_vec();
    cloud.add(&desktops);
    // The cloud knows better than the inventory.
    desktops.truncate(1);
    cloud
        .fake
        .control(&json!({"desktops": {&ids[0]: {"state": "SUSPENDED"}}}));
    for id in &ids[..1] {
        fleet.act(Action::Rebuild, id);
    }
    let provider = cloud.provide(FAST);
    fleet.wait_until_done();
    drop(provider);
    let (result, detail) = fleet.outcome(Action::Rebuild, &ids[0]);
    assert_eq!(result, AuditResult::Failed);
    assert!(
        detail.contains("InvalidResourceState") && detail.contains("SUSPENDED"),
        "{detail}"
    );
}

/// They may be those of another account or region, whose provider asks the same server. However many they are, they hold up no other.
#[test]
fn desktops_that_the_cloud_does_not_show_are_left_alone() {
    let Some(cloud) = CloudFleet::start() else {
        return;
    };
    let fleet = &cloud.fleet;
    let gone = ["ws-200000000", "ws-200000001", "ws-not-of-aws"].map(str::to_owned);
    let shown = "ws-200000002".to_owned();
    let all = gone.iter().chain([&shown]);
    let all: Vec<_> = all.map(|id| (id.clone(), "AVAILABLE")).collect();
    cloud.add(&all);
    cloud.fake.control(&json!({"gone": gone}));
    fleet.act(Action::Reboot, &gone[0]);
    for id in gone[1..].iter().chain([&shown]) {
        fleet.act(Action::Terminate, id);
    }
    let provider = cloud.provide(&format!("{FAST} --max-destructive 1"));
    fleet.wait("the end of the one that is shown", || {
        fleet.outcome(Action::Terminate, &shown).0 == AuditResult::Completed
    });
    drop(provider);
    let log = fleet.provider_log();
    assert_eq!(log.matches(": left alone").count(), gone.len(), "{log}");
    for id in &gone {
        assert!(!log.contains(&format!("{id}, attempt")), "{log}");
    }
    assert!(!fleet.pending().is_empty());
}

#[test]
fn expired_credentials_fail_nothing() {
    let Some(cloud) = CloudFleet::start() else {
        return;
    };
    let fleet = &cloud.fleet;
    cloud
        .fake
        .control(&json!({"keys": ["AKIDNEXT"], "seconds": 1}));
    let id = "ws-100000000".to_owned();
    cloud.add(&[(id.clone(), "AVAILABLE")]);
    fleet.act(Action::Rebuild, &id);
    let provider = cloud.provide(FAST);
    fleet.wait("a refused call", || {
        fleet.provider_log().contains("ExpiredToken")
    });
    assert!(!fleet.pending().is_empty());
    drop(provider);
    cloud.fake.control(&json!({"keys": ["AKIDFAKE"]}));
    let _provider = cloud.provide(FAST);
    fleet.wait_until_done();
    let (result, detail) = fleet.outcome(Action::Rebuild, &id);
    assert_eq!(result, AuditResult::Completed, "{detail}");
    assert_eq!(count(&cloud.effects(), "RebuildWorkspaces", &id), 1);
}

/// A number below `bound`: another one for each seed.
fn below(seed: &mut u64, bound: u64) -> u64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % bound
}

#[test]
fn killed_provider_repeats_nothing_destructive_forgets_nothing_and_breaks_no_hold() {
    let Some(cloud) = CloudFleet::start() else {
        return;
    };
    let set = |name: &str| std::env::var(name).ok().and_then(|set| set.parse().ok());
    let rounds = set("DESKFLEET_PROVIDER_ROUNDS").unwrap_or(2);
    let mut seed = set("DESKFLEET_PROVIDER_SEED").unwrap_or(1);
    let mut unknown = 0;
    let begun = Instant::now();
    for round in 0..rounds {
        unknown += kill_round(&cloud, round, &mut seed);
        let seconds = begun.elapsed().as_secs();
        eprintln!("round {round}: {unknown} unknown so far, {seconds} s");
    }
}

/// Returns how many actions were left to a person.
fn kill_round(cloud: &CloudFleet, round: u64, seed: &mut u64) -> usize {
    const EACH: usize = 3;
    let fleet = &cloud.fleet;
    cloud.fake.control(
        &json!({"seconds": 1, "visible": 0.5, "seed": round, "faults": [
            {"operation": "*", "kind": "throttle", "rate": 0.1},
            {"operation": "*", "kind": "lost", "rate": 0.1},
            {"operation": "*", "kind": "dropped", "rate": 0.05},
            {"operation": "*", "kind": "failed", "rate": 0.05},
            {"operation": "*", "kind": "partial", "rate": 0.1},
        ]}),
    );
    let mut asked = Vec::new();
    for (index, kind) in KINDS.iter().cycle().take(KINDS.len() * EACH).enumerate() {
        asked.push((format!("ws-{round:05}{index:04}"), *kind));
    }
    // Three that are held between their acceptance and the first look of the provider.
    let held = KINDS[4..].iter().enumerate();
    let held: Vec<_> = held
        .map(|(index, kind)| (format!("ws-{round:05}9{index:03}"), *kind))
        .collect();
    let all = asked.iter().chain(&held);
    let desktops: Vec<_> = all
        .clone()
        .map(|(id, (_, state, ..))| (id.clone(), *state))
        .collect();
    cloud.add(&desktops);
    let always_on: Vec<String> = always_on(&asked).collect();
    cloud.make_always_on(&always_on);
    for (id, (action, ..)) in all {
        fleet.act(*action, id);
    }
    for (id, _) in &held {
        let engine = &fleet.server.engine;
        engine.place_hold(id, "m", Some("r")).unwrap();
    }
    let options = FAST.replace("--no-sync", "--scan-every 1s --switch-running-mode");
    for _ in 0..4 {
        let provider = cloud.provide(&options);
        std::thread::sleep(Duration::from_millis(below(seed, 900)));
        drop(provider);
        // The next one begins at once.
        fleet.wait("the end of the lease", || {
            let ended = fleet.server.engine.take_lease("aws-us-east-1", "none", 0);
            ended.is_ok()
        });
    }
    let provider = cloud.provide(&options);
    fleet.wait_until_done();
    drop(provider);
    let effects = cloud.effects();
    for (id, (action, _, call, _)) in &held {
        assert_eq!(
            count(&effects, call, id),
            0,
            "{action} of {id}, which is held"
        );
        let (result, detail) = fleet.outcome(*action, id);
        assert_eq!(result, AuditResult::Failed, "{action} of {id}: {detail}");
    }
    let unknown = outcomes(cloud, &effects, &asked);
    for id in &always_on {
        let log = fleet.provider_log();
        let message: Vec<&str> = log.lines().filter(|line| line.contains(id)).collect();
        let modes = cloud.running_modes(id);
        assert_eq!(modes, ["ALWAYS_ON", "ALWAYS_ON"], "{message:#?}");
    }
    unknown
}

/// Those of the recovery reboots whose desktops are always on: one of them is not.
fn always_on(asked: &[(String, Kind)]) -> impl Iterator<Item = String> {
    let recovered = |of: &&(String, Kind)| of.1.0 == Action::RecoveryReboot;
    asked
        .iter()
        .filter(recovered)
        .skip(1)
        .map(|(id, _)| id.clone())
}

/// Checks how the actions ended, and returns how many were left to a person.
fn outcomes(cloud: &CloudFleet, effects: &Effects, asked: &[(String, Kind)]) -> usize {
    let fleet = &cloud.fleet;
    let mut unknown = 0;
    for (id, (action, _, call, is_repeatable)) in asked {
        let count = count(effects, call, id);
        let (result, detail) = fleet.outcome(*action, id);
        let message = format!("{action} of {id}, {count} times: {result:?} {detail}");
        match result {
            AuditResult::Completed => assert!(count >= 1, "{message}"),
            AuditResult::Failed => {
                assert!(
                    !is_repeatable && detail.contains("Unknown"),
                    "{message}\n{}",
                    fleet.provider_log()
                );
                unknown += 1;
            }
            AuditResult::Accepted
            | AuditResult::Refused
            | AuditResult::NoChange
            | AuditResult::Cancelled
            | _ => panic!("{message}"),
        }
        assert!(
            *is_repeatable || count <= 1,
            "{message}\n{}",
            fleet.provider_log()
        );
    }
    unknown
}

/// With `DESKFLEET_PROVIDER_RATE=2`, AWS's limits.
#[test]
fn thousand_reboots_are_batched_within_the_limits_of_the_cloud() {
    let Some(cloud) = CloudFleet::start() else {
        return;
    };
    let fleet = &cloud.fleet;
    let rate = std::env::var("DESKFLEET_PROVIDER_RATE").ok();
    let rate: u32 = rate.and_then(|rate| rate.parse().ok()).unwrap_or(20);
    cloud
        .fake
        .control(&json!({"seconds": 5, "rate": {"perSecond": rate, "burst": 8}}));
    let ids: Vec<String> = (0..1000)
        .map(|n| format!("ws-{}", 100_000_000 + n))
        .collect();
    let desktops: Vec<_> = ids.iter().map(|id| (id.clone(), "AVAILABLE")).collect();
    cloud.add(&desktops);
    for id in &ids {
        fleet.act(Action::Reboot, id);
    }
    let begun = Instant::now();
    let _provider = cloud.provide(&format!("--rate {rate} --burst 5 --every 1s --no-sync"));
    fleet.wait("all calls", || cloud.fake.effects().len() >= ids.len());
    let called = begun.elapsed();
    fleet.wait_until_done();
    let log = cloud.fake.log();
    let of = |name: &str| log.iter().filter(|call| call["operation"] == name).count();
    let seconds =
        |from: &Value, to: &Value| to["time"].as_f64().unwrap() - from["time"].as_f64().unwrap();
    let is_reboot = |call: &&Value| call["operation"] == "RebootWorkspaces";
    let last = log.iter().rposition(|call| is_reboot(&call)).unwrap();
    // What the bucket allows: for the reboots alone, and for all calls until the last of them.
    let allowed =
        |calls: usize| f64::from(u32::try_from(calls).unwrap().saturating_sub(5)) / f64::from(rate);
    eprintln!(
        "{} reboots in {} calls: the last {:.1} s after the first call, where the bucket allows {:.1} s for them and {:.1} s with the \
         descriptions between them; all effects after {:.1} s; {} descriptions, all ended after {:.1} s",
        ids.len(),
        of("RebootWorkspaces"),
        seconds(&log[0], &log[last]),
        allowed(of("RebootWorkspaces")),
        allowed(last + 1),
        called.as_secs_f64(),
        of("DescribeWorkspaces"),
        begun.elapsed().as_secs_f64(),
    );
    assert_eq!(cloud.effects().len(), ids.len());
    assert_eq!(cloud.fake.effects().len(), ids.len());
    let reboots: Vec<usize> = log
        .iter()
        .filter(is_reboot)
        .map(|call| call["ids"].as_array().unwrap().len())
        .collect();
    assert!(reboots.iter().all(|size| *size <= 25), "{reboots:?}");
    assert!(reboots.len() <= 44, "{reboots:?}");
}
