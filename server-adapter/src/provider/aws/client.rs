//! The calls.

use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use deskfleet::Timestamp;
use http::Uri;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use ureq::Agent;

use super::super::transport::{self, Bounds, Response};
use super::bucket::Bucket;
use super::credentials::CredentialsCache;
use super::desktop::Desktop;
use super::error::{CallError, Failure};
use super::gathering::BATCH_MAX;
use super::sigv4::{Scope, Unsigned, amz_date, authorization};
use crate::locks::lock;

const CONTENT_TYPE: &str = "application/x-amz-json-1.1";
const SERVICE: &str = "workspaces";
/// How long all calls wait after AWS has refused one as too fast and has not said how long.
const THROTTLED: Duration = Duration::from_secs(1);

/// Where and how a client calls.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The region, such as `eu-west-1`.
    pub region: String,
    /// An endpoint in place of that of the region: `https://host[:port]`. Without TLS only this machine is allowed.
    pub endpoint: Option<String>,
    /// A PEM file with the CAs to trust, in place of those of the system.
    pub ca: Option<PathBuf>,
    /// How long a call may take.
    pub timeout: Duration,
    /// Calls a second, 0.01 to 1000.
    pub per_second: f64,
    /// Calls at once, 1 to 1000.
    pub burst: u32,
}

impl Settings {
    /// Those that suit Amazon WorkSpaces in a region: two calls a second, five at once, 30 s for each.
    #[must_use]
    pub fn in_region(region: &str) -> Self {
        Self {
            region: region.to_owned(),
            endpoint: None,
            ca: None,
            timeout: Duration::from_secs(30),
            per_second: 2.0,
            burst: 5,
        }
    }
}

/// A client of one account in one region. Calls wait for their turn in its token bucket.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    endpoint: String,
    host: String,
    region: String,
    credentials: CredentialsCache,
    bucket: Mutex<Bucket>,
}

/// A call that takes up to 25 desktops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BatchCall {
    /// `RebootWorkspaces`
    Reboot,
    /// `StartWorkspaces`
    Start,
    /// `StopWorkspaces`
    Stop,
    /// `TerminateWorkspaces`
    Terminate,
}

/// A call for one desktop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SingleCall {
    /// `RebuildWorkspaces`, of one
    Rebuild,
    /// `RestoreWorkspace`
    Restore,
    /// `ModifyWorkspaceProperties`, of the compute type
    ComputeType(String),
    /// `ModifyWorkspaceProperties`, of the running mode
    RunningMode(String),
}

/// A call that AWS has accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// What AWS's support asks for.
    pub request_id: Option<String>,
    /// The desktops for which it was refused, and why.
    pub failed: Vec<(String, CallError)>,
}

/// Desktops, and where the next page begins.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DesktopPage {
    /// The desktops. Of those asked for by id, the ones that exist.
    pub workspaces: Vec<Desktop>,
    /// For the next page; `None` after the last.
    pub next_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[derive(Default)]
struct FailedRequests {
    failed_requests: Vec<FailedRequest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[derive(Default)]
struct FailedRequest {
    workspace_id: String,
    error_code: String,
    error_message: String,
}

impl Client {
    /// A client; it calls nothing yet.
    ///
    /// # Errors
    ///
    /// One sentence, where a setting is wrong.
    pub fn new(settings: Settings, credentials: CredentialsCache) -> io::Result<Self> {
        let is_region = !settings.region.is_empty()
            && (settings.region.bytes())
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-');
        if !is_region {
            return Err(invalid(format!(
                "{:?} is no region of AWS, such as eu-west-1",
                settings.region
            )));
        }
        let endpoint = settings.endpoint.unwrap_or_else(|| {
            let china = if settings.region.starts_with("cn-") {
                ".cn"
            } else {
                ""
            };
            format!("https://{SERVICE}.{}.amazonaws.com{china}", settings.region)
        });
        let endpoint = endpoint.trim_end_matches('/').to_owned();
        let host = host_of(&endpoint)?;
        let bounds = Bounds {
            whole: settings.timeout,
            connect: settings.timeout.min(Duration::from_secs(10)),
            proxied: true,
        };
        Ok(Self {
            agent: transport::agent(bounds, settings.ca.as_deref())?,
            endpoint,
            host,
            region: settings.region,
            credentials,
            bucket: Mutex::new(Bucket::new(settings.per_second, settings.burst)),
        })
    }

