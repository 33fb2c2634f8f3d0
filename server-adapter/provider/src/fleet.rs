//! The operator surface of a deskfleet server, as far as a provider needs it.

mod audit;

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deskfleet::locks::lock;
use deskfleet::{Action, Timestamp};
use http::{HeaderValue, Method, Request};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use ureq::Agent;

use super::trace::Trace;
use deskfleet_client::transport::{Bounds, agent, send};
use deskfleet_server::{LogQueue, PageTokens, Problem, RepeatedToken, machine_name, read_api_key};

/// What is noted of an attempt that was refused, in place of a request id.
pub(super) const REFUSED: &str = "refused";
const LEASES: &str = "/operator/leases";
/// Actions on a page.
const PAGE: u32 = 500;
/// Refused records of one import that are in the log.
const IMPORT_ERRORS_SAID: usize = 10;
/// Time for one request: a server that writes to a slow disk takes seconds.
const REQUEST_TIME: Duration = Duration::from_secs(30);
/// Time to connect.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// A server, and the key to use there.
#[derive(Clone)]
pub(super) struct Fleet {
    agent: Agent,
    /// Without a slash at its end.
    url: String,
    key_file: PathBuf,
    /// As the file had it last.
    key: Arc<Mutex<HeaderValue>>,
    /// Of this process alone: another one of the same name does not begin the attempts of this one.
    instance: String,
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// An action that has not ended.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Pending {
    pub(super) id: u64,
    pub(super) action: String,
    #[serde(rename = "workSpaceId")]
    pub(super) workspace_id: String,
    pub(super) due_at: Option<Timestamp>,
    pub(super) compute_type: Option<String>,
    pub(super) attempts: u32,
    pub(super) last_attempt_at: Option<Timestamp>,
    pub(super) provider: Option<String>,
    pub(super) note: Option<String>,
}

impl Pending {
    /// What was asked for; `None` for what a newer server knows.
    pub(super) fn action(&self) -> Option<Action> {
        Action::named(&self.action)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Actions {
    actions: Vec<Pending>,
    next_token: Option<String>,
}

/// A desktop of the inventory.
#[derive(Debug)]
pub(super) struct Desktop {
    pub(super) id: String,
    pub(super) state: Option<String>,
    pub(super) record: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Desktops {
    work_spaces: Vec<Value>,
    next_token: Option<String>,
}

#[derive(Deserialize)]
struct ImportReport {
    upserted: u64,
    errors: Vec<LineError>,
}

#[derive(Deserialize)]
struct LineError {
    line: u64,
    message: String,
}

/// Why a request was not answered as asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// There is no answer, or one that says to try again.
    Unreachable(String),
    /// The answer is a problem with this status and code.
    Problem {
        status: u16,
        code: String,
        message: String,
    },
}

impl From<RepeatedToken> for Refusal {
    fn from(repeated: RepeatedToken) -> Self {
        Self::Unreachable(repeated.to_string())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(why) => f.write_str(why),
            Self::Problem {
                status,
                code,
                message,
            } => write!(f, "{status} {code}: {message}"),
        }
    }
}

impl Refusal {
    /// Whether the server has no such thing.
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, Self::Problem { status: 404, .. })
    }

    /// Whether something is in another state than the request needs.
    pub(super) fn is_of_state(&self) -> bool {
        matches!(self, Self::Problem { code, .. } if code == "InvalidResourceState")
    }

    /// For a person, where a first request was refused.
    pub(super) fn about_the_key(&self) -> String {
        let why = match self {
            Self::Unreachable(why) => why.clone(),
            Self::Problem { code, message, .. } => format!("{code}: {message}"),
        };
        match self {
            Self::Problem {
                status: 401 | 403, ..
            } => format!("{why}; the key is that of --key-file, and needs the scope admin"),
            Self::Problem { .. } | Self::Unreachable(_) => why,
        }
    }
}

impl Fleet {
    /// Connects to nothing yet.
    ///
    /// # Errors
    ///
    /// One sentence about the key or the CAs.
    pub(super) fn new(url: &str, key_file: &Path, ca: Option<&Path>) -> Result<Self, String> {
        let key = read_api_key(key_file).map_err(|error| error.to_string())?;
        Ok(Self {
            agent: agent_within(REQUEST_TIME, ca)?,
            url: url.trim_end_matches('/').to_owned(),
            key_file: key_file.to_owned(),
            key: Arc::new(Mutex::new(key)),
            instance: format!("{}/{}", machine(), Trace::new()),
        })
    }

    /// The same process, whose requests take at most `time`.
    ///
    /// # Errors
    ///
    /// One sentence about the CAs.
    pub(super) fn within(&self, time: Duration, ca: Option<&Path>) -> Result<Self, String> {
        Ok(Self {
            agent: agent_within(time, ca)?,
            ..self.clone()
        })
    }

