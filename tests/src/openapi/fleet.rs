//! The fleet of the examples: an engine in memory with a fixed clock and seed, so that every example is a real response and the
//! document is the same on every run.

use bytes::Bytes;
use deskfleet::routes::Method;
use deskfleet::{
    Action, ActionBatchRequest, ActionDriver, Attempt, Code, Config, Engine, ManualClock, NewKey,
    Scope,
};
use http::request::Builder;
use http::{Request, Response};

use super::operations::Operation;

/// The trace of the examples of problems.
const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const NOW: &str = "2026-11-20T09:14:03.21Z";

const WORKSPACES: &str = r#"[
    {"workSpId":"ws-8k2m4n6p1","computerName":"WSAMZN-4F7Q2L9A","account":"123456789012","region":"eu-central-1","directoryId":"d-9067a1b2c3","runningMode":"AUTO_STOP","computeTypeName":"STANDARD","protocol":"WSP","username":"jdoe","state":"UNHEALTHY"},
    {"workSpId":"ws-3h5j7k9m2","computerName":"WSAMZN-9C1X5V7B","account":"123456789012","region":"eu-central-1","directoryId":"d-9067a1b2c3","runningMode":"AUTO_STOP","computeTypeName":"POWER","protocol":"WSP","username":"asmith","state":"STOPPED"},
    {"workSpId":"ws-1b3d5f7h9","computerName":"WSAMZN-2T6R8W4E","account":"123456789012","region":"eu-west-1","directoryId":"d-9067a1b2c3","runningMode":"ALWAYS_ON","computeTypeName":"PERFORMANCE","protocol":"PCOIP","username":"mlee","state":"AVAILABLE"},
    {"workSpId":"ws-6d8f1g3h5","computerName":"WSAMZN-3M5N7B9V","account":"123456789012","region":"eu-west-1","directoryId":"d-9067a1b2c3","runningMode":"ALWAYS_ON","computeTypeName":"GRAPHICS","protocol":"PCOIP","username":"mlee","state":"AVAILABLE"}
]"#;
const STATS: &str = r#"{"id":16,"computeTypeName":"STANDARD","updatetime":"2026-11-20T09:13:00Z","username":"jdoe","processorCount":2,"processorInUse":35,"physicalMemory":4294967296,"availablePhysicalMemory":1717986918,"memoryInUse":2576980378,"rootTotal":85899345920,"rootAvailable":41875931136,"userTotal":53687091200,"userAvailable":48318382080,"diskReads":8.5,"diskWrites":22.75,"networkReceived":16384.0,"networkSent":4096.0,"uptime":28740.5,"osVersion":"10.0.17763","tenantId":"corp","instanceId":"ws-8k2m4n6p1"}"#;
const ACTIVITY: &str = r#"{"id":15,"computeTypeName":"STANDARD","username":"jdoe","activity":"Logon","activityTime":"2026-11-20T08:01:12Z","instanceId":"ws-8k2m4n6p1","tenantId":"corp"}"#;
const STARTUP: &str = r#"{"id":14,"computeTypeName":"STANDARD","username":"jdoe","baselineUtc":"2026-11-20T08:00:31Z","profileMs":2100,"groupPolicyMs":3400,"shellMs":1800,"totalMs":8900,"instanceId":"ws-8k2m4n6p1"}"#;
const PROCESSES: &str = r#"{"computeTypeName":"STANDARD","username":"jdoe","createdDate":"2026-11-20T09:13:00Z","processes":[{"processName":"outlook.exe","processorUsage":2.25,"memoryUsage":411041792.0,"processCount":1,"username":"jdoe"}],"instanceId":"ws-8k2m4n6p1"}"#;
const HOLD: &str = r#"{"matter":"Lee v. Example Corp.","reason":"Preserve until 2027-03-31."}"#;

/// The requests that made the fleet what it is: time, method, target, body.
#[rustfmt::skip]
const STEPS: [(&str, Method, &str, &str); 7] = [
    ("2026-11-19T16:05:00Z", Method::Post, "/operator/workspaces", WORKSPACES),
    ("2026-11-19T16:30:00Z", Method::Put, "/operator/workspaces/ws-1b3d5f7h9/litigation-hold", HOLD),
    ("2026-11-20T08:00:40Z", Method::Post, "/api/Stats/PostStartupMetrics", STARTUP),
    ("2026-11-20T08:01:12.4Z", Method::Post, "/api/Stats/PostActivity", ACTIVITY),
    ("2026-11-20T09:13:00.3Z", Method::Post, "/api/Stats/PostProcesses", PROCESSES),
    ("2026-11-20T09:13:00.5Z", Method::Post, "/api/Stats/Post", STATS),
    ("2026-11-20T09:13:48Z", Method::Post, "/api/Actions/RebootWorkSpace?workSpaceId=ws-1b3d5f7h9&requester=jsmith", ""),
];

/// A request that is refused with the code.
type Refused = (Code, Method, &'static str, &'static str);

