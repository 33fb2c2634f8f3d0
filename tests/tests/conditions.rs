//! What is wrong now: each condition is raised and cleared, with its events, and survives the store.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use deskfleet::{
    ActionDriver, ActionRequest, Clock as _, Condition, Config, Engine, ErrorKind, EventType,
    FailedState, ManualClock, NewKey, Scope, Severity, StartupRecord, State, StatsRecord,
    Timestamp, Workspace,
};

const NOW: &str = "2026-11-20T12:00:00Z";

struct Fleet {
    engine: Engine,
    clock: ManualClock,
    free: Arc<AtomicU64>,
    host: Arc<AtomicBool>,
}

impl Fleet {
    fn new() -> Self {
        let clock = ManualClock::new(NOW.parse().unwrap());
        let mut config = Config::default();
        config.actions.driver = ActionDriver::Host;
        let free = Arc::new(AtomicU64::new(u64::MAX));
        let host = Arc::new(AtomicBool::default());
        let (probe, observed) = (Arc::clone(&free), Arc::clone(&host));
        let now = clock.clone();
        let engine = Engine::builder()
            .clock(clock.clone())
            .seed(1)
            .config(config)
            .free_space(move || Some(probe.load(Ordering::Relaxed)))
            .conditions(move || {
                let condition =
                    Condition::new("BackupOld", Severity::Warning, "No backup.", now.now());
                let raised = observed.load(Ordering::Relaxed);
                raised.then_some(condition).into_iter().collect()
            })
            .open_in_memory()
            .unwrap();
        Self {
            engine,
            clock,
            free,
            host,
        }
    }

    fn put(&self, id: &str, state: State) {
        let workspace = Workspace {
            id: id.to_owned(),
            state: Some(state.into()),
            ..Workspace::default()
        };
        self.engine.put_workspace(workspace).unwrap();
    }

    fn report(&self, id: &str) {
        let record = StatsRecord {
            instance_id: id.into(),
            ..StatsRecord::default()
        };
        self.engine.record(record).unwrap();
    }

    fn pass(&self, seconds: i64) {
        self.clock.advance_seconds(seconds);
        self.engine.maintain().unwrap();
    }

    /// Codes, counts and first subjects, the worst first.
    fn wrong(&self) -> Vec<String> {
        let all = self.engine.conditions().into_iter();
        all.map(|of| {
            let count = of
                .count
                .map_or_else(String::new, |count| format!(" {count}"));
            let subjects = of.subjects.join(",");
            format!("{} {}{count} {subjects}", of.severity.as_str(), of.code)
                .trim_end()
                .to_owned()
        })
        .collect()
    }

    /// The types and codes of the events of conditions.
    fn events(&self) -> Vec<String> {
        let of = |kind| [EventType::ConditionRaised, EventType::ConditionCleared].contains(&kind);
        let events = self
            .engine
            .events(Some(0))
            .map(Result::unwrap)
            .filter(|event| of(event.kind));
        events
            .map(|event| {
                let detail: serde_json::Value = serde_json::from_str(&event.detail).unwrap();
                format!(
                    "{} {}",
                    event.kind.as_str(),
                    detail["code"].as_str().unwrap()
                )
            })
            .collect()
    }
}

#[test]
fn nothing_is_wrong_with_an_empty_fleet() {
    let fleet = Fleet::new();
    fleet.pass(120);
    assert!(fleet.wrong().is_empty());
    assert!(fleet.events().is_empty());
}

