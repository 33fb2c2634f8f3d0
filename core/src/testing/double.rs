//! [`Double`]: the engine of a double, its clock, and the requests below `/double/` that only a double has.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Method, Request, Response, StatusCode};

use crate::api::endpoint::Route;
use crate::config::Config;
use crate::engine::Engine;
use crate::error::{EngineError, ErrorKind, Result};
use crate::locks::{lock, read, write};
use crate::model::{NewKey, Scope, State, Workspace};
use crate::random::SplitMix;
use crate::timestamp::Timestamp;
use crate::wire::problem::{Code, Problem};
use crate::wire::reply;
use crate::wire::trace::TraceId;

use super::journal::{Asked, Journal, Kept, Replay};
use super::pause::Pause;
use super::rule::{Rule, Rules, StorageFault, invalid};
use super::storage::DoubleStorage;

/// The longest step of the clock: ten years, in milliseconds.
const ADVANCE_MAX: u64 = 315_576_000_000;

/// What a [`Double`] is opened with.
#[derive(Debug, Clone)]
pub struct DoubleOptions {
    /// The source of keys and trace ids: the same seed and requests give the same bytes. Default 1.
    pub seed: u64,
    /// The time at which the clock begins. Default 2026-01-01 00:00 UTC.
    pub clock: Timestamp,
    /// The configuration of the engine.
    pub config: Config,
}

impl Default for DoubleOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            clock: Timestamp::from_unix_seconds(1_767_225_600),
            config: Config::default(),
        }
    }
}

/// The engine of now, with its key.
#[derive(Debug)]
struct Live {
    engine: Engine,
    key: String,
    /// What keys are made of. It goes on after a restart, so that no new key is an old one.
    random: Arc<SplitMix>,
}

#[derive(Debug)]
struct Shared {
    options: DoubleOptions,
    pause: Arc<Pause>,
    rules: Arc<Rules>,
    storage: DoubleStorage,
    kept: Mutex<Kept>,
    replay: Mutex<Replay>,
    live: RwLock<Live>,
}

/// A double of the service in memory. Its clock stands until [`Self::advance`]; clones share everything.
#[derive(Debug, Clone)]
pub struct Double(Arc<Shared>);

impl Double {
    /// Opens an empty double with a key of scope `admin`.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] when a value of the configuration is out of range.
    pub fn open(options: DoubleOptions) -> Result<Self> {
        let pause = Arc::new(Pause::new(options.clock));
        let rules = Arc::new(Rules::default());
        let storage = DoubleStorage::default();
        let random = Arc::new(SplitMix::new(options.seed));
        let engine = engine(&options, &storage, &rules, &pause, &random)?;
        let key = issue_key(&engine)?;
        Ok(Self(Arc::new(Shared {
            options,
            pause,
            rules,
            storage,
            kept: Mutex::default(),
            replay: Mutex::default(),
            live: RwLock::new(Live {
                engine,
                key,
                random,
            }),
        })))
    }

    /// The engine inside, whose typed methods meet no rule for an operation and are not in the journal. After [`Self::reset`] and
    /// [`Self::restart`] it is another one.
    #[must_use]
    pub fn engine(&self) -> Engine {
        read(&self.0.live).engine.clone()
    }

    /// A key of scope `admin`, which is the same for the same seed.
    #[must_use]
    pub fn key(&self) -> String {
        read(&self.0.live).key.clone()
    }

