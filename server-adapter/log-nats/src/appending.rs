//! Appending an entry once, however late it is tried again.
//!
//! The servers recognise an entry by its id for the duplicate window alone. A process that is paused can take longer. So an attempt long
//! after the first one is sent only on condition that the log still ends where it was seen without the entry: before the first attempt, or
//! where the entries since then were looked through. Earlier ones need no condition, which others that append would break again and again.

use std::time::Duration;

use async_nats::client::{Request, RequestErrorKind};
use async_nats::connection::State;
use async_nats::header::{HeaderMap, NATS_EXPECTED_LAST_SEQUENCE, NATS_MESSAGE_ID};
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::publish::PublishAck;
use async_nats::jetstream::response::Response;
use bytes::Bytes;
use deskfleet::Timestamp;
use deskfleet::cluster::{EntryId, LogEntry, LogError, LogErrorKind};
use deskfleet::locks::lock;
use deskfleet_log_runtime::LogClient as _;
use tokio::time::{Instant, sleep};

use crate::client::{JetStreamClient, RETRY_INTERVAL, TIME_HEADER};
use crate::undecided::Attempted;

/// After this time an append has failed, which is tried again meanwhile: a stopped leader is replaced after four to nine seconds.
const APPEND_MAX: Duration = Duration::from_secs(10);
/// When an append without a response is tried again.
const ATTEMPT_MAX: Duration = Duration::from_secs(2);
/// The most bytes of one read of entries that are looked through.
const SEARCH_BYTES: usize = 1 << 20;

/// Why an entry has no position.
enum Failure {
    NotSent(String),
    /// The log does not end where it was expected to.
    Moved(String),
    Unknown(String),
}

impl JetStreamClient {
    /// Appends an entry again, where it may have been appended, for as long as there is time: while another leader is elected, no server
    /// responds.
    pub(super) async fn append_once(&self, id: EntryId, body: Bytes) -> Result<u64, LogError> {
        let body_max = self.body_max();
        if body.len() > body_max {
            let bytes = body.len();
            return Err(self.unavailable(format!(
                "an entry of {bytes} bytes: max_payload leaves {body_max}"
            )));
        }
        // `Some` once it may be in the log.
        let mut first = lock(&self.undecided).take(id);
        lock(&self.own).appending(id);
        let appended = self.append_until(id, body.clone(), &mut first).await;
        // One that was sent twice may have been announced twice.
        let position = appended.as_ref().ok().filter(|_| first.is_none());
        lock(&self.own).appended(position.copied(), id, body);
        if let (Err(_), Some(first)) = (&appended, first) {
            lock(&self.undecided).put(id, first);
        }
        appended
    }

    async fn append_until(
        &self,
        id: EntryId,
        body: Bytes,
        first: &mut Option<Attempted>,
    ) -> Result<u64, LogError> {
        let end = Instant::now() + APPEND_MAX;
        loop {
            // What is sent to a lost connection would be sent later, when nobody waits for it.
            while self.client.connection_state() != State::Connected {
                if Instant::now() >= end {
                    return Err(self.error(kind(first.is_some()), "no connection"));
                }
                sleep(RETRY_INTERVAL).await;
            }
            let attempted = Attempted::new(self.end.known());
            let late = first.filter(|first| first.may_be_forgotten(self.duplicate_window));
            let expected_last = late.map(|first| first.absent_through);
            let attempt = self.try_append(id, body.clone(), expected_last, None, end);
            let (message, pause) = match attempt.await {
                Ok(ack) => return Ok(ack.sequence),
                Err(Failure::NotSent(message)) => (message, RETRY_INTERVAL),
                Err(Failure::Moved(message)) => {
                    // Others append as well: the sooner it is tried again, the likelier is it that none was in between.
                    match self.search(id, first).await {
                        Ok(Some(position)) => return Ok(position),
                        Ok(None) => (message, Duration::ZERO),
                        Err(error) => (error.message, RETRY_INTERVAL),
                    }
                }
                Err(Failure::Unknown(message)) => {
                    first.get_or_insert(attempted);
                    (message, RETRY_INTERVAL)
                }
            };
            if Instant::now() + RETRY_INTERVAL >= end {
                return Err(self.error(kind(first.is_some()), message));
            }
            sleep(pause).await;
        }
    }