    /// The region that it calls.
    #[must_use]
    pub fn region(&self) -> &str {
        &self.region
    }

    /// Describes the desktops with these ids, 1 to 25. One that is not in the page does not exist.
    ///
    /// # Errors
    ///
    /// Where the call fails. It never fails because a desktop does not exist.
    pub fn describe(&self, ids: &[String]) -> Result<DesktopPage, CallError> {
        check_count(ids)?;
        let ids: Vec<&String> = ids.iter().filter(|id| is_id(id)).collect();
        if ids.is_empty() {
            return Ok(DesktopPage::default());
        }
        match self.call("DescribeWorkspaces", &json!({"WorkspaceIds": ids})) {
            Err(error) if error.failure == Failure::NotFound => Ok(DesktopPage::default()),
            page => Ok(page?.0),
        }
    }

    /// Describes the next 25 desktops of the account, from the first one where there is no token.
    ///
    /// # Errors
    ///
    /// Where the call fails.
    pub fn describe_page(&self, next_token: Option<&str>) -> Result<DesktopPage, CallError> {
        let mut body = json!({"Limit": BATCH_MAX});
        if let (Some(token), Some(body)) = (next_token, body.as_object_mut()) {
            body.insert("NextToken".to_owned(), token.into());
        }
        Ok(self.call("DescribeWorkspaces", &body)?.0)
    }

    /// Calls for 1 to 25 desktops at once.
    ///
    /// # Errors
    ///
    /// Where the call fails for all of them.
    pub fn batch(&self, call: BatchCall, ids: &[String]) -> Result<Accepted, CallError> {
        check_count(ids)?;
        let (operation, member) = match call {
            BatchCall::Reboot => ("RebootWorkspaces", "RebootWorkspaceRequests"),
            BatchCall::Start => ("StartWorkspaces", "StartWorkspaceRequests"),
            BatchCall::Stop => ("StopWorkspaces", "StopWorkspaceRequests"),
            BatchCall::Terminate => ("TerminateWorkspaces", "TerminateWorkspaceRequests"),
        };
        self.requests(operation, member, ids)
    }

    /// Calls for one desktop.
    ///
    /// # Errors
    ///
    /// Where the call fails.
    pub fn single(&self, call: &SingleCall, id: &str) -> Result<Accepted, CallError> {
        if !is_id(id) {
            return Err(no_id());
        }
        let properties = match call {
            SingleCall::Rebuild => {
                let ids = [id.to_owned()];
                let mut accepted =
                    self.requests("RebuildWorkspaces", "RebuildWorkspaceRequests", &ids)?;
                return match accepted.failed.pop() {
                    Some((_, error)) => Err(error),
                    None => Ok(accepted),
                };
            }
            SingleCall::Restore => {
                let (_, request_id) =
                    self.call::<Value>("RestoreWorkspace", &json!({"WorkspaceId": id}))?;
                return Ok(accepted(request_id));
            }
            SingleCall::ComputeType(name) => json!({"ComputeTypeName": name}),
            SingleCall::RunningMode(mode) if mode == "AUTO_STOP" => {
                json!({"RunningMode": mode, "RunningModeAutoStopTimeoutInMinutes": 60})
            }
            SingleCall::RunningMode(mode) => json!({"RunningMode": mode}),
        };
        let body = json!({"WorkspaceId": id, "WorkspaceProperties": properties});
        let (_, request_id) = self.call::<Value>("ModifyWorkspaceProperties", &body)?;
        Ok(accepted(request_id))
    }

