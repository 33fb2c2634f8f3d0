//! All that a node holds, as text: two nodes that applied the same have the same.

use std::fmt::{Debug, Write as _};

use deskfleet::{AuditQuery, Engine, HistoryQuery, Result, Stream, WorkspaceList};

use super::steps::{DESKS, INSTANCES, USERS};
use crate::events::kept;

/// Questions whose answers come from what was filed.
const QUESTIONS: [(&str, &str); 9] = [
    ("fleet", ""),
    ("workspaces", ""),
    ("holds", ""),
    ("top", "metric=cpu"),
    ("processes", ""),
    ("advice", ""),
    ("series", "metrics=cpu"),
    ("startup", ""),
    ("heatmap", ""),
];

fn line(text: &mut String, name: &str, value: &impl Debug) {
    let _ = writeln!(text, "{name}: {value:?}");
}

/// What does not depend on what is filed: workspaces, holds, actions, audit, keys, events, the settings of the fleet.
///
/// # Errors
/// Those of the engine.
pub fn shared(engine: &Engine) -> Result<String> {
    let mut text = String::new();
    for list in [WorkspaceList::All, WorkspaceList::OnHold] {
        for workspace in engine.all_workspaces(list.clone()) {
            line(&mut text, "workspace of a list", &workspace?.id);
        }
    }
    for id in DESKS {
        line(&mut text, id, &engine.workspace(id)?);
    }
    for state in ["available", "stopped", "rebooting", "error"] {
        let asked = engine.ask("workspaces", &format!("state={state}&fields=workSpId"), b"")?;
        line(&mut text, state, &String::from_utf8_lossy(&asked));
    }
    for pending in engine.pending_actions()? {
        line(&mut text, "pending", &pending);
    }
    for row in engine.all_audit(AuditQuery::default()) {
        line(&mut text, "audit", &row?);
    }
    for mut key in engine.keys() {
        key.last_used = None;
        line(&mut text, "key", &key);
    }
    for event in kept(engine)? {
        line(&mut text, "event", &event);
    }
    line(&mut text, "settings", &engine.foreign_settings()?);
    Ok(text)
}

/// All, once everything is filed.
///
/// # Errors
/// Those of the engine.
pub fn whole(engine: &Engine) -> Result<String> {
    while engine.file_pending()? > 0 {}
    let mut text = shared(engine)?;
    for key in engine.keys() {
        line(&mut text, "last use", &(key.id, key.last_used));
    }
    line(&mut text, "queued", &engine.queue_count());
    for stream in Stream::ALL {
        for instance in INSTANCES {
            for record in engine.all_history(HistoryQuery::new(stream, instance)) {
                line(&mut text, instance, &record?);
            }
        }
    }
    for user in USERS {
        line(&mut text, user, &engine.user(user)?);
    }
    line(&mut text, "24 hours", &engine.activity_24_hours()?);
    for (question, query) in QUESTIONS {
        let answer = comparable(&engine.ask(question, query, b"")?);
        line(&mut text, question, &answer);
    }
    line(&mut text, "problems", &engine.check()?.problems);
    Ok(text)
}

/// An answer without what each node says of itself alone: how long its file is, and what went through it of late.
fn comparable(answer: &[u8]) -> String {
    let mut answer: serde_json::Value = serde_json::from_slice(answer).unwrap_or_default();
    if let Some(members) = answer.as_object_mut() {
        members.remove("storeBytes");
        members.remove("recordsPerSecond");
    }
    answer.to_string()
}

/// The first line in which two texts differ.
pub fn difference(left: &str, right: &str) -> Option<String> {
    let mut rights = right.lines();
    for left in left.lines() {
        let right = rights.next().unwrap_or("nothing");
        if left != right {
            return Some(format!("{left}\n  against {right}"));
        }
    }
    rights
        .next()
        .map(|right| format!("nothing\n  against {right}"))
}
