//! A request from its head to the end of its response, or of its connection: counted and logged.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use deskfleet::{KeyInfo, Timestamp, TraceId};
use http::{Method, Request, Response, Uri};

use super::access_log::{AccessLog, Entry, LogFormat};
use crate::connection::progress::Progress;
use crate::limits::budget::ResponseShare;
use crate::metrics::Metrics;
use crate::options::ServerOptions;
use crate::request::operation::Operation;
use crate::response::body::OutgoingBody;
use crate::state::ServerState;

/// The status, in log and metrics, of a request whose connection ended before its response; it may have taken effect. Proxies use
/// the same status.
const CONNECTION_ENDED: u16 = 499;

/// The lowest status that is an error.
const ERRORS_FROM: u16 = 400;

/// A request in progress: counted and logged with its response, or with 499 if it is dropped before.
pub(crate) struct HandledRequest<'s> {
    metrics: &'s Metrics,
    options: &'s ServerOptions,
    started: Instant,
    /// Its operation, once known.
    pub(crate) operation: Operation,
    /// The id of the key that was accepted.
    pub(crate) key: Option<u64>,
    /// Room for its response, if it was taken before the write. In a box, because only reports to operators have it.
    pub(crate) share: Option<Box<ResponseShare>>,
    /// `None` without an access log. In a box, because most servers write none and every request in progress has room for it.
    logged: Option<Box<LoggedRequest>>,
    /// Whether it may have a key, also a bad one.
    pub(crate) may_hold_key: bool,
    has_response: bool,
}

impl<'s> HandledRequest<'s> {
    pub(crate) fn begin<B>(
        shared: &'s ServerState,
        options: &'s ServerOptions,
        progress: &Progress,
        request: &mut Request<B>,
    ) -> Self {
        let started = Instant::now();
        Self {
            metrics: &shared.metrics,
            options,
            started,
            operation: Operation::None,
            key: None,
            share: None,
            logged: LoggedRequest::begin(shared, options, progress, request, started).map(Box::new),
            may_hold_key: false,
            has_response: false,
        }
    }

    /// Records the accepted key.
    pub(crate) fn with_key(&mut self, key: Option<&KeyInfo>) {
        self.key = key.map(|key| key.id);
        if let Some(logged) = &mut self.logged {
            logged.key = key.map(|key| (*key.name).to_owned());
        }
    }

    /// Counts the request and logs it, with its response.
    pub(crate) fn finish(mut self, response: &mut Response<OutgoingBody>) {
        self.has_response = true;
        let status = response.status().as_u16();
        self.count(status);
        if let Some(logged) = self.take_logged(status) {
            logged.log_response(self.operation, response);
        }
    }

    /// What will be logged, unless the options leave requests of this operation and status out.
    fn take_logged(&mut self, status: u16) -> Option<Box<LoggedRequest>> {
        let label = self.operation.label();
        let is_left_out = self.options.log_errors_only && status < ERRORS_FROM
            || self
                .options
                .log_except
                .iter()
                .any(|left_out| left_out == label);
        self.logged.take().filter(|_| !is_left_out)
    }

    fn count(&self, status: u16) {
        let duration = self.started.elapsed();
        self.metrics
            .count_response(self.operation, status, duration);
    }
}

impl Drop for HandledRequest<'_> {
    fn drop(&mut self) {
        if self.has_response {
            return;
        }
        self.count(CONNECTION_ENDED);
        if let Some(logged) = self.take_logged(CONNECTION_ENDED) {
            logged.write(self.operation, CONNECTION_ENDED, 0);
        }
    }
}

/// A request that will be logged.
struct LoggedRequest {
    log: AccessLog,
    format: LogFormat,
    started: Instant,
    time: Timestamp,
    client: IpAddr,
    method: Method,
    uri: Uri,
    trace: TraceId,
    /// The name of the key that was accepted.
    key: Option<String>,
}

impl LoggedRequest {
    /// Keeps the parts of `request` that the line needs, and sets its trace id to that of the line; `None` without an access log.
    fn begin<B>(
        shared: &ServerState,
        options: &ServerOptions,
        progress: &Progress,
        request: &mut Request<B>,
        started: Instant,
    ) -> Option<Self> {
        let format = options.log_format;
        let wanted = options.access_log.as_ref();
        let log = wanted.filter(|_| format != LogFormat::Off)?;
        let trace = shared.engine.trace_id(request.headers().get("traceparent"));
        request.extensions_mut().insert(trace.clone());
        Some(Self {
            log: Arc::clone(log),
            format,
            started,
            time: shared.engine.now(),
            client: shared.source_address(progress, request.headers()),
            method: request.method().clone(),
            uri: request.uri().clone(),
            trace,
            key: None,
        })
    }

    /// Logs the request with its response. A body that is made while it is sent is logged at its end, when its length is known.
    fn log_response(self, operation: Operation, response: &mut Response<OutgoingBody>) {
        let status = response.status().as_u16();
        let line = move |bytes| self.write(operation, status, bytes);
        match response.body().len() {
            Some(length) => line(length),
            None => response.body_mut().when_over(Box::new(line)),
        }
    }

    fn write(&self, operation: Operation, status: u16, bytes: usize) {
        let entry = Entry {
            time: self.time,
            client: self.client.to_canonical(),
            method: self.method.as_str(),
            path: self.uri.path(),
            operation: operation.label(),
            status,
            bytes,
            duration: self.started.elapsed(),
            key: self.key.as_deref(),
            trace_id: self.trace.as_str(),
        };
        (self.log)(&entry.line(self.format));
    }
}