    fn requests(
        &self,
        operation: &str,
        member: &str,
        ids: &[String],
    ) -> Result<Accepted, CallError> {
        // One of them would make AWS refuse the whole call.
        let (ids, foreign): (Vec<&String>, Vec<&String>) = ids.iter().partition(|id| is_id(id));
        let mut failed: Vec<_> = foreign
            .into_iter()
            .map(|id| (id.clone(), no_id()))
            .collect();
        if ids.is_empty() {
            return Ok(Accepted {
                request_id: None,
                failed,
            });
        }
        let requests: Vec<_> = ids.iter().map(|id| json!({"WorkspaceId": id})).collect();
        let body = json!({member: requests});
        let (answer, request_id) = self.call::<FailedRequests>(operation, &body)?;
        failed.extend(answer.failed_requests.into_iter().map(|failed| {
            let mut error = CallError::of_aws(200, &failed.error_code, &failed.error_message, None);
            error.request_id.clone_from(&request_id);
            (failed.workspace_id, error)
        }));
        Ok(Accepted { request_id, failed })
    }

    /// Calls in its turn; returns the answer and the request's id.
    fn call<T: DeserializeOwned>(
        &self,
        operation: &str,
        body: &Value,
    ) -> Result<(T, Option<String>), CallError> {
        // Bound to a name, the lock is not held while this waits.
        let wait = lock(&self.bucket).take(Instant::now());
        std::thread::sleep(wait);
        let request = self.signed(operation, body.to_string().into_bytes())?;
        let response = transport::send(&self.agent, request).map_err(|failure| {
            let lost = if failure.is_sent {
                Failure::Lost
            } else {
                Failure::Retry { after: None }
            };
            CallError::own(lost, "Unreachable", failure.text)
        })?;
        let request_id = response.header("x-amzn-requestid").map(str::to_owned);
        let outcome = if response.status == 200 {
            let answer = serde_json::from_slice(&response.body);
            answer.map_err(|error| {
                CallError::own(Failure::Lost, "UnreadableAnswer", error.to_string())
            })
        } else {
            Err(refusal(&response))
        };
        match outcome {
            Ok(answer) => Ok((answer, request_id)),
            Err(error) => {
                self.learn_from(&error);
                Err(CallError {
                    request_id,
                    ..error
                })
            }
        }
    }

    /// What a refusal means for all later calls.
    fn learn_from(&self, error: &CallError) {
        if error.is_expiry() {
            self.credentials.forget();
        }
        if let Some(after) = error.throttled(THROTTLED) {
            lock(&self.bucket).pause(Instant::now(), after);
        }
    }

