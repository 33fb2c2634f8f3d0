//! A log in a stream of NATS JetStream.
//!
//! The positions are the sequences of the stream. Copies of the stream hold only what most of them have, so an entry that one of
//! them returns is the entry of that position: entries are read from the copy that is nearest. That there is none yet, and where the
//! log begins and ends, only the leader is believed. Whoever takes itself for the leader after others have elected another one
//! answers with an older end than what is known here, and is asked again.

mod address;
mod checks;

use std::fmt;
use std::future::{Future, IntoFuture};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use async_nats::client::{Request, RequestErrorKind};
use async_nats::connection::State;
use async_nats::header::{HeaderMap, NATS_MESSAGE_ID, NATS_SEQUENCE};
use async_nats::jetstream;
use async_nats::jetstream::context::Context;
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::publish::PublishAck;
use async_nats::jetstream::response::Response;
use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use async_nats::{Client, ConnectError, ConnectErrorKind, StatusCode, Subscriber};
use bytes::Bytes;
use deskfleet::{EntryId, Log, LogBounds, LogEntry, LogError, LogErrorKind, NodeReport, Timestamp};
use futures_util::{StreamExt as _, TryStreamExt as _};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout, timeout_at};

pub use address::NatsOptions;

use address::Address;

/// After this time a request has failed.
const REQUEST_MAX: Duration = Duration::from_secs(5);
/// The same for an append, which is tried again meanwhile: a stopped leader is replaced after four to nine seconds.
const APPEND_MAX: Duration = Duration::from_secs(10);
/// When an append is tried again that nobody answers.
const ATTEMPT_MAX: Duration = Duration::from_secs(2);
/// How often the leader is asked by a waiting read, which else hears of an entry from the server that stored it.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
const RETRY_INTERVAL: Duration = Duration::from_millis(20);
const REPLICAS: usize = 3;
/// What of `max_payload` is left for the header of an entry.
const HEADER_BYTES: usize = 512;
/// What a server must take: more than the entries of the engine.
const BODY_BYTES_MIN: usize = 1_000_000;
/// The most bytes and entries of one read.
const READ_BYTES_MAX: usize = 4 << 20;
const READ_ENTRIES_MAX: usize = 1000;

/// A log in a stream of NATS JetStream 2.12 or later, shared by all that open the same URL with the same name of a fleet.
///
/// The stream is `df_FLEET` with the subject `df.FLEET.log`; its servers announce what they stored on `df.FLEET.tail`. What nodes
/// report is in the stream `df_FLEET_nodes`, subjects `df.FLEET.node.*`.
pub struct JetStreamLog {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    shared: Arc<Shared>,
    warnings: Vec<String>,
}

impl fmt::Debug for JetStreamLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JetStreamLog")
            .field("fleet", &self.shared.fleet)
            .finish_non_exhaustive()
    }
}

impl Drop for JetStreamLog {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl JetStreamLog {
    /// Connects, makes the streams where they are missing, and checks the settings that an acknowledged entry depends on.
    ///
    /// `url` is `nats://HOST:PORT,HOST:PORT?fleet=NAME&monitor=http://HOST:PORT,...`, or with `tls://`. `monitor` is for the check
    /// that each server has `sync_interval: always`; with `unchecked_sync=yes` there is none.
    ///
    /// # Errors
    /// [`LogErrorKind::Unsafe`] where the URL cannot be used or the servers would lose acknowledged entries,
    /// [`LogErrorKind::Unavailable`] where no server can be reached. No message has the credentials.
    pub fn open(url: &str, options: &NatsOptions) -> Result<Self, LogError> {
        let address = Address::new(url, options)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("deskfleet-log")
            .enable_all()
            .build()
            .map_err(|error| LogError::new(LogErrorKind::Unavailable, error.to_string()))?;
        let (shared, warnings) = run(&runtime, Shared::open(address))?;
        Ok(Self {
            runtime: Some(runtime),
            shared: Arc::new(shared),
            warnings,
        })
    }