    /// Appends an entry that the log has lost, with its time, where the log ends before it.
    pub(super) async fn restore_once(&self, entry: LogEntry) -> Result<bool, LogError> {
        let before = Some(entry.position.saturating_sub(1));
        let (at, body) = (Some(entry.at), entry.body.into());
        let end = Instant::now() + ATTEMPT_MAX;
        match self.try_append(entry.id, body, before, at, end).await {
            Ok(ack) => Ok(!ack.duplicate),
            Err(Failure::Moved(_)) => Ok(false),
            Err(Failure::NotSent(message)) => Err(self.unavailable(message)),
            Err(Failure::Unknown(message)) => Err(self.error(LogErrorKind::Unknown, message)),
        }
    }

    /// Looks for an entry in what was appended since the log was seen without it; returns where it is, and moves on what was seen.
    async fn search(
        &self,
        id: EntryId,
        first: &mut Option<Attempted>,
    ) -> Result<Option<u64>, LogError> {
        let mut through = first.map_or(0, |first| first.absent_through);
        loop {
            let read = self.read(through + 1, SEARCH_BYTES, Duration::ZERO);
            let entries = read.await?;
            if let Some(found) = entries.iter().find(|entry| entry.id == id) {
                return Ok(Some(found.position));
            }
            let Some(last) = entries.last() else {
                return Ok(None);
            };
            through = last.position;
            if let Some(first) = first {
                first.absent_through = through;
            }
            if through >= self.end.known() {
                return Ok(None);
            }
        }
    }

    async fn try_append(
        &self,
        id: EntryId,
        body: Bytes,
        expected_last: Option<u64>,
        at: Option<Timestamp>,
        end: Instant,
    ) -> Result<PublishAck, Failure> {
        let mut headers = HeaderMap::new();
        headers.insert(NATS_MESSAGE_ID, id.to_string());
        if let Some(last) = expected_last {
            headers.insert(NATS_EXPECTED_LAST_SEQUENCE, last.to_string());
        }
        if let Some(at) = at {
            headers.insert(TIME_HEADER, at.ticks().to_string());
        }
        let left = end.saturating_duration_since(Instant::now());
        let request = Request::new()
            .headers(headers)
            .payload(body)
            .timeout(Some(left.min(ATTEMPT_MAX)));
        let subject = format!("df.{}.log", self.fleet);
        let response = self.client.send_request(subject, request).await;
        let response = response.map_err(|error| {
            let (kind, message) = (error.kind(), error.to_string());
            // Nobody stored it: no server leads the stream, or the one that is connected to takes less.
            if kind == RequestErrorKind::NoResponders
                || kind == RequestErrorKind::MaxPayloadExceeded
            {
                return Failure::NotSent(message);
            }
            Failure::Unknown(message)
        })?;
        match serde_json::from_slice(&response.payload) {
            Ok(Response::<PublishAck>::Ok(ack)) => {
                self.end.appended(ack.sequence);
                Ok(ack)
            }
            Ok(Response::Err { error })
                if error.error_code() == ErrorCode::STREAM_WRONG_LAST_SEQUENCE =>
            {
                Err(Failure::Moved(error.to_string()))
            }
            // Also where another append of the same entry is under way, and where only the leader could not store it.
            Ok(Response::Err { error }) => Err(Failure::Unknown(error.to_string())),
            Err(error) => Err(Failure::Unknown(error.to_string())),
        }
    }
}

/// What an append that ends without a position is.
fn kind(may_be_stored: bool) -> LogErrorKind {
    if may_be_stored {
        LogErrorKind::Unknown
    } else {
        LogErrorKind::Unavailable
    }
}
