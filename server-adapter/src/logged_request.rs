//! A request that will be logged, from its head to the end of its response.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use deskfleet::{Timestamp, TraceId};
use http::{Method, Request, Response, Uri};

use crate::access_log::{AccessLog, Entry, LogFormat};
use crate::operation::Operation;
use crate::options::ServerOptions;
use crate::progress::Progress;
use crate::response_body::OutgoingBody;
use crate::state::ServerState;

/// A request that will be logged.
pub(crate) struct LoggedRequest {
    log: AccessLog,
    format: LogFormat,
    started: Instant,
    time: Timestamp,
    client: IpAddr,
    method: Method,
    uri: Uri,
    trace: TraceId,
    /// The name of the key that was accepted.
    pub(crate) key: Option<String>,
}

impl LoggedRequest {
    /// Keeps what a line needs of `request`, and gives it the trace id that the line will have; `None` where nobody logs.
    pub(crate) fn begin<B>(
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
    pub(crate) fn end(self, operation: Operation, response: &mut Response<OutgoingBody>) {
        let status = response.status().as_u16();
        let line = move |bytes| {
            let line = self.line(operation, status, bytes);
            (self.log)(&line);
        };
        match response.body().len() {
            Some(length) => line(length),
            None => response.body_mut().when_over(Box::new(line)),
        }
    }

    fn line(&self, operation: Operation, status: u16, bytes: usize) -> String {
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
        entry.line(self.format)
    }
}
