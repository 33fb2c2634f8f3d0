//! A web service that makes an action happen, called as the Standard Webhooks specification 1.0.0 says.

use std::fmt;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use deskfleet_client::webhook::Secret;
use http::{Method, Request, Uri};
use serde_json::{Value, json};
use ureq::Agent;

use super::kind::{Answer, Kind, Order};
use deskfleet_client::transport::{Bounds, Response, agent, send};

/// Time to connect.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// Posts each action to an address. 200 and 204: it has happened; 202: it is under way, and somebody completes it; 425, 429 and 503: try again; other
/// 5xx and 408: it may have been carried out or not; any
/// other: it has failed. No redirect is followed.
pub(super) struct Webhook {
    agent: Agent,
    url: Uri,
    secret: Secret,
    /// Which fleet the actions are of: their numbers are not unique.
    fleet: String,
    /// How long an answer may take.
    time: Duration,
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").finish_non_exhaustive()
    }
}

impl Webhook {
    /// # Errors
    ///
    /// One sentence about the secret or the CAs.
    pub(super) fn new(
        url: Uri,
        secret_file: &Path,
        fleet: String,
        time: Duration,
        ca: Option<&Path>,
    ) -> io::Result<Self> {
        let bounds = Bounds {
            whole: time,
            connect: CONNECT_TIME,
            proxied: true,
        };
        let secret = Secret::read(secret_file)?;
        Ok(Self {
            agent: agent(bounds, ca)?,
            url,
            secret,
            fleet,
            time,
        })
    }

    fn post(&self, order: &Order) -> Answer {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH);
        let timestamp = seconds.unwrap_or_default().as_secs();
        // The same for each attempt: a service that has seen it does nothing again.
        let id = format!("{}-{}", self.fleet, order.id);
        let body = json!({
            "type": "action.requested",
            "timestamp": deskfleet::Timestamp::from(SystemTime::now()),
            "data": {
                "fleet": self.fleet,
                "id": order.id,
                "action": order.action.as_str(),
                "workSpaceId": order.workspace_id,
                "computeType": order.compute_type,
                "attempt": order.attempt,
            },
        })
        .to_string();
        let signature = self.secret.sign(&id, timestamp, body.as_bytes());
        let request = Request::builder()
            .method(Method::POST)
            .uri(self.url.clone())
            .header("content-type", "application/json")
            .header("webhook-id", &id)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", signature)
            .body(body.into_bytes());
        let request = match request {
            Ok(request) => request,
            Err(error) => return Answer::Denied(format!("the request cannot be made: {error}")),
        };
        match send(&self.agent, request) {
            Ok(response) => answer(&response, id),
            Err(failure) if failure.is_sent => Answer::Lost(failure.text),
            Err(failure) => Answer::Later {
                after: None,
                why: failure.text,
            },
        }
    }
}

impl Kind for Webhook {
    fn answers_within(&self) -> Duration {
        self.time
    }

    fn send(&self, orders: &[Order], _: &dyn Fn(&Value) -> bool) -> Vec<Answer> {
        orders.iter().map(|order| self.post(order)).collect()
    }
}

fn answer(response: &Response, id: String) -> Answer {
    let after = response
        .header("retry-after")
        .and_then(|text| text.parse().ok());
    let message = format!("The service answered {}.", response.status);
    match response.status {
        202 => Answer::Accepted(Some(id)),
        200..300 => Answer::Done,
        401 | 403 => Answer::Denied(format!("{message} Does it know the secret?")),
        // Of others that may have been carried out: a proxy in between gives up on a service that goes on.
        408 | 500..503 | 504..600 => Answer::Lost(message),
        425 | 429 | 503 => Answer::Later {
            after: after.map(Duration::from_secs),
            why: message,
        },
        _ => Answer::Failed(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_says_how_it_went() {
        let of = |status: u16| {
            let mut headers = http::HeaderMap::new();
            headers.insert("retry-after", http::HeaderValue::from_static("7"));
            let response = Response {
                status,
                headers,
                body: Vec::new(),
            };
            answer(&response, "f-1".to_owned())
        };
        assert_eq!(of(200), Answer::Done);
        assert_eq!(of(204), Answer::Done);
        assert_eq!(of(202), Answer::Accepted(Some("f-1".to_owned())));
        for later in [425, 429, 503] {
            let seven = Some(Duration::from_secs(7));
            assert!(matches!(of(later), Answer::Later { after, .. } if after == seven));
        }
        for lost in [408, 500, 502, 504] {
            assert!(matches!(of(lost), Answer::Lost(_)), "{lost}");
        }
        assert!(matches!(of(401), Answer::Denied(_)));
        for failed in [301, 400, 404, 410] {
            assert!(matches!(of(failed), Answer::Failed(_)), "{failed}");
        }
    }
}