    fn signed(&self, operation: &str, body: Vec<u8>) -> Result<http::Request<Vec<u8>>, CallError> {
        let now = now();
        let credentials = self.credentials.get(now);
        let credentials = credentials
            .map_err(|error| CallError::own(Failure::Denied, "NoCredentials", error.0))?;
        let date = amz_date(now);
        let target = format!("WorkspacesService.{operation}");
        let mut headers = vec![
            ("content-type", CONTENT_TYPE),
            ("host", self.host.as_str()),
            ("x-amz-date", date.as_str()),
            ("x-amz-target", target.as_str()),
        ];
        if let Some(token) = credentials.session_token() {
            headers.push(("x-amz-security-token", token));
        }
        let scope = Scope {
            region: &self.region,
            service: SERVICE,
        };
        let unsigned = Unsigned {
            method: "POST",
            headers: &headers,
            body: &body,
        };
        let unusable = |what: String| CallError::own(Failure::Denied, "NoCredentials", what);
        let signature = authorization(&credentials, scope, &date, unsigned);
        let signature = signature.map_err(|error| unusable(error.to_string()))?;
        headers.push(("authorization", &signature));
        let mut request = http::Request::post(format!("{}/", self.endpoint));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.body(body).map_err(|_| {
            unusable("the AWS credentials hold characters that a header cannot have".to_owned())
        })
    }
}

fn accepted(request_id: Option<String>) -> Accepted {
    Accepted {
        request_id,
        failed: Vec::new(),
    }
}

/// What a response other than 200 says.
fn refusal(response: &Response) -> CallError {
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    let code = response
        .header("x-amzn-errortype")
        .or_else(|| text("__type"));
    let message = text("message").or_else(|| text("Message"));
    let after = response
        .header("retry-after")
        .and_then(|after| after.parse().ok());
    CallError::of_aws(
        response.status,
        code.unwrap_or_default(),
        message.unwrap_or_default(),
        // Longer than a loop waits at most, it would only be a way to stop it.
        after.map(|seconds: u64| Duration::from_secs(seconds.min(60))),
    )
}

fn check_count(ids: &[String]) -> Result<(), CallError> {
    if (1..=BATCH_MAX).contains(&ids.len()) {
        return Ok(());
    }
    let message = format!(
        "{} desktops in one call: 1 to {BATCH_MAX} are possible",
        ids.len()
    );
    Err(CallError::own(Failure::Other, "BatchSize", message))
}

/// Whether it may be the id of a desktop of AWS: `ws-`, and 8 to 63 digits and lower-case letters.
fn is_id(id: &str) -> bool {
    let is_part = |c: u8| c.is_ascii_digit() || c.is_ascii_lowercase();
    id.strip_prefix("ws-")
        .is_some_and(|id| (8..=63).contains(&id.len()) && id.bytes().all(is_part))
}

fn no_id() -> CallError {
    let message = "it is no id of Amazon WorkSpaces, which are like ws-1a2b3c4d5";
    CallError::own(Failure::NotFound, "ForeignId", message)
}

/// The host, with its port where it is not that of the scheme, as the header has it.
fn host_of(endpoint: &str) -> io::Result<String> {
    let wrong = |what: &str| {
        invalid(format!(
            "the endpoint {endpoint:?} {what}; it is https://host[:port]"
        ))
    };
    let uri: Uri = endpoint.parse().map_err(|_| wrong("is no URL"))?;
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err(wrong("is no URL"));
    };
    if uri.path() != "/" || uri.query().is_some() || authority.as_str().contains('@') {
        return Err(wrong("has more than a host and a port"));
    }
    let is_here = matches!(authority.host(), "localhost" | "127.0.0.1" | "[::1]");
    let usual = match scheme {
        "https" => 443,
        "http" if is_here => 80,
        _ => return Err(wrong("is without TLS and not on this machine")),
    };
    Ok(match authority.port_u16() {
        Some(port) if port != usual => authority.as_str().to_owned(),
        _ => authority.host().to_owned(),
    })
}

fn now() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::from_unix_seconds(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoint_is_a_host_over_tls_or_on_this_machine() {
        for (endpoint, host) in [
            (
                "https://workspaces.eu-west-1.amazonaws.com",
                "workspaces.eu-west-1.amazonaws.com",
            ),
            ("https://vpce-1.example.com:443", "vpce-1.example.com"),
            ("https://vpce-1.example.com:8443", "vpce-1.example.com:8443"),
            ("http://127.0.0.1:5000", "127.0.0.1:5000"),
        ] {
            assert_eq!(host_of(endpoint).unwrap(), host);
        }
        for wrong in [
            "",
            "eu-west-1",
            "http://example.com",
            "https://e.com/path",
            "https://u:p@e.com",
            "https://e.com/?q",
        ] {
            assert!(host_of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn call_for_no_desktop_or_for_more_than_25_is_refused_before_it_is_sent() {
        let ids = |count| vec!["ws-1".to_owned(); count];
        let counts = [0, 1, 25, 26].map(|count| check_count(&ids(count)).is_ok());
        assert_eq!(counts, [false, true, true, false]);
    }
}
