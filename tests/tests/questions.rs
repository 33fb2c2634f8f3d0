//! Questions that examine more than one page or one answer may: they end early, say so, and leave nothing out.

use bytes::Bytes;
use deskfleet::limits::{
    ADVICE_DAYS_EXAMINED_MAX, AUDIT_ROWS_EXAMINED_MAX, PAGE_TEXT_BYTES_MAX,
    PROCESS_ITEMS_EXAMINED_MAX, PROCESS_ITEMS_MAX, WORKSPACE_FIELD_MAX,
};
use deskfleet::{
    ActionRequest, ActivityRecord, CommitDriver, Config, Engine, ManualClock, NewKey, Paging,
    ProcessItem, ProcessReport, Record, Scope, Timestamp, Workspace,
    query::{AdviceQuery, ProcessesQuery, TimelineQuery, WorkspaceRowsQuery},
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::{fleet, workspace};
use serde_json::Value;

fn open() -> (Engine, ManualClock) {
    let clock = ManualClock::new(NOW.parse().unwrap());
    let mut config = Config::default();
    config.commit_driver = CommitDriver::Host;
    let builder = Engine::builder().clock(clock.clone()).seed(7);
    (builder.config(config).open_in_memory().unwrap(), clock)
}

#[test]
fn page_of_advice_examines_a_bounded_number_of_days() {
    let (engine, clock) = open();
    // In this state there is no advice about a desktop that never reported.
    let gone = |workspace: Workspace| Workspace {
        state: Some("TERMINATED".into()),
        ..workspace
    };
    let desktops = ADVICE_DAYS_EXAMINED_MAX / 31 + 100;
    let now: Timestamp = NOW.parse().unwrap();
    clock.set(now.plus_seconds(-7 * 86_400));
    engine.put_workspace(workspace("zz-idle")).unwrap();
    clock.set(now);
    engine
        .put_workspaces(fleet(desktops).map(gone).collect())
        .unwrap();
    let first = engine.query(&AdviceQuery::default()).unwrap();
    assert!(first.rows.is_empty());
    let paging = Paging {
        next_token: first.next_token,
        ..Paging::default()
    };
    assert!(paging.next_token.is_some());
    let query = AdviceQuery {
        paging,
        ..AdviceQuery::default()
    };
    let second = engine.query(&query).unwrap();
    assert_eq!(second.rows.len(), 1);
    assert_eq!(second.rows[0].workspace_id, "zz-idle");
    assert_eq!(second.next_token, None);

    // A window of which one desktop alone has more than that is cut, and a page examines one desktop at least.
    let year = AdviceQuery {
        from: Some(Timestamp::MIN),
        paging: Paging {
            limit: 1,
            ..Paging::default()
        },
        ..AdviceQuery::default()
    };
    let page = engine.query(&year).unwrap();
    assert!(
        page.warnings
            .iter()
            .any(|message| message.contains("are left out"))
    );
}

#[test]
fn page_of_columns_with_much_text_ends_early() {
    let (engine, _) = open();
    let long = |text: &str| Some(text.repeat(WORKSPACE_FIELD_MAX));
    let wordy = |workspace: Workspace| Workspace {
        computer_name: long("c"),
        username: long("\u{10ffff}"),
        running_mode: Some("\u{1}".repeat(WORKSPACE_FIELD_MAX).into()),
        compute_type_name: Some("t".repeat(WORKSPACE_FIELD_MAX).into()),
        region: long("r"),
        ..workspace
    };
    engine
        .put_workspaces(fleet(3000).map(wordy).collect())
        .unwrap();
    let key = NewKey::new("reader", [Scope::Read]);
    let key = engine.issue_key(key).unwrap();
    let (mut ids, mut counts, mut query) = (Vec::new(), Vec::new(), String::new());
    loop {
        let request = http::Request::get(format!(
            "/query/workspaces?format=columns&fields=workSpId&limit=5000{query}"
        ));
        let request = request.header("x-api-key", &key.secret);
        let response = engine.handle(request.body(Bytes::new()).unwrap());
        let page: Value = serde_json::from_slice(response.body()).unwrap();
        let page_ids = page["columns"]["workSpId"].as_array().unwrap().iter();
        ids.extend(page_ids.map(|id| id.as_str().unwrap().to_owned()));
        counts.push(page["count"].as_u64().unwrap());
        let Some(token) = page["nextToken"].as_str() else {
            break;
        };
        query = format!("&nextToken={token}");
    }
    let all: Vec<_> = fleet(3000).map(|workspace| workspace.id).collect();
    assert_eq!(ids, all);
    assert!(counts.len() > 1, "{counts:?}");
    let texts = WORKSPACE_FIELD_MAX as u64 * 8;
    let most = PAGE_TEXT_BYTES_MAX as u64 / texts + 1;
    assert!(
        counts.iter().all(|count| (1..=most).contains(count)),
        "{counts:?}"
    );
    // From Rust a page has what was asked for.
    let query = WorkspaceRowsQuery {
        paging: Paging {
            limit: 5000,
            ..Paging::default()
        },
        ..WorkspaceRowsQuery::default()
    };
    assert_eq!(engine.query(&query).unwrap().rows.len(), 3000);
}

#[test]
fn processes_of_many_reports_are_those_of_the_newest_day() {
    let (engine, _) = open();
    let items = |name: &str| {
        let item = ProcessItem {
            process_name: Some(name.to_owned()),
            ..ProcessItem::default()
        };
        Some(vec![item; PROCESS_ITEMS_MAX])
    };
    let report = |name: &str, time: &str| ProcessReport {
        created_date: time.parse().ok(),
        instance_id: "ws-1".into(),
        processes: items(name),
        ..ProcessReport::default()
    };
    let record = |report: ProcessReport| {
        let posted = engine.record_async(Record::Processes(Box::new(report)));
        engine.commit_pending();
        drop(posted);
    };
    record(report("old", "2026-11-18T08:00:00Z"));
    let reports = PROCESS_ITEMS_EXAMINED_MAX / PROCESS_ITEMS_MAX + 20;
    for number in 0..reports {
        let time = format!("2026-11-20T08:{:02}:{:02}Z", number / 60, number % 60);
        record(report("new", &time));
    }
    engine.file_pending().unwrap();
    let query = ProcessesQuery {
        from: "2026-11-18T00:00:00Z".parse().ok(),
        ..ProcessesQuery::default()
    };
    let page = engine.query(&query).unwrap();
    assert_eq!(page.rows.len(), 1, "{:?}", page.rows);
    assert_eq!(page.rows[0].process_name, "new");
    let warning = page.warnings.concat();
    assert!(warning.contains("not all of 2026-11-20"), "{warning}");
    let old = ProcessesQuery {
        to: "2026-11-19T00:00:00Z".parse().ok(),
        ..query
    };
    let page = engine.query(&old).unwrap();
    assert_eq!(page.rows[0].process_name, "old");
    assert!(page.warnings.is_empty());
}

/// Between two calls about `ws-1` are more about others than a page examines; its activities are in the same order.
#[test]
fn timeline_goes_on_behind_a_long_audit_of_others() {
    let (engine, clock) = open();
    let others = 1000;
    engine.put_workspaces(fleet(others).collect()).unwrap();
    engine.put_workspace(workspace("ws-1")).unwrap();
    let act = || {
        engine.record(activity("early", &clock)).unwrap();
        let acted = engine.act_async(ActionRequest::reboot("ws-1"));
        engine.commit_pending();
        drop(acted);
        clock.advance_seconds(300);
    };
    act();
    for _ in 0..=AUDIT_ROWS_EXAMINED_MAX / others {
        let reboots: Vec<_> = fleet(others)
            .map(|desktop| engine.act_async(ActionRequest::reboot(desktop.id)))
            .collect();
        engine.commit_pending();
        drop(reboots);
        clock.advance_seconds(300);
    }
    act();
    let mut query = TimelineQuery::new("ws-1");
    let (mut pages, mut story) = (0, Vec::new());
    loop {
        let page = engine.query(&query).unwrap();
        assert!(page.warnings.is_empty());
        pages += 1;
        story.extend(page.rows);
        query.paging.next_token = page.next_token;
        if query.paging.next_token.is_none() {
            break;
        }
    }
    assert!(pages > 1);
    let kinds: Vec<&str> = story.iter().map(|row| row.kind.as_str()).collect();
    // At the same moment as the first call the workspace was put; records come behind calls.
    let first = ["state", "audit", "state", "audit", "activity"];
    assert_eq!(
        kinds,
        [&["state", "audit", "activity"][..], &first].concat()
    );
    assert!(story.is_sorted_by(|a, b| a.at >= b.at));
}

fn activity(what: &str, clock: &ManualClock) -> Record {
    use deskfleet::Clock as _;
    Record::Activity(Box::new(ActivityRecord {
        activity: what.into(),
        activity_time: Some(clock.now()),
        instance_id: "ws-1".into(),
        ..ActivityRecord::default()
    }))
}