    /// The actions that have not ended and that only the host ends.
    pub(super) fn pending(&self) -> Result<Vec<Pending>, Refusal> {
        let mut all = self.outbox()?;
        all.retain(|action| action.due_at.is_none());
        Ok(all)
    }

    /// The actions that the clock of the server ends: nothing is to be carried out for them.
    pub(super) fn simulated(&self) -> Result<Vec<String>, Refusal> {
        #[derive(Deserialize)]
        struct Store {
            simulated: Vec<String>,
        }
        match self.get::<Store>("/operator/store") {
            Ok(store) => Ok(store.simulated),
            // An older server does not say it.
            Err(Refusal::Problem { status: 404, .. }) => Ok(Vec::new()),
            Err(refusal) => Err(refusal),
        }
    }

    fn outbox(&self) -> Result<Vec<Pending>, Refusal> {
        let mut all = Vec::new();
        let mut target = format!("/operator/actions?limit={PAGE}");
        let mut tokens = PageTokens::default();
        loop {
            let page: Actions = self.get(&target)?;
            all.extend(page.actions);
            let Some(token) = tokens.next(page.next_token)? else {
                return Ok(all);
            };
            target = format!("/operator/actions?limit={PAGE}&nextToken={token}");
        }
    }

    /// Notes that `provider` begins an attempt.
    pub(super) fn dispatch(
        &self,
        id: u64,
        provider: &str,
        attempt: u32,
        trace: &Trace,
    ) -> Result<(), Refusal> {
        let instance = &self.instance;
        let body = json!({"provider": provider, "attempt": attempt, "instance": instance});
        self.post(&format!("/operator/actions/{id}/dispatch"), &body, trace)
    }

    /// Takes the lease of `provider` for this process, or extends it; no time ends it. Returns the time of the server.
    pub(super) fn take_lease(&self, provider: &str, time: Duration) -> Result<Timestamp, Refusal> {
        #[derive(Deserialize)]
        struct Lease {
            until: Timestamp,
        }
        let (instance, seconds) = (&self.instance, time.as_secs());
        let body = json!({"provider": provider, "instance": instance, "seconds": seconds});
        let body = ("application/json", body.to_string().into_bytes());
        let body = self.ask(Method::POST, LEASES, body, Some(&Trace::new()))?;
        let lease: Lease = self.read(LEASES, &body)?;
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        Ok(lease.until.plus_seconds(-seconds))
    }

    /// The process that this is, as the server names it where another one wants its lease.
    pub(super) fn instance(&self) -> &str {
        &self.instance
    }

    /// Notes the request id of the attempt.
    pub(super) fn note_request_id(
        &self,
        id: u64,
        attempt: u32,
        request_id: &str,
        trace: &Trace,
    ) -> Result<(), Refusal> {
        let body = json!({"attempt": attempt, "requestId": cut(request_id)});
        self.post(&format!("/operator/actions/{id}/note"), &body, trace)
    }

    /// Ends an action as intended.
    pub(super) fn complete(&self, id: u64, trace: &Trace) -> Result<(), Refusal> {
        let target = format!("/operator/actions/{id}/complete");
        self.post(&target, &Value::Null, trace)
    }

    /// Ends an action as failed.
    pub(super) fn fail(&self, id: u64, why: &str, trace: &Trace) -> Result<(), Refusal> {
        let body = json!({"detail": cut(why)});
        self.post(&format!("/operator/actions/{id}/fail"), &body, trace)
    }

    /// The desktops that an action is pending on, of whatever driver.
    pub(super) fn busy_desktops(&self) -> Result<HashSet<String>, Refusal> {
        let all = self.outbox()?.into_iter();
        Ok(all.map(|action| action.workspace_id).collect())
    }

    /// Shows the desktops of a region and, where it is named, an account.
    pub(super) fn desktops_of(
        &self,
        region: &str,
        account: Option<&str>,
        show: &mut dyn FnMut(Desktop),
    ) -> Result<(), Refusal> {
        let first = format!("/operator/workspaces?limit={PAGE}&region={region}");
        let mut target = first.clone();
        let mut tokens = PageTokens::default();
        loop {
            let page: Desktops = self.get(&target)?;
            for record in page.work_spaces {
                let text = |name: &str| record.get(name)?.as_str().map(str::to_owned);
                if account.is_some() && text("account").as_deref() != account {
                    continue;
                }
                let desktop = Desktop {
                    id: text("workSpId").unwrap_or_default(),
                    state: text("state"),
                    record,
                };
                show(desktop);
            }
            let Some(token) = tokens.next(page.next_token)? else {
                return Ok(());
            };
            target = format!("{first}&nextToken={token}");
        }
    }

