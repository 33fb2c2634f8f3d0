//! The workspaces and records that cases store, and their JSON in responses.

use deskfleet::{
    ActivityRecord, Engine, NewKey, ProcessReport, Record, Scope, StartupRecord, StatsRecord,
    Workspace,
};

/// An AVAILABLE workspace with no other field.
pub fn workspace(id: &str) -> Workspace {
    Workspace {
        id: id.to_owned(),
        state: Some("AVAILABLE".into()),
        ..Workspace::default()
    }
}

/// A workspace in a state, of a user, in `AUTO_STOP`, of type STANDARD.
pub fn desk(id: &str, state: &str, username: &str) -> Workspace {
    Workspace {
        id: id.to_owned(),
        computer_name: Some(format!("PC-{id}")),
        running_mode: Some("AUTO_STOP".into()),
        compute_type_name: Some("STANDARD".into()),
        username: Some(username.to_owned()),
        state: Some(state.into()),
        ..Workspace::default()
    }
}

/// A workspace with every field.
pub fn full(id: &str) -> Workspace {
    let text = |value: &str| Some(value.to_owned());
    Workspace {
        id: id.to_owned(),
        computer_name: text("WSAMZN-4F7Q2L9A"),
        account: text("123456789012"),
        region: text("eu-central-1"),
        directory_id: text("d-9067012345"),
        running_mode: Some("AUTO_STOP".into()),
        compute_type_name: Some("STANDARD".into()),
        protocol: Some("WSP".into()),
        username: text("jdoe"),
        state: Some("AVAILABLE".into()),
    }
}

/// `ws-0001`, `ws-0002`, …
pub fn fleet(count: usize) -> impl Iterator<Item = Workspace> {
    (1..=count).map(|number| workspace(&format!("ws-{number:04}")))
}

/// How a workspace is written.
pub fn details(workspace: &Workspace) -> String {
    let names = [
        "workSpId",
        "computerName",
        "account",
        "region",
        "directoryId",
        "runningMode",
        "computeTypeName",
        "protocol",
        "username",
        "state",
    ];
    let members = names.iter().zip(workspace.values()).map(|(name, value)| {
        let value = value.map_or_else(|| "null".to_owned(), |text| format!("{text:?}"));
        format!("\"{name}\":{value}")
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// How a page is written; `next` is a pattern, empty on the last page.
pub fn page(workspaces: &[Workspace], next: &str) -> String {
    let items = workspaces.iter().map(details).collect::<Vec<_>>().join(",");
    if next.is_empty() {
        return format!(r#"{{"workSpaces":[{items}],"nextToken":null,"hasMore":false}}"#);
    }
    format!(r#"{{"workSpaces":[{items}],"nextToken":"{next}","hasMore":true}}"#)
}

/// An activity of a user on an instance.
pub fn activity(instance: &str, username: &str, what: &str, time: &str) -> Record {
    Record::Activity(Box::new(ActivityRecord {
        username: username.into(),
        activity: what.into(),
        activity_time: Some(time.parse().expect("a date-time")),
        instance_id: instance.into(),
        ..ActivityRecord::default()
    }))
}

/// Statistics of an instance.
pub fn stats(instance: &str, username: &str, id: i32, time: &str) -> Record {
    Record::Stats(Box::new(StatsRecord {
        id: Some(id),
        update_time: Some(time.parse().expect("a date-time")),
        username: username.into(),
        instance_id: instance.into(),
        ..StatsRecord::default()
    }))
}

/// Startup timings of an instance.
pub fn startup(instance: &str, username: &str, id: i32, time: &str) -> Record {
    Record::Startup(Box::new(StartupRecord {
        id: Some(id),
        username: username.into(),
        baseline_utc: Some(time.parse().expect("a date-time")),
        instance_id: instance.into(),
        ..StartupRecord::default()
    }))
}

/// A process report of an instance, without items.
pub fn processes(instance: &str, username: &str, time: &str) -> Record {
    Record::Processes(Box::new(ProcessReport {
        username: username.into(),
        created_date: Some(time.parse().expect("a date-time")),
        processes: Some(Vec::new()),
        instance_id: instance.into(),
        ..ProcessReport::default()
    }))
}

/// The secret of a new key of this name with this scope.
///
/// # Panics
/// If the engine refuses it.
pub fn secret(engine: &Engine, name: &str, scope: Scope) -> String {
    let key = NewKey::new(name, [scope]);
    engine.issue_key(key).expect("a new key").secret
}
