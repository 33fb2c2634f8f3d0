//! The typed calls of the host, by name: JSON in, JSON out.

use deskfleet::{
    ActionQuery, ActionState, Attempt, Engine, EngineError, FailedState, NewKey, Scope, Stream,
    TelemetrySelection, Timestamp, Workspace, query::moment,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Events that are read at a time.
const EVENTS_READ: usize = 100;

/// The result of a call, as JSON.
type JsonResult = Result<String, Failure>;

/// The names for [`run`].
pub const NAMES: [&str; 19] = [
    "putWorkspaces",
    "importWorkspaces",
    "placeHold",
    "releaseHold",
    "issueKey",
    "revokeKey",
    "keys",
    "actions",
    "pendingActions",
    "dispatchAction",
    "noteAction",
    "completeAction",
    "failAction",
    "removeTelemetry",
    "filePending",
    "maintain",
    "queueCount",
    "ask",
    "readEvents",
];

/// Runs the operation of that name.
///
/// # Errors
/// Those of the engine; `InvalidArgument` when the argument is not valid for the operation.
pub fn run(engine: &Engine, name: &str, json: &str) -> JsonResult {
    match name {
        "putWorkspaces" => {
            let workspaces: Vec<Workspace> = argument(json)?;
            to_json(&engine.put_workspaces(workspaces)?)
        }
        "importWorkspaces" => {
            let mut import = engine.import();
            import.push(json.as_bytes())?;
            to_json(&import.finish()?)
        }
        "placeHold" => {
            let hold: Hold = argument(json)?;
            let reason = hold.reason.as_deref();
            done(engine.place_hold(&hold.work_space_id, &hold.matter, reason))
        }
        "releaseHold" => done(engine.release_hold(&argument::<String>(json)?)),
        "issueKey" => issue_key(engine, argument(json)?),
        "revokeKey" => revoke_key(engine, &argument(json)?),
        "keys" => to_json(&engine.keys()),
        "actions" => actions(engine, argument(json)?),
        "pendingActions" => to_json(&engine.pending_actions()?),
        "dispatchAction" => {
            let (id, number, provider, instance): (u64, u32, String, Option<String>) =
                argument(json)?;
            let mut attempt = Attempt::new(number, provider);
            attempt.instance = instance;
            to_json(&engine.dispatch_action(id, attempt)?)
        }
        "noteAction" => {
            let (id, attempt, request_id): (u64, u32, String) = argument(json)?;
            done(engine.note_action(id, attempt, &request_id))
        }
        "completeAction" => done(engine.complete_action(argument(json)?)),
        "failAction" => fail_action(engine, &argument(json)?),
        "removeTelemetry" => remove_telemetry(engine, argument(json)?),
        "filePending" => to_json(&engine.file_pending()?),
        "maintain" => done(engine.maintain()),
        "queueCount" => to_json(&engine.queue_count()),
        "ask" => ask(engine, &argument(json)?),
        "readEvents" => read_events(engine, argument(json)?),
        _ => Err(Failure::argument("there is no such operation")),
    }
}

fn argument<T: DeserializeOwned>(json: &str) -> Result<T, Failure> {
    serde_json::from_slice(json.as_bytes()).map_err(|error| Failure::argument(error.to_string()))
}

fn to_json(value: &impl Serialize) -> JsonResult {
    serde_json::to_string(value).map_err(|error| Failure::internal(error.to_string()))
}

fn done(result: Result<(), EngineError>) -> JsonResult {
    result.map(|()| "null".to_owned()).map_err(Failure::from)
}

/// Question, query and body: an array, as reading one takes less code than an object.
type Asked = [String; 3];

fn ask(engine: &Engine, [question, query, body]: &Asked) -> JsonResult {
    let answer = engine.ask(question, query, body.as_bytes())?;
    String::from_utf8(answer).map_err(|error| Failure::internal(error.to_string()))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Hold {
    work_space_id: String,
    matter: String,
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyToIssue {
    name: String,
    scopes: Vec<Scope>,
    expires: Option<Timestamp>,
}

fn issue_key(engine: &Engine, key: KeyToIssue) -> JsonResult {
    to_json(&engine.issue_key(NewKey::new(key.name, key.scopes).expiring(key.expires))?)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyToRevoke {
    id: u64,
    #[serde(default)]
    force: bool,
}

fn revoke_key(engine: &Engine, key: &KeyToRevoke) -> JsonResult {
    done(if key.force {
        engine.force_revoke_key(key.id)
    } else {
        engine.revoke_key(key.id)
    })
}

/// State, workspace, limit and token of a page of the outbox.
type ActionsAsked = (Option<String>, Option<String>, Option<u32>, Option<String>);

fn actions(engine: &Engine, asked: ActionsAsked) -> JsonResult {
    let (state, workspace_id, limit, next_token) = asked;
    let default = ActionQuery::default();
    let state = match state.as_deref() {
        None => default.state,
        Some("pending") => ActionState::Pending,
        Some("waiting") => ActionState::Waiting,
        Some("dispatched") => ActionState::Dispatched,
        Some(_) => {
            let message = "the state must be pending, waiting or dispatched";
            return Err(Failure::argument(message));
        }
    };
    let limit = limit.unwrap_or(default.limit);
    let page = engine.actions(&ActionQuery {
        state,
        workspace_id,
        limit,
        next_token,
    })?;
    // An array, as writing one takes less code than an object.
    to_json(&(page.actions, page.next_token))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Failed {
    id: u64,
    state: Option<FailedAs>,
    detail: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum FailedAs {
    Error,
    Unhealthy,
}

fn fail_action(engine: &Engine, failed: &Failed) -> JsonResult {
    let state = match failed.state {
        Some(FailedAs::Unhealthy) => FailedState::Unhealthy,
        Some(FailedAs::Error) | None => FailedState::Error,
    };
    done(engine.fail_action(failed.id, state, failed.detail.as_deref()))
}

/// Instance, stream and time.
type Selected = (Option<String>, Option<String>, Option<String>);

fn remove_telemetry(engine: &Engine, (instance_id, stream, before): Selected) -> JsonResult {
    let named = |name: String| {
        let found = Stream::ALL.into_iter().find(|stream| stream.name() == name);
        found.ok_or_else(|| {
            Failure::argument("the stream must be stats, activity, startup or processes")
        })
    };
    let time = |text: String| {
        let message = "before must be a date-time or a time before now, such as -30d";
        moment(&text, engine.now()).ok_or_else(|| Failure::argument(message))
    };
    to_json(&engine.remove_telemetry(&TelemetrySelection {
        instance_id,
        stream: stream.map(named).transpose()?,
        before: before.map(time).transpose()?,
    })?)
}

fn read_events(engine: &Engine, after: Option<u64>) -> JsonResult {
    let mut stream = engine.events(after);
    let mut json = r#"{"events":["#.to_owned();
    for (number, event) in stream.by_ref().take(EVENTS_READ).enumerate() {
        if number > 0 {
            json.push(',');
        }
        json.push_str(&event?.to_json());
    }
    json.push_str(r#"],"position":"#);
    json.push_str(&stream.position().to_string());
    json.push('}');
    Ok(json)
}
