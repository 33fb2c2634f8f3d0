//! A thread that reports to a monitor outside, at intervals, that the server runs and how bad the worst is that is wrong.

use std::io;
use std::time::Duration;

use deskfleet::Engine;
use http::{Method, Request};
use serde_json::json;
use ureq::Agent;

use super::agent::{NotTaken, agent, send};
use super::options::{HeartbeatMethod, HeartbeatOptions, SEVERITY, shown_url};
use super::severity::worst;
use super::state::Receiver;
use super::webhook::wait;
use crate::metrics::Metrics;

/// A monitor.
#[derive(Debug)]
pub(super) struct Heartbeat {
    receiver: Receiver,
    url: String,
    every: Duration,
    method: HeartbeatMethod,
    agent: Agent,
}

impl Heartbeat {
    /// `None` without an address.
    ///
    /// # Errors
    ///
    /// When no agent can be made.
    pub(super) fn new(options: &HeartbeatOptions) -> io::Result<Option<Self>> {
        let Some(url) = options.url.clone() else {
            return Ok(None);
        };
        Ok(Some(Self {
            receiver: Receiver {
                webhook: None,
                host: shown_url(&url),
            },
            every: options.every,
            method: options.method,
            agent: agent(options.timeout)?,
            url,
        }))
    }

    pub(super) fn receiver(&self) -> Receiver {
        self.receiver.clone()
    }

    /// Sends until `is_stopping`.
    pub(super) fn run(&self, engine: &Engine, metrics: &Metrics, is_stopping: &dyn Fn() -> bool) {
        while !is_stopping() {
            let receivers = metrics.receivers();
            match self.send(worst(engine)) {
                Ok(()) => receivers.taken(&self.receiver),
                Err(NotTaken { reason, .. }) => {
                    let what = "the monitor may raise an alarm although the server runs";
                    receivers.failed(&self.receiver, engine.now(), &reason, what);
                }
            }
            wait(self.every, is_stopping);
        }
    }

    fn send(&self, severity: &str) -> Result<(), NotTaken> {
        let url = self.url.replace(SEVERITY, severity);
        let (method, body) = match self.method {
            HeartbeatMethod::Post => {
                let body = json!({ "severity": severity });
                (Method::POST, body.to_string())
            }
            HeartbeatMethod::Get => (Method::GET, String::new()),
        };
        let mut request = Request::builder().method(&method).uri(url);
        if method == Method::POST {
            request = request.header("content-type", "application/json");
        }
        let request = request.body(body.into_bytes());
        let request = request.map_err(|_| NotTaken::new("its address cannot be used"))?;
        send(&self.agent, request)
    }
}