    /// The time of the double.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.pause.now()
    }

    /// Handles a request as the service does, unless a rule or a replayed exchange does. Requests below `/double/` are for the double.
    /// Blocks for the latency of a rule.
    #[must_use]
    pub fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        if let Some(response) = self.control(&request) {
            return response;
        }
        let engine = self.engine();
        let route = engine.route(request.method(), request.uri().path());
        let operation = route.map(|route| route.operation_id);
        let asked = Asked::new(operation, &request);
        let is_head = request.method() == Method::HEAD;
        let rule = self.0.rules.apply(|rule| rule.meets(operation));
        if let Some(milliseconds) = rule.as_ref().and_then(|rule| rule.latency) {
            self.0.pause.wait(milliseconds);
        }
        let refusal = rule.and_then(|rule| refusal(&rule, &engine, route, &request));
        let ready = refusal.or_else(|| lock(&self.0.replay).response(&asked));
        let response = match ready {
            Some(response) if is_head => reply::head(response),
            Some(response) => response,
            None => engine.handle(request),
        };
        lock(&self.0.kept).push(asked.answered(&response));
        response
    }

    /// Moves the clock forward and runs upkeep, so that actions that are due have ended.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] above ten years; those of [`Engine::maintain`].
    pub fn advance(&self, duration: Duration) -> Result<()> {
        let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        if milliseconds > ADVANCE_MAX {
            return Err(invalid(format!(
                "the clock moves by at most {ADVANCE_MAX} ms"
            )));
        }
        self.0.pause.advance(milliseconds);
        self.engine().maintain()
    }

    /// Adds a rule after those there are.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] when it is not valid, or the double has 1000 rules.
    pub fn fail(&self, rule: Rule) -> Result<()> {
        self.fail_all(vec![rule])
    }

    /// Adds rules in this order: all of them, or none if one is not valid.
    ///
    /// # Errors
    /// Those of [`Self::fail`].
    pub fn fail_all(&self, rules: Vec<Rule>) -> Result<()> {
        self.0.rules.add(rules)
    }

    /// Removes all rules.
    pub fn clear_rules(&self) {
        self.0.rules.clear();
    }

    /// The newest exchanges, up to 64 MiB, without keys.
    #[must_use]
    pub fn journal(&self) -> Journal {
        lock(&self.0.kept).journal()
    }

    /// Empties the journal.
    pub fn clear_journal(&self) {
        *lock(&self.0.kept) = Kept::default();
    }

    /// From now on a request of the journal, by its method, URL and body, has the recorded response: of several each once in their
    /// order, then the last one. The engine handles all others.
    pub fn replay(&self, journal: Journal) {
        *lock(&self.0.replay) = Replay::new(journal);
    }

    /// Makes it as it was when it was opened: no data, no rules, no journal, the first time, the same key.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub fn reset(&self) -> Result<()> {
        let mut live = write(&self.0.live);
        self.0.rules.clear();
        self.0.storage.erase();
        self.clear_journal();
        self.replay(Journal::default());
        self.0.pause.set(self.0.options.clock);
        live.random = Arc::new(SplitMix::new(self.0.options.seed));
        live.engine = self.open_engine(&live.random)?;
        live.key = issue_key(&live.engine)?;
        Ok(())
    }

    /// Cuts the power and starts the engine again on what was durable. Rules, journal, clock and key stay.
    ///
    /// # Errors
    /// Those of [`EngineBuilder::open`](crate::EngineBuilder::open).
    pub fn restart(&self) -> Result<()> {
        let mut live = write(&self.0.live);
        self.0.storage.cut_power();
        live.engine = self.open_engine(&live.random)?;
        Ok(())
    }

    fn open_engine(&self, random: &Arc<SplitMix>) -> Result<Engine> {
        let shared = &self.0;
        engine(
            &shared.options,
            &shared.storage,
            &shared.rules,
            &shared.pause,
            random,
        )
    }

    /// The response to a request below `/double/`; `None` for another one.
    fn control(&self, request: &Request<Bytes>) -> Option<Response<Bytes>> {
        let path = request.uri().path();
        let rest = path.strip_prefix("/double")?;
        if !(rest.is_empty() || rest.starts_with('/')) {
            return None;
        }
        let found = CONTROLS
            .iter()
            .find(|control| control.path == path && request.method().as_str() == control.method);
        let Some(control) = found else {
            let ways: Vec<_> = CONTROLS
                .iter()
                .map(|control| format!("{} {}", control.method, control.path))
                .collect();
            let message = format!("a double has {}", ways.join(", "));
            return Some(plain(StatusCode::NOT_FOUND, message));
        };
        let done = (control.run)(self, request);
        Some(done.unwrap_or_else(|error| {
            let status = if error.kind() == ErrorKind::Configuration {
                StatusCode::BAD_REQUEST
            } else {
                StatusCode::INTERNAL_SERVER_ERROR
            };
            plain(status, error.context().to_owned())
        }))
    }
}

fn engine(
    options: &DoubleOptions,
    storage: &DoubleStorage,
    rules: &Arc<Rules>,
    pause: &Arc<Pause>,
    random: &Arc<SplitMix>,
) -> Result<Engine> {
    let for_space = Arc::clone(rules);
    let random = Arc::clone(random);
    Engine::builder()
        .config(options.config.clone())
        .clock(pause.clock())
        .random(move |buffer: &mut [u8]| {
            random.fill(buffer);
            Ok::<_, Infallible>(())
        })
        .free_space(move || {
            let is_full = for_space.storage_fails(StorageFault::Full).is_some();
            Some(if is_full { 0 } else { u64::MAX })
        })
        .open_backend(storage.backend(rules, pause))
}

fn issue_key(engine: &Engine) -> Result<String> {
    let key = engine.issue_key(NewKey::new("double", [Scope::Admin]))?;
    Ok(key.secret)
}

/// The response of a rule; `None` for one that only holds a request back.
fn refusal(
    rule: &Rule,
    engine: &Engine,
    route: Option<&Route>,
    request: &Request<Bytes>,
) -> Option<Response<Bytes>> {
    let Some(code) = rule.code else {
        let status = StatusCode::from_u16(rule.status?).ok()?;
        return Some(plain(status, String::new()));
    };
    let traceparent = TraceId::traceparent(request.extensions(), request.headers());
    let id = engine.trace_id(traceparent);
    let mut response = reply::problem(&problem(code), id.as_str());
    let headers = response.headers_mut();
    if let (Code::MethodNotAllowed, Some(route)) = (code, route) {
        headers.insert(ALLOW, HeaderValue::from_static(route.method.as_str()));
    }
    Some(response)
}