    /// What the operator should know about the servers; sentences.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn run<T: Send + 'static, F: Future<Output = Result<T, LogError>> + Send + 'static>(
        &self,
        task: impl FnOnce(Arc<Shared>) -> F,
    ) -> Result<T, LogError> {
        match &self.runtime {
            Some(runtime) => run(runtime, task(Arc::clone(&self.shared))),
            None => Err(ended()),
        }
    }
}

/// Runs `task` to its end; also on a thread of another runtime.
fn run<T: Send + 'static>(
    runtime: &Runtime,
    task: impl Future<Output = Result<T, LogError>> + Send + 'static,
) -> Result<T, LogError> {
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime.spawn(async move {
        // Fails only where the caller is gone.
        let _ = sender.send(task.await);
    });
    receiver.recv().unwrap_or_else(|_| Err(ended()))
}

fn ended() -> LogError {
    LogError::new(LogErrorKind::Unknown, "the thread of the log ended")
}

impl Log for JetStreamLog {
    /// A body has at most the servers' `max_payload` less 512 bytes, and that is at least 1 000 000 bytes.
    ///
    /// The same `id` is known for five minutes: it must not be appended again later than that.
    fn append(&self, id: EntryId, body: &[u8]) -> Result<u64, LogError> {
        let body = Bytes::copy_from_slice(body);
        self.run(|shared| async move { shared.append(id, body).await })
    }

    fn read(
        &self,
        from: u64,
        bytes_max: usize,
        patience: Duration,
    ) -> Result<Vec<LogEntry>, LogError> {
        self.run(|shared| async move { shared.read(from, bytes_max, patience).await })
    }

    fn bounds(&self) -> Result<LogBounds, LogError> {
        self.run(|shared| async move { shared.bounds().await })
    }

    fn trim(&self, below: u64) -> Result<(), LogError> {
        self.run(|shared| async move {
            let bounds = shared.bounds().await?;
            // Else the stream would go on after the positions that it has not yet had.
            let below = below.min(bounds.last + 1);
            if below <= bounds.first {
                return Ok(());
            }
            let purge = shared.log.purge().sequence(below);
            shared.within(purge.into_future()).await.map(drop)
        })
    }

    fn report(&self, node: &str, report: &str) -> Result<(), LogError> {
        let (node, report) = (node.to_owned(), report.to_owned());
        self.run(|shared| async move {
            let subject = shared.node_subject(&node);
            let sent = shared.within(shared.context.publish(subject, report.into()));
            let ack = sent.await?;
            shared.within(ack.into_future()).await.map(drop)
        })
    }

    fn reports(&self) -> Result<Vec<NodeReport>, LogError> {
        self.run(|shared| async move { shared.reports().await })
    }

    fn forget(&self, node: &str) -> Result<(), LogError> {
        let node = node.to_owned();
        self.run(|shared| async move {
            let purge = shared.nodes.purge().filter(shared.node_subject(&node));
            shared.within(purge.into_future()).await.map(drop)
        })
    }
}

/// What the thread of the log works with.
struct Shared {
    fleet: String,
    /// The servers, for messages.
    names: String,
    client: Client,
    context: Context,
    log: Stream<()>,
    nodes: Stream<()>,
    /// The last position that was appended, read or announced.
    known: watch::Sender<u64>,
}

