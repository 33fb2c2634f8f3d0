//! Requests to receivers. No message has an address, because that may hold a secret.

use std::io;
use std::time::Duration;

use deskfleet_client::transport::{self, Bounds};
use http::{Request, StatusCode};
use ureq::Agent;

/// The longest time to connect.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// Why a request has to be sent again.
#[derive(Debug)]
pub(super) struct NotTaken {
    /// What happened, in a few words.
    pub(super) reason: String,
    /// The wait that the receiver asks for.
    pub(super) retry_after: Option<Duration>,
}

impl NotTaken {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            retry_after: None,
        }
    }
}

/// An agent that gives up after `timeout`, follows no redirect, and trusts the CAs of the system.
pub(super) fn agent(timeout: Duration) -> io::Result<Agent> {
    let bounds = Bounds {
        whole: timeout,
        connect: timeout.min(CONNECT_MAX),
        proxied: true,
    };
    transport::agent(bounds, None)
}

/// Sends a request; a status of 2xx is a success.
pub(super) fn send(agent: &Agent, request: Request<Vec<u8>>) -> Result<(), NotTaken> {
    let response = transport::send(agent, request).map_err(|failure| {
        if failure.text.contains("://") {
            return NotTaken::new("its address cannot be used");
        }
        NotTaken::new(failure.text)
    })?;
    if (200..300).contains(&response.status) {
        return Ok(());
    }
    let seconds = response.header("retry-after").map(str::parse);
    let advice = match StatusCode::from_u16(response.status) {
        Ok(status) if status.is_redirection() => {
            "; redirects are not followed: set the address that it leads to"
        }
        Ok(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => "; does it know the secret?",
        Ok(StatusCode::NOT_FOUND | StatusCode::GONE) => "; is the address still right?",
        _ => "",
    };
    Err(NotTaken {
        reason: format!("it returned {}{advice}", response.status),
        retry_after: seconds.and_then(Result::ok).map(Duration::from_secs),
    })
}