/// The refusal that the engine has for a code, with the texts that do not depend on the request.
fn problem(code: Code) -> Problem {
    let failures = [
        ErrorKind::StorageUnavailable,
        ErrorKind::Indeterminate,
        ErrorKind::LowDisk,
    ];
    let failure = failures.into_iter().find(|kind| Code::from(*kind) == code);
    match failure {
        Some(kind) => Problem::from(&EngineError::new(kind, "")),
        None if code == Code::Throttled => Problem::throttled(1),
        None => Problem::new(code),
    }
}

fn plain(status: StatusCode, text: String) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(text));
    *response.status_mut() = status;
    if !response.body().is_empty() {
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(CONTENT_TYPE, plain);
    }
    if status == StatusCode::SERVICE_UNAVAILABLE || status == StatusCode::TOO_MANY_REQUESTS {
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// A request that only a double has.
#[derive(Debug, Clone, Copy)]
pub struct Control {
    /// Its method.
    pub method: &'static str,
    /// Its path.
    pub path: &'static str,
    /// What it does, in one sentence.
    pub text: &'static str,
    run: fn(&Double, &Request<Bytes>) -> Result<Response<Bytes>>,
}

/// The requests below `/double/`. Success is 200 with JSON or 204; a mistake is 400 with a sentence as text. None needs a key.
pub const CONTROLS: &[Control] = &[
    Control {
        method: "GET",
        path: "/double",
        text: "Returns the time of the double, as `{\"now\":…}`.",
        run: |double, _| {
            Ok(json(
                &serde_json::json!({ "now": double.now().to_string() }),
            ))
        },
    },
    Control {
        method: "POST",
        path: "/double/advance",
        text: "Moves the clock by the milliseconds in the body, `{\"milliseconds\":60000}`, and runs upkeep.",
        run: |double, request| {
            #[derive(serde::Deserialize)]
            #[serde(deny_unknown_fields)]
            struct Advance {
                milliseconds: u64,
            }
            let advance: Advance = body(request)?;
            double.advance(Duration::from_millis(advance.milliseconds))?;
            Ok(plain(StatusCode::NO_CONTENT, String::new()))
        },
    },
    Control {
        method: "POST",
        path: "/double/reset",
        text: "Makes the double empty: no data, no rules, no journal, the first time, the same key.",
        run: |double, _| done(double.reset()),
    },
    Control {
        method: "POST",
        path: "/double/restart",
        text: "Cuts the power, and starts the engine again on what was durable.",
        run: |double, _| done(double.restart()),
    },
    Control {
        method: "POST",
        path: "/double/rules",
        text: "Adds the rules of the body: one, or a list of them.",
        run: |double, request| {
            let text = String::from_utf8_lossy(request.body());
            let rules = Rule::parse(&text).map_err(|error| invalid(error.to_string()))?;
            done(double.fail_all(rules))
        },
    },
    Control {
        method: "DELETE",
        path: "/double/rules",
        text: "Removes all rules.",
        run: |double, _| {
            double.clear_rules();
            done(Ok(()))
        },
    },
    Control {
        method: "GET",
        path: "/double/journal",
        text: "Returns the exchanges, without keys.",
        run: |double, _| Ok(json(&double.journal())),
    },
    Control {
        method: "DELETE",
        path: "/double/journal",
        text: "Empties the journal.",
        run: |double, _| {
            double.clear_journal();
            done(Ok(()))
        },
    },
    Control {
        method: "POST",
        path: "/double/replay",
        text: "Replays the exchanges of the body, a journal.",
        run: |double, request| {
            double.replay(body(request)?);
            done(Ok(()))
        },
    },
];

fn done(result: Result<()>) -> Result<Response<Bytes>> {
    result.map(|()| plain(StatusCode::NO_CONTENT, String::new()))
}

fn json(value: &impl serde::Serialize) -> Response<Bytes> {
    let text = serde_json::to_string(value).unwrap_or_default();
    let mut response = plain(StatusCode::OK, text);
    let json = HeaderValue::from_static("application/json; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

fn body<T: serde::de::DeserializeOwned>(request: &Request<Bytes>) -> Result<T> {
    serde_json::from_slice(request.body()).map_err(|error| invalid(error.to_string()))
}

/// The first `count` desktops of a fleet that is the same everywhere: `ws-000000001` of `user1`, available, in one region; each third
/// one is always on.
#[must_use]
pub fn fleet(count: u32) -> Vec<Workspace> {
    (1..=count)
        .map(|number| Workspace {
            id: format!("ws-{number:09}"),
            computer_name: Some(format!("WSAMZN-{number:08}")),
            account: Some("111122223333".to_owned()),
            region: Some("eu-central-1".to_owned()),
            directory_id: Some("d-9967ac41de".to_owned()),
            running_mode: Some(
                if number % 3 == 0 {
                    "ALWAYS_ON"
                } else {
                    "AUTO_STOP"
                }
                .into(),
            ),
            compute_type_name: Some("STANDARD".into()),
            protocol: Some("WSP".into()),
            username: Some(format!("user{number}")),
            state: Some(State::Available.into()),
        })
        .collect()
}