impl Shared {
    async fn open(address: Address) -> Result<(Self, Vec<String>), LogError> {
        let mut warnings = checks::sync(&address).await?;
        let names = address.names;
        let fail = |kind, said: String| LogError::new(kind, format!("NATS at {names}: {said}"));
        let client = address.connect.connect(address.servers.as_slice()).await;
        let client =
            client.map_err(|error| fail(LogErrorKind::Unavailable, connect_failure(&error)))?;
        let server = client.server_info();
        warnings.extend(checks::version(&server.version)?);
        if !server.jetstream {
            let said = "JetStream is off: set the section `jetstream` of the server";
            return Err(fail(LogErrorKind::Unsafe, said.to_owned()));
        }
        if server.max_payload < BODY_BYTES_MIN + HEADER_BYTES {
            let said = format!(
                "max_payload is {}, and must be 1MB at least",
                server.max_payload
            );
            return Err(fail(LogErrorKind::Unsafe, said));
        }
        let replicas = if server.cluster.is_some() {
            REPLICAS
        } else {
            1
        };
        if replicas == 1 {
            warnings.push(format!("NATS at {names} is one server without a cluster: its disk is the only one that has the log"));
        }
        let mut context = jetstream::new(client.clone());
        context.set_timeout(REQUEST_MAX);
        let fleet = address.fleet;
        let (log, nodes) = (format!("df_{fleet}"), format!("df_{fleet}_nodes"));
        let (subject, tail) = (format!("df.{fleet}.log"), format!("df.{fleet}.tail"));
        checks::stream(&context, checks::entries(&log, &subject, &tail, replicas)).await?;
        let subjects = format!("df.{fleet}.node.*");
        checks::stream(&context, checks::reports(&nodes, &subjects, replicas)).await?;
        let stream = async |name| context.get_stream_no_info(name).await;
        let failed = |error: &dyn fmt::Display| fail(LogErrorKind::Unavailable, error.to_string());
        let shared = Self {
            log: stream(log).await.map_err(|error| failed(&error))?,
            nodes: stream(nodes).await.map_err(|error| failed(&error))?,
            known: watch::Sender::new(0),
            fleet,
            client: client.clone(),
            context,
            names: names.clone(),
        };
        let announced = client
            .subscribe(tail)
            .await
            .map_err(|error| failed(&error))?;
        tokio::spawn(listen(announced, shared.known.clone()));
        shared.bounds().await?;
        Ok((shared, warnings))
    }

    fn error(&self, kind: LogErrorKind, said: impl fmt::Display) -> LogError {
        LogError::new(kind, format!("NATS at {}: {said}", self.names))
    }

    fn unavailable(&self, said: impl fmt::Display) -> LogError {
        self.error(LogErrorKind::Unavailable, said)
    }

    /// What may be done again where it fails.
    async fn within<T, E: fmt::Display>(
        &self,
        request: impl Future<Output = Result<T, E>>,
    ) -> Result<T, LogError> {
        match timeout(REQUEST_MAX, request).await {
            Ok(done) => done.map_err(|error| self.unavailable(error)),
            Err(_) => Err(self.unavailable("no response")),
        }
    }

    /// An entry that may have been appended is appended again for as long as there is time: while another leader is elected, nobody
    /// answers.
    async fn append(&self, id: EntryId, body: Bytes) -> Result<u64, LogError> {
        let body_max = self.client.server_info().max_payload;
        let body_max = body_max.saturating_sub(HEADER_BYTES);
        if body.len() > body_max {
            let bytes = body.len();
            let said = format!("an entry of {bytes} bytes: max_payload leaves {body_max}");
            return Err(self.unavailable(said));
        }
        let end = Instant::now() + APPEND_MAX;
        // What is sent to a lost connection would be sent later, when nobody waits for it.
        while self.client.connection_state() != State::Connected {
            if Instant::now() >= end {
                return Err(self.unavailable("no connection"));
            }
            sleep(RETRY_INTERVAL).await;
        }
        let mut kind = LogErrorKind::Unavailable;
        loop {
            let said = match self.try_append(id, body.clone(), end).await {
                Ok(position) => return Ok(position),
                Err(Failure::NotSent(said)) => said,
                Err(Failure::Unknown(said)) => {
                    kind = LogErrorKind::Unknown;
                    said
                }
            };
            if Instant::now() + RETRY_INTERVAL >= end {
                return Err(self.error(kind, said));
            }
            sleep(RETRY_INTERVAL).await;
        }
    }