#[test]
fn broken_desktops_are_raised_and_cleared_with_events() {
    let fleet = Fleet::new();
    for number in 0..12 {
        fleet.put(&format!("ws-{number:02}"), State::Unhealthy);
    }
    fleet.put("ws-99", State::Available);
    let ten: Vec<_> = (0..10).map(|number| format!("ws-{number:02}")).collect();
    let raised = format!("warning DesktopsUnhealthy 12 {}", ten.join(","));
    assert_eq!(fleet.wrong(), [raised]);
    fleet.pass(60);
    fleet.pass(60);
    assert_eq!(fleet.events(), ["condition.raised DesktopsUnhealthy"]);
    let since = fleet.engine.conditions()[0].since;
    assert_eq!(since, NOW.parse::<Timestamp>().unwrap());
    for number in 0..12 {
        fleet.put(&format!("ws-{number:02}"), State::Available);
    }
    assert!(fleet.wrong().is_empty());
    fleet.pass(60);
    assert_eq!(
        fleet.events(),
        [
            "condition.raised DesktopsUnhealthy",
            "condition.cleared DesktopsUnhealthy"
        ]
    );
    let events = fleet.engine.events(Some(0)).map(Result::unwrap);
    let details = events.map(|event| (event.kind, event.detail));
    let details: BTreeMap<_, _> = details.collect();
    let raised = &details[&EventType::ConditionRaised];
    assert!(
        raised.ends_with(r#","count":12,"subjects":["ws-00","ws-01","ws-02","ws-03","ws-04","ws-05","ws-06","ws-07","ws-08","ws-09"]}"#),
        "{raised}"
    );
    assert_eq!(
        details[&EventType::ConditionCleared],
        r#"{"code":"DesktopsUnhealthy","severity":"warning","since":"2026-11-20T12:00:00Z","until":"2026-11-20T12:03:00Z"}"#
    );
}

#[test]
fn silence_of_few_is_theirs_and_of_many_is_the_fleets() {
    let fleet = Fleet::new();
    for number in 0..10 {
        fleet.put(&format!("ws-{number}"), State::Available);
        fleet.report(&format!("ws-{number}"));
    }
    // Never reported, and so not missed.
    fleet.put("ws-new", State::Available);
    fleet.put("ws-off", State::Stopped);
    fleet.pass(1700);
    assert!(fleet.wrong().is_empty());
    for number in 1..10 {
        fleet.report(&format!("ws-{number}"));
    }
    fleet.pass(200);
    assert_eq!(fleet.wrong(), ["warning DesktopsSilent 1 ws-0"]);
    fleet.report("ws-1");
    fleet.pass(1700);
    let silent = &fleet.engine.conditions()[0];
    assert_eq!(
        (silent.code.as_str(), silent.count),
        ("FleetSilent", Some(9))
    );
    assert_eq!(silent.severity, Severity::Critical);
    assert!(
        silent.text.starts_with("Many of the AVAILABLE desktops"),
        "{}",
        silent.text
    );
    // After a week they are not missed any more.
    fleet.pass(8 * 24 * 3600);
    let wrong = fleet.wrong();
    assert!(
        !wrong.iter().any(|code| code.contains("Silent")),
        "{wrong:?}"
    );
}

#[test]
fn actions_without_news_and_failed_ones_are_conditions() {
    let fleet = Fleet::new();
    fleet.put("ws-1", State::Available);
    let id = fleet
        .engine
        .act(ActionRequest::reboot("ws-1"))
        .unwrap()
        .unwrap();
    fleet.pass(14 * 60);
    assert!(fleet.wrong().is_empty());
    fleet.pass(2 * 60);
    assert_eq!(fleet.wrong(), [format!("warning ActionsUnattended 1 {id}")]);
    fleet
        .engine
        .fail_action(id, FailedState::Error, Some("no host"))
        .unwrap();
    let failed = [
        "warning DesktopsUnhealthy 1 ws-1",
        "warning ActionsFailed 1 ws-1",
    ];
    assert_eq!(fleet.wrong(), failed);
    fleet.put("ws-1", State::Available);
    fleet.pass(3601);
    assert!(fleet.wrong().is_empty());
}

#[test]
fn slow_startups_keys_disk_and_the_host_are_conditions() {
    let fleet = Fleet::new();
    for number in 0..5 {
        let record = StartupRecord {
            instance_id: format!("ws-{number}").as_str().into(),
            total_ms: Some(300_000),
            ..StartupRecord::default()
        };
        fleet.engine.record(record).unwrap();
    }
    fleet.pass(30);
    assert_eq!(fleet.wrong(), ["warning LogonsSlow 5"]);
    fleet.pass(2 * 3600);
    let days = |days: i64| fleet.engine.now().plus_seconds(days * 24 * 3600);
    let short = NewKey::new("short", [Scope::Read]).expiring(days(3));
    let long = NewKey::new("long", [Scope::Read]).expiring(days(8));
    for key in [short, long] {
        fleet.engine.issue_key(key).unwrap();
    }
    assert!(fleet.wrong().is_empty(), "{:?}", fleet.wrong());
    fleet.pass(24 * 3600 + 1);
    assert_eq!(fleet.wrong(), ["warning KeysExpire 1"]);
    fleet.host.store(true, Ordering::Relaxed);
    fleet.free.store(1024, Ordering::Relaxed);
    let all = [
        "critical LowDisk",
        "warning KeysExpire 1",
        "warning BackupOld",
    ];
    assert_eq!(fleet.wrong(), all);
    fleet.free.store(u64::MAX, Ordering::Relaxed);
    fleet.host.store(false, Ordering::Relaxed);
    assert_eq!(fleet.wrong(), ["warning KeysExpire 1"]);
}

#[test]
fn condition_of_the_store_that_is_critical_makes_it_unready() {
    let fleet = Fleet::new();
    let codes = |all: Vec<Condition>| -> Vec<_> { all.into_iter().map(|of| of.code).collect() };
    // Of the fleet and the host, and not of the store.
    fleet.put("ws-1", State::Unhealthy);
    fleet.host.store(true, Ordering::Relaxed);
    // Little more than telemetry needs.
    fleet.free.store(33 << 20, Ordering::Relaxed);
    let found = codes(fleet.engine.conditions());
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(fleet.engine.is_ready() && fleet.engine.unready().is_empty());
    fleet.free.store(1024, Ordering::Relaxed);
    let unready = fleet.engine.unready();
    assert!(fleet.engine.conditions().starts_with(&unready));
    assert!(!fleet.engine.is_ready());
    let error = fleet.engine.ready().unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string()),
        (ErrorKind::LowDisk, unready[0].text.clone())
    );
    assert_eq!(codes(unready), ["LowDisk"]);
    // What cannot be read makes it unready too.
    fleet.engine.close().unwrap();
    assert_eq!(
        codes(fleet.engine.unready()),
        ["LowDisk", "StorageUnavailable"]
    );
}

#[test]
fn condition_that_lasts_is_not_raised_again_by_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fleet.redb");
    let clock = ManualClock::new(NOW.parse().unwrap());
    for round in 0..2 {
        let engine = Engine::builder()
            .clock(clock.clone())
            .seed(1)
            .open(&path)
            .unwrap();
        if round == 0 {
            let workspace = Workspace {
                id: "ws-1".to_owned(),
                state: Some(State::Error.into()),
                ..Workspace::default()
            };
            engine.put_workspace(workspace).unwrap();
        }
        clock.advance_seconds(90);
        engine.maintain().unwrap();
        let raised = engine.events(Some(0)).map(Result::unwrap);
        let raised = raised.filter(|event| event.kind == EventType::ConditionRaised);
        assert_eq!(raised.count(), 1, "round {round}");
        engine.close().unwrap();
    }
}
