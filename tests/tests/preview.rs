//! A preview equals what then happens over the interface: for every action in every situation.

use bytes::Bytes;
use deskfleet::{
    Action, ActionDriver, ActionRequest, AuditAction, AuditResult, Config, Engine, ManualClock,
    NewKey, Scope, State, Workspace,
    query::{PreviewQuery, PreviewRow},
};
use http::{Method, Request};
use serde_json::Value;

const STUCK_SECONDS: i64 = 20 * 60 + 1;
const TYPES: [&str; 8] = [
    "VALUE",
    "STANDARD",
    "power",
    "GRAPHICS",
    "GRAPHICSPRO",
    "GRAPHICS_G4DN",
    "GRAPHICSPRO_G4DN",
    "SOMETHING",
];

struct Fleet {
    engine: Engine,
    clock: ManualClock,
    key: String,
    ids: Vec<String>,
}

/// One workspace in its situation, on which one action is asked for.
#[derive(Debug, Clone, Copy)]
struct Situation {
    state: Option<&'static str>,
    mode: Option<&'static str>,
    old_type: Option<&'static str>,
    held: bool,
    /// The action that runs; the state is the one before it.
    running: Option<Action>,
}

impl Fleet {
    fn new() -> Self {
        let clock = ManualClock::new("2026-11-20T08:00:00Z".parse().unwrap());
        let mut config = Config::default();
        // No action ends by itself.
        config.actions.driver = ActionDriver::Host;
        let builder = Engine::builder().clock(clock.clone()).seed(1);
        let engine = builder.config(config).open_in_memory().unwrap();
        let key = NewKey::new("desk", [Scope::Act]);
        let key = engine.issue_key(key).unwrap().secret;
        Self {
            engine,
            clock,
            key,
            ids: Vec::new(),
        }
    }

    /// Puts a workspace in; returns its id.
    fn put(&mut self, situation: Situation) -> String {
        let id = format!("ws-{}", self.ids.len());
        let text = |text: Option<&str>| text.map(str::to_owned);
        let workspace = Workspace {
            id: id.clone(),
            state: situation.state.map(Into::into),
            running_mode: situation.mode.map(Into::into),
            compute_type_name: text(situation.old_type).map(Into::into),
            ..Workspace::default()
        };
        self.engine.put_workspace(workspace).unwrap();
        if let Some(action) = situation.running {
            let mut request = ActionRequest::new(action, &id);
            request.compute_type = Some("PERFORMANCE".into());
            self.engine.act(request).unwrap();
        }
        if situation.held {
            self.engine.place_hold(&id, "matter", None).unwrap();
        }
        self.ids.push(id.clone());
        id
    }

    fn ask(&self, method: &Method, target: &str, body: String) -> (u16, Value) {
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header("x-api-key", &self.key)
            .header("content-type", "application/json");
        let response = self.engine.handle(request.body(body.into()).unwrap());
        let json = |body: &Bytes| serde_json::from_slice(body).unwrap_or_default();
        (response.status().as_u16(), json(response.body()))
    }

    fn state(&self, id: &str) -> Option<String> {
        let found = self.engine.workspace(id).unwrap();
        found.and_then(|view| view.workspace.state.map(String::from))
    }

    /// Number of the newest audit row, and the actions that run.
    fn written(&self) -> (Option<u64>, usize) {
        let newest = self.engine.admin_activity(1).unwrap();
        let running = self.engine.pending_actions().unwrap();
        (newest.first().map(|row| row.id), running.len())
    }

    /// Previews the action on the workspaces, over the interface and from Rust.
    fn preview(
        &self,
        action: Action,
        compute_type: Option<&str>,
        ids: &[String],
    ) -> Vec<PreviewRow> {
        let before = self.written();
        let body = serde_json::json!({"action": action.as_str(), "workSpaceIds": ids, "computeType": compute_type});
        let (status, answer) = self.ask(&Method::POST, "/query/preview", body.to_string());
        assert_eq!(status, 200, "{answer}");
        let query = PreviewQuery {
            action,
            workspace_ids: ids.to_vec(),
            compute_type: compute_type.map(str::to_owned),
        };
        let rows = self.engine.query(&query).unwrap().rows;
        for (row, asked) in rows.iter().zip(answer["rows"].as_array().unwrap()) {
            let same = serde_json::json!({
                "workSpaceId": row.work_space_id,
                "outcome": row.outcome.as_str(),
                "code": row.code,
                "state": row.state,
                "wouldBecome": row.would_become.map(State::as_str),
                "simulated": false,
            });
            assert_eq!(*asked, same);
        }
        assert_eq!(rows.len(), ids.len());
        assert_eq!(self.written(), before, "a preview writes nothing");
        rows
    }

    /// Does what was previewed, and compares.
    fn act(&self, action: Action, compute_type: Option<&str>, row: &PreviewRow, seen: &str) {
        let id = &row.work_space_id;
        assert_eq!(self.state(id), row.state, "{seen}");
        let before = self.written().1;
        let new = compute_type.map_or_else(String::new, |new| format!("&computeType={new}"));
        let target = format!("/api/Actions/{action}?workSpaceId={id}{new}");
        let (status, answer) = self.ask(&Method::POST, &target, String::new());
        let code = answer["code"].as_str();
        assert_eq!(code, row.code, "{seen}");
        assert_eq!(status == 200, code.is_none(), "{seen}");
        if row.outcome == AuditResult::Accepted {
            assert_eq!(
                self.state(id).as_deref(),
                row.would_become.map(State::as_str),
                "{seen}"
            );
        } else {
            assert_eq!(row.would_become, None, "{seen}");
            assert_eq!(self.state(id), row.state, "{seen}");
            assert_eq!(self.written().1, before, "{seen}");
        }
    }