    async fn try_append(&self, id: EntryId, body: Bytes, end: Instant) -> Result<u64, Failure> {
        let mut headers = HeaderMap::new();
        headers.insert(NATS_MESSAGE_ID, id.to_string());
        let left = end.saturating_duration_since(Instant::now());
        let request = Request::new()
            .headers(headers)
            .payload(body)
            .timeout(Some(left.min(ATTEMPT_MAX)));
        let subject = format!("df.{}.log", self.fleet);
        let answer = self.client.send_request(subject, request).await;
        let answer = answer.map_err(|error| match error.kind() {
            // No server leads the stream, or the connection is to one that takes less: nobody stored it.
            RequestErrorKind::NoResponders => {
                Failure::NotSent("no server leads the stream".to_owned())
            }
            RequestErrorKind::MaxPayloadExceeded => Failure::NotSent(error.to_string()),
            _ => Failure::Unknown(error.to_string()),
        })?;
        match serde_json::from_slice(&answer.payload) {
            Ok(Response::<PublishAck>::Ok(ack)) => {
                self.saw(ack.sequence);
                Ok(ack.sequence)
            }
            // Also where another append of the same entry is under way, and where only the leader could not store it.
            Ok(Response::Err { error }) => Err(Failure::Unknown(error.to_string())),
            Err(error) => Err(Failure::Unknown(error.to_string())),
        }
    }

    /// No answer may be older from now on.
    fn saw(&self, position: u64) {
        raise(&self.known, position);
    }

    async fn bounds(&self) -> Result<LogBounds, LogError> {
        let end = Instant::now() + REQUEST_MAX;
        loop {
            let known = *self.known.borrow();
            let state = self.within(self.log.get_info()).await?.state;
            let last = state.last_sequence;
            if last >= known {
                self.saw(last);
                let is_empty = state.messages == 0;
                let first = if is_empty {
                    last + 1
                } else {
                    state.first_sequence
                };
                return Ok(LogBounds { first, last });
            }
            if Instant::now() >= end {
                return Err(self.unavailable(format!(
                    "the stream ends at {last}, before {known}, which was in it: its leader has lost it, or is none any more"
                )));
            }
            sleep(RETRY_INTERVAL).await;
        }
    }

    async fn read(
        &self,
        from: u64,
        bytes_max: usize,
        patience: Duration,
    ) -> Result<Vec<LogEntry>, LogError> {
        let end = Instant::now() + patience;
        let mut known = self.known.subscribe();
        loop {
            let entries = self.near(from, bytes_max.clamp(1, READ_BYTES_MAX)).await?;
            if let Some(last) = entries.last() {
                self.saw(last.position);
                return Ok(entries);
            }
            let bounds = self.bounds().await?;
            if from < bounds.first {
                return Err(self.error(
                    LogErrorKind::Trimmed,
                    format!("position {from} was removed, {} is the first", bounds.first),
                ));
            }
            // The nearest copy does not have it yet.
            if from <= bounds.last {
                let message = self.within(self.log.get_raw_message(from)).await?;
                return Ok(vec![self.entry(message)?]);
            }
            let now = Instant::now();
            if now >= end {
                return Ok(Vec::new());
            }
            let heard = known.wait_for(|known| *known >= from);
            // Either way it looks again.
            let _ = timeout_at(end.min(now + POLL_INTERVAL), heard).await;
        }
    }

