//! How a call is made: in its turn, signed, and with what a refusal means for the calls after it.

use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use deskfleet::Timestamp;
use deskfleet::locks::lock;
use http::Uri;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::Agent;

use super::bucket::Bucket;
use super::credentials::CredentialsCache;
use super::error::{CallError, Failure};
use super::sigv4::{Scope, Unsigned, amz_date, authorization};
use deskfleet_client::transport::{self, Bounds, Response};

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

/// What calls an account in a region.
#[derive(Debug)]
pub(super) struct Caller {
    agent: Agent,
    endpoint: String,
    host: String,
    region: String,
    credentials: CredentialsCache,
    bucket: Mutex<Bucket>,
}

impl Caller {
    pub(super) fn new(settings: Settings, credentials: CredentialsCache) -> io::Result<Self> {
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
    pub(super) fn region(&self) -> &str {
        &self.region
    }

    /// Blocks until it is the turn of a call, and has the credentials for it: nothing delays it any more.
    pub(super) fn wait(&self) {
        // Bound to a name, the lock is not held while this waits.
        let wait = lock(&self.bucket).take(Instant::now());
        std::thread::sleep(wait);
        loop {
            let wait = lock(&self.bucket).pause_left(Instant::now());
            if wait.is_zero() {
                break;
            }
            std::thread::sleep(wait);
        }
        // The call says why there are none.
        let _ = self.credentials.get(now());
    }

    /// Calls, [in its turn](Self::wait); returns the answer and the request's id.
    pub(super) fn call<T: DeserializeOwned>(
        &self,
        operation: &str,
        body: &Value,
    ) -> Result<(T, Option<String>), CallError> {
        let request = self.signed(operation, body.to_string().into_bytes())?;
        let response = transport::send(&self.agent, request).map_err(|failure| {
            let lost = if failure.is_sent {
                Failure::Lost
            } else {
                Failure::Retry { after: None }
            };
            let text = format!("{}: {}", self.endpoint, failure.text);
            CallError::own(lost, "Unreachable", text)
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
        if error.failure == Failure::Denied {
            // Others may have been put in their place.
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
}