    /// The running mode that the inventory has of a desktop.
    pub(super) fn running_mode(&self, id: &str) -> Result<Option<String>, Refusal> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Record {
            running_mode: Option<String>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct View {
            work_space: Record,
        }
        let view: View = self.get(&format!("/operator/workspaces/{id}"))?;
        Ok(view.work_space.running_mode)
    }

    /// Merges records, a line of JSON each; returns how many were taken. What is refused is in the log.
    pub(super) fn import(&self, lines: &[String]) -> Result<u64, Refusal> {
        if lines.is_empty() {
            return Ok(0);
        }
        let mut body = lines.join("\n");
        body.push('\n');
        let target = "/operator/workspaces";
        let media = "application/x-ndjson";
        let report = self.ask(Method::POST, target, (media, body.into_bytes()), None)?;
        let report: ImportReport = self.read(target, &report)?;
        for error in report.errors.iter().take(IMPORT_ERRORS_SAID) {
            let line = usize::try_from(error.line).unwrap_or_default();
            let record = lines.get(line.saturating_sub(1));
            let message = &error.message;
            let record = record.map_or("", String::as_str);
            LogQueue::stderr().line(&format!("the inventory refuses {record}: {message}"));
        }
        Ok(report.upserted)
    }

    fn get<T: DeserializeOwned>(&self, target: &str) -> Result<T, Refusal> {
        let body = self.ask(Method::GET, target, ("application/json", Vec::new()), None)?;
        self.read(target, &body)
    }

    fn read<T: DeserializeOwned>(&self, target: &str, body: &[u8]) -> Result<T, Refusal> {
        serde_json::from_slice(body).map_err(|error| {
            let path = target.split('?').next().unwrap_or_default();
            Refusal::Unreachable(format!(
                "{} has no deskfleet server that this provider understands: {path}: {error}",
                self.url
            ))
        })
    }

    fn post(&self, target: &str, body: &Value, trace: &Trace) -> Result<(), Refusal> {
        let body = if body.is_null() {
            Vec::new()
        } else {
            body.to_string().into_bytes()
        };
        let body = ("application/json", body);
        self.ask(Method::POST, target, body, Some(trace)).map(drop)
    }

    fn ask(
        &self,
        method: Method,
        target: &str,
        (media, body): (&str, Vec<u8>),
        trace: Option<&Trace>,
    ) -> Result<Vec<u8>, Refusal> {
        let builder = Request::builder()
            .method(method)
            .uri(format!("{}{target}", self.url))
            .header("x-api-key", lock(&self.key).clone())
            .header("content-type", media)
            .header("accept", "application/json");
        let builder = match trace {
            Some(trace) => builder.header("traceparent", trace.parent()),
            None => builder,
        };
        let request = builder.body(body).map_err(|error| {
            Refusal::Unreachable(format!("{} cannot be asked: {error}", self.url))
        })?;
        let response = send(&self.agent, request).map_err(|failure| {
            Refusal::Unreachable(format!("no answer from {}: {}", self.url, failure.text))
        })?;
        if (200..300).contains(&response.status) {
            return Ok(response.body);
        }
        let problem = serde_json::from_slice::<Problem>(&response.body);
        let status = response.status;
        if status == 401
            && let Ok(key) = read_api_key(&self.key_file)
        {
            // Another may have been put in its place: for the next request.
            *lock(&self.key) = key;
        }
        match problem {
            Ok(problem) if status < 500 && status != 429 => Err(Refusal::Problem {
                status,
                message: problem.message(),
                code: problem.code,
            }),
            Ok(problem) => Err(Refusal::Unreachable(format!(
                "{} answered {status} {}",
                self.url, problem.code
            ))),
            Err(_) => Err(Refusal::Unreachable(format!(
                "{} answered {status}; is that a deskfleet server?",
                self.url
            ))),
        }
    }
}

/// What fits a detail or a note: 256 characters.
fn cut(text: &str) -> String {
    text.chars().take(256).collect()
}

/// The desktops of actions, each once.
pub(super) fn desktops<'p>(actions: impl Iterator<Item = &'p Pending>) -> Vec<String> {
    let ids: BTreeSet<&String> = actions.map(|action| &action.workspace_id).collect();
    ids.into_iter().cloned().collect()
}

fn agent_within(time: Duration, ca: Option<&Path>) -> Result<Agent, String> {
    let bounds = Bounds {
        whole: time,
        connect: time.min(CONNECT_TIME),
        proxied: false,
    };
    agent(bounds, ca).map_err(|error| error.to_string())
}

/// The name of this machine, for people.
fn machine() -> String {
    machine_name().chars().take(64).collect()
}