    /// What the nearest copy of the stream has from a position on, which may be less than there is.
    async fn near(&self, from: u64, bytes_max: usize) -> Result<Vec<LogEntry>, LogError> {
        let inbox = self.client.new_inbox();
        let mut answers = self.within(self.client.subscribe(inbox.clone())).await?;
        let question =
            format!(r#"{{"seq":{from},"batch":{READ_ENTRIES_MAX},"max_bytes":{bytes_max}}}"#);
        let subject = format!("$JS.API.DIRECT.GET.df_{}", self.fleet);
        let sent = self
            .client
            .publish_with_reply(subject, inbox, question.into());
        self.within(sent).await?;
        let end = Instant::now() + REQUEST_MAX;
        let mut entries: Vec<LogEntry> = Vec::new();
        while let Ok(Some(message)) = timeout_at(end, answers.next()).await {
            match message.status {
                None => {}
                Some(StatusCode::NO_RESPONDERS) => {
                    return Err(self.unavailable("no server has a copy of the stream"));
                }
                // The end, or none.
                Some(_) => return Ok(entries),
            }
            let message =
                StreamMessage::try_from(message).map_err(|error| self.unavailable(error))?;
            if message.sequence != from + entries.len() as u64 {
                return Ok(entries);
            }
            entries.push(self.entry(message)?);
        }
        if entries.is_empty() {
            return Err(self.unavailable("no response"));
        }
        Ok(entries)
    }

    fn entry(&self, message: StreamMessage) -> Result<LogEntry, LogError> {
        let id = message.headers.get(NATS_MESSAGE_ID);
        let id = id.and_then(|id| unhex(id.as_str())?.try_into().ok());
        let id = id.ok_or_else(|| {
            let said = format!(
                "the message {} is not an entry of deskfleet",
                message.sequence
            );
            self.error(LogErrorKind::Unsafe, said)
        })?;
        Ok(LogEntry {
            position: message.sequence,
            at: at(&message),
            id: EntryId(id),
            body: message.payload.into(),
        })
    }

    fn node_subject(&self, node: &str) -> String {
        let digits: String = node.bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("df.{}.node.{digits}", self.fleet)
    }

    async fn reports(&self) -> Result<Vec<NodeReport>, LogError> {
        let prefix = self.node_subject("");
        let subjects = self.nodes.info_with_subjects(format!("{prefix}*"));
        let subjects = self.within(subjects).await?;
        let subjects: Vec<(String, usize)> = self.within(subjects.try_collect()).await?;
        let mut reports = Vec::new();
        for (subject, _) in subjects {
            let message = self.nodes.get_last_raw_message_by_subject(&subject);
            let message = match timeout(REQUEST_MAX, message).await {
                Ok(Ok(message)) => message,
                // Forgotten meanwhile.
                Ok(Err(error)) if error.kind() == LastRawMessageErrorKind::NoMessageFound => {
                    continue;
                }
                Ok(Err(error)) => return Err(self.unavailable(error)),
                Err(_) => return Err(self.unavailable("no response")),
            };
            let name = subject.strip_prefix(&prefix).and_then(unhex);
            let text = |bytes: Vec<u8>| String::from_utf8(bytes).ok();
            if let (Some(node), Some(report)) =
                (name.and_then(text), text(message.payload.to_vec()))
            {
                let at = at(&message);
                reports.push(NodeReport { node, at, report });
            }
        }
        reports.sort_unstable_by(|one, other| one.node.cmp(&other.node));
        Ok(reports)
    }
}

/// Why an entry has no position.
enum Failure {
    NotSent(String),
    Unknown(String),
}

/// Takes note of what the servers announce.
async fn listen(mut announced: Subscriber, known: watch::Sender<u64>) {
    while let Some(message) = announced.next().await {
        let headers = message.headers.as_ref();
        let sequence =
            headers.and_then(|headers| headers.get(NATS_SEQUENCE)?.as_str().parse().ok());
        raise(&known, sequence.unwrap_or(0));
    }
}

fn raise(known: &watch::Sender<u64>, position: u64) {
    known.send_if_modified(|known| {
        let is_later = position > *known;
        *known = position.max(*known);
        is_later
    });
}

/// The cause of a refusal could name the user.
fn connect_failure(error: &ConnectError) -> String {
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            "it refuses the credentials, which --log-credentials gives".to_owned()
        }
        ConnectErrorKind::ServerParse => error.kind().to_string(),
        _ => error.to_string(),
    }
}

fn at(message: &StreamMessage) -> Timestamp {
    let ticks = message.time.unix_timestamp_nanos() / 100;
    Timestamp::from_ticks(i64::try_from(ticks).unwrap_or(0))
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.map(byte).collect()
}