/// How the problems come about that a client causes; the others have no cause that could be shown.
#[rustfmt::skip]
const REFUSED: [Refused; 11] = [
    (Code::InvalidParameter, Method::Get, "/api/Information/GetAllWorkSpaces?limit=0", ""),
    (Code::InvalidBody, Method::Post, "/api/Stats/Post", r#"{"processorInUse":"high"}"#),
    (Code::NotFound, Method::Delete, "/operator/keys/99", ""),
    (Code::WorkSpaceNotFound, Method::Post, "/api/Actions/RebootWorkSpace?workSpaceId=ws-0", ""),
    (Code::UserNotFound, Method::Get, "/api/Information/GetUserInformation?username=nobody", ""),
    (Code::InvalidResourceState, Method::Post, "/api/Actions/RebootWorkSpace?workSpaceId=ws-3h5j7k9m2", ""),
    (Code::OperationInProgress, Method::Post, "/api/Actions/RebootWorkSpace?workSpaceId=ws-1b3d5f7h9", ""),
    (Code::LitigationHold, Method::Post, "/api/Actions/TerminateWorkSpace?workSpaceId=ws-1b3d5f7h9", ""),
    (Code::DuplicateKeyName, Method::Post, "/operator/keys", r#"{"name":"agents","scopes":["ingest"]}"#),
    (Code::LastAdminKey, Method::Delete, "/operator/keys/1", ""),
    (Code::AmbiguousWorkSpace, Method::Post, "/api/Actions/RebootWorkSpace?samAccount=mlee", ""),
];

/// The fleet.
pub(super) struct Fleet {
    engine: Engine,
    admin: String,
    agents: String,
}

impl Fleet {
    pub(super) fn new() -> Self {
        let at = |text: &str| text.parse().expect("a date-time");
        let clock = ManualClock::new(at("2026-11-19T16:00:00Z"));
        let mut config = Config::default();
        config.actions.drivers.reboot = Some(ActionDriver::Host);
        let builder = Engine::builder()
            .clock(clock.clone())
            .seed(1)
            .config(config);
        let engine = builder.open_in_memory().expect("an engine in memory");
        let issue = |name: &str, scope| {
            let key = NewKey::new(name, [scope]);
            engine.issue_key(key).expect("a key").secret
        };
        let (admin, agents) = (
            issue("service-desk", Scope::Admin),
            issue("agents", Scope::Ingest),
        );
        let fleet = Self {
            engine: engine.clone(),
            admin,
            agents,
        };
        for (time, method, target, body) in STEPS {
            clock.set(at(time));
            let response = fleet.ask(method, target, body, &fleet.admin);
            assert!(response.status().is_success(), "{target}: {response:?}");
        }
        clock.set(at("2026-11-20T09:13:50Z"));
        let number = fleet.running();
        let mut attempt = Attempt::new(1, "aws");
        attempt.instance = Some("4fc1a90e".to_owned());
        let dispatched = engine.dispatch_action(number, attempt);
        dispatched.expect("an action that the host ends");
        clock.set(at(NOW));
        fleet
    }

    /// Path and query of the example of an operation.
    pub(super) fn target(&self, operation: &Operation) -> String {
        let target = operation
            .target
            .replace("{action}", &self.running().to_string());
        if target.contains("{batch}") {
            return target.replace("{batch}", &self.batch().to_string());
        }
        target
    }

    /// Number of a batch of actions, which is started where there is none.
    fn batch(&self) -> u64 {
        let known = self.engine.action_batches().expect("a list");
        known.first().map_or_else(
            || {
                let ids = ["ws-8k2m4n6p1", "ws-6d8f1g3h5"];
                let mut request = ActionBatchRequest::new(Action::Reboot, ids);
                request.at_once = Some(1);
                request.requester = Some("A. Smith, ticket 4711".to_owned());
                self.engine.start_actions(request).expect("a batch").id
            },
            |batch| batch.id,
        )
    }

    /// Number of the running action.
    fn running(&self) -> u64 {
        let running = self.engine.pending_actions().expect("a list");
        running.first().expect("a running action").id
    }

    /// The success body of the example of an operation, in an accepted media type; empty where it has none.
    pub(super) fn example(&self, method: Method, operation: &Operation, accept: &str) -> String {
        let target = self.target(operation);
        let request = request(method, &target, operation.body, &self.admin);
        let request = request.header("accept", accept);
        let body = Bytes::copy_from_slice(operation.body.as_bytes());
        let response = self.engine.handle(request.body(body).expect("a request"));
        let body = String::from_utf8(response.body().to_vec()).expect("a text");
        assert!(
            response.status().is_success(),
            "the example of {} fails: {body}",
            operation.id
        );
        body
    }

    /// A problem body of that code.
    pub(super) fn problem(&self, code: Code) -> String {
        let caused = REFUSED.iter().find(|(each, ..)| *each == code);
        let graphics = "/api/Actions/ChangeComputeType?workSpaceId=ws-6d8f1g3h5&computeType=POWER";
        let response = match (caused, code) {
            (Some((_, method, target, body)), _) => self.ask(*method, target, body, &self.admin),
            (None, Code::InvalidApiKey) => {
                self.ask(Method::Get, "/operator/keys", "", "dfk_unknown")
            }
            (None, Code::InsufficientScope) => {
                self.ask(Method::Get, "/operator/keys", "", &self.agents)
            }
            (None, Code::UnsupportedConfiguration) => {
                self.ask(Method::Post, graphics, "", &self.admin)
            }
            (None, _) => {
                let traceparent = http::HeaderValue::from_static(TRACEPARENT);
                self.engine.problem(code, "", Some(&traceparent))
            }
        };
        let body = String::from_utf8(response.body().to_vec()).expect("a text");
        assert!(
            body.contains(&format!("\"code\":\"{}\"", code.as_str())),
            "{code:?}: {body}"
        );
        body
    }

    fn ask(&self, method: Method, target: &str, body: &str, key: &str) -> Response<Bytes> {
        let request = request(method, target, body, key);
        let body = Bytes::copy_from_slice(body.as_bytes());
        self.engine.handle(request.body(body).expect("a request"))
    }
}

fn request(method: Method, target: &str, body: &str, key: &str) -> Builder {
    let lines = body.lines().count() > 1 && !body.starts_with('[');
    let content_type = if lines {
        "application/x-ndjson"
    } else {
        "application/json"
    };
    Request::builder()
        .method(method.as_str())
        .uri(target)
        .header("x-api-key", key)
        .header("traceparent", TRACEPARENT)
        .header("content-type", content_type)
}