    /// Makes a workspace for each situation, previews the action on all of them, and does it.
    fn compare(
        &mut self,
        action: Action,
        compute_type: Option<&str>,
        situations: &[Situation],
        age: i64,
    ) -> [usize; 3] {
        let ids: Vec<String> = situations.iter().map(|each| self.put(*each)).collect();
        self.clock.advance_seconds(age);
        let rows = self.preview(action, compute_type, &ids);
        let mut outcomes = [0; 3];
        for (row, situation) in rows.iter().zip(situations) {
            assert_eq!(row.code.is_some(), row.outcome == AuditResult::Refused);
            let seen = format!("{action} {compute_type:?} after {age} s in {situation:?}: {row:?}");
            self.act(action, compute_type, row, &seen);
            outcomes[match row.outcome {
                AuditResult::Accepted => 0,
                AuditResult::NoChange => 1,
                AuditResult::Refused => 2,
                AuditResult::Completed | AuditResult::Failed | AuditResult::Cancelled | _ => {
                    panic!("{seen}")
                }
            }] += 1;
        }
        outcomes
    }
}

/// Every state, known or not, with every mode, held or not; and every running action that can begin.
fn situations() -> Vec<Situation> {
    let states = State::ALL.iter().map(|state| Some(state.as_str()));
    let states: Vec<_> = states.chain([Some("DREAMING"), None]).collect();
    let mut situations = Vec::new();
    for held in [false, true] {
        for state in &states {
            for mode in [Some("AUTO_STOP"), Some("ALWAYS_ON"), Some("manual"), None] {
                situations.push(Situation {
                    state: *state,
                    mode,
                    old_type: Some("STANDARD"),
                    held,
                    running: None,
                });
            }
        }
        for action in Action::ALL {
            situations.push(Situation {
                state: Some("STOPPED")
                    .filter(|_| *action == Action::Start)
                    .or(Some("AVAILABLE")),
                mode: Some("AUTO_STOP"),
                old_type: Some("STANDARD"),
                held,
                running: Some(*action),
            });
        }
    }
    situations
}

#[test]
fn preview_of_every_action_in_every_situation_equals_what_then_happens() {
    let mut fleet = Fleet::new();
    let situations = situations();
    for action in Action::ALL {
        let new = Some("POWER").filter(|_| *action == Action::ChangeComputeType);
        let mut outcomes = [0; 3];
        for age in [0, STUCK_SECONDS] {
            let seen = fleet.compare(*action, new, &situations, age);
            outcomes
                .iter_mut()
                .zip(seen)
                .for_each(|(all, seen)| *all += seen);
        }
        let [accepted, _, refused] = outcomes;
        assert!(accepted > 0 && refused > 0, "{action}: {outcomes:?}");
    }
}

#[test]
fn preview_of_every_change_of_the_compute_type_equals_what_then_happens() {
    let mut fleet = Fleet::new();
    let mut outcomes = [0; 3];
    for new in TYPES.into_iter().filter(|new| *new != "SOMETHING") {
        let mut situations = Vec::new();
        for state in ["AVAILABLE", "STOPPED", "ERROR"] {
            for old_type in TYPES.into_iter().map(Some).chain([None]) {
                situations.push(Situation {
                    state: Some(state),
                    mode: None,
                    old_type,
                    held: true,
                    running: None,
                });
            }
        }
        let seen = fleet.compare(Action::ChangeComputeType, Some(new), &situations, 0);
        outcomes
            .iter_mut()
            .zip(seen)
            .for_each(|(all, seen)| *all += seen);
    }
    assert!(outcomes.iter().all(|count| *count > 0), "{outcomes:?}");
}

#[test]
fn preview_sees_what_is_due_and_what_is_no_longer_listed() {
    let mut fleet = Fleet::new();
    let terminated = Situation {
        state: Some("TERMINATED"),
        mode: None,
        old_type: None,
        held: false,
        running: None,
    };
    let id = fleet.put(terminated);
    let rows = fleet.preview(Action::Terminate, None, std::slice::from_ref(&id));
    assert_eq!(rows[0].outcome, AuditResult::NoChange);
    fleet.clock.advance_seconds(8 * 24 * 3600);
    let rows = fleet.preview(Action::Terminate, None, std::slice::from_ref(&id));
    assert_eq!(rows[0].code, Some("WorkSpaceNotFound"));
    fleet.act(Action::Terminate, None, &rows[0], "terminated long ago");
}

#[test]
fn preview_of_a_limited_key_refuses_as_the_action_does() {
    let mut fleet = Fleet::new();
    let mut key = NewKey::new("rebooter", [Scope::Act]);
    key.limits.actions = Some(vec![AuditAction::Lifecycle(Action::Reboot)]);
    fleet.key = fleet.engine.issue_key(key).unwrap().secret;
    let known = fleet.put(Situation {
        state: Some("AVAILABLE"),
        mode: None,
        old_type: None,
        held: false,
        running: None,
    });
    for id in [known.as_str(), "ws-unknown"] {
        let body = serde_json::json!({"action": "TerminateWorkSpace", "workSpaceIds": [id]});
        let (_, seen) = fleet.ask(&Method::POST, "/query/preview", body.to_string());
        let target = format!("/api/Actions/TerminateWorkSpace?workSpaceId={id}");
        let (_, refused) = fleet.ask(&Method::POST, &target, String::new());
        assert_eq!(refused["code"], "InsufficientScope", "{id}");
        assert_eq!(seen["rows"][0]["code"], refused["code"], "{id}");
    }
}
