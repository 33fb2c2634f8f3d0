//! Requests to the servers, but for appends.

use std::fmt::{self, Write as _};
use std::future::{Future, IntoFuture as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream;
use async_nats::jetstream::context::Context;
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::{LastRawMessageError, LastRawMessageErrorKind, Stream};
use async_nats::{Client, Subscriber};
use bytes::Bytes;
use deskfleet::locks::lock;
use deskfleet::{
    Timestamp,
    cluster::{Appended, Chain, EntryId, LogBounds, LogEntry, LogError, LogErrorKind, NodeReport},
};
use deskfleet_log_runtime::LogClient;
use futures_util::stream::FuturesUnordered;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::address::{Address, connect_failure};
use crate::checks::{self, HEADER_BYTES};
use crate::end::End;
use crate::moment::Moment;
use crate::own::Own;
use crate::undecided::Undecided;

/// After this time a request has failed.
const REQUEST_MAX: Duration = Duration::from_secs(5);
/// After this time without a response a request is sent again, later after twice as long.
const ATTEMPT_MIN: Duration = Duration::from_millis(500);
/// After this time it is sent again where it failed.
const REFUSED_INTERVAL: Duration = Duration::from_millis(100);
/// How often the leader is asked by a waiting read, which else hears of an entry from the server that stored it.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
pub(super) const RETRY_INTERVAL: Duration = Duration::from_millis(20);
/// Has the time of an entry that was appended again, in ticks: that of its first append.
pub(super) const TIME_HEADER: &str = "Df-Time";
const REPLICAS: usize = 3;
/// The most bytes and entries of one read.
const READ_BYTES_MAX: usize = 4 << 20;
const READ_ENTRIES_MAX: usize = 1000;

/// The connection to the servers, and what is known of the stream.
pub struct JetStreamClient {
    pub(super) fleet: String,
    /// The servers, for messages.
    names: String,
    pub(super) client: Client,
    pub(super) context: Context,
    pub(super) log: Stream<()>,
    pub(super) nodes: Stream<()>,
    pub(super) end: Arc<End>,
    pub(super) own: Arc<Mutex<Own>>,
    /// What may have been appended.
    pub(super) undecided: Mutex<Undecided>,
    /// How long the servers recognise an entry by its id.
    pub(super) duplicate_window: Duration,
    /// Of the servers as they are set up.
    warnings: Arc<Mutex<Vec<String>>>,
    notices: Vec<String>,
}

impl fmt::Debug for JetStreamClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JetStreamClient")
            .field("fleet", &self.fleet)
            .finish_non_exhaustive()
    }
}

impl JetStreamClient {
    pub(super) async fn open(address: Address) -> Result<Arc<Self>, LogError> {
        let mut warnings = checks::sync(&address.sync).await?;
        let mut notices = Vec::from_iter(address.sync.notice());
        let names = address.names;
        let fail =
            |kind, message: String| LogError::new(kind, format!("NATS at {names}: {message}"));
        let client = address.connect.connect(address.servers.as_slice()).await;
        let client =
            client.map_err(|error| fail(LogErrorKind::Unavailable, connect_failure(&error)))?;
        let server = client.server_info();
        notices.extend(checks::version(&server.version)?);
        checks::server(&server).map_err(|message| fail(LogErrorKind::Unsafe, message))?;
        let replicas = if server.cluster.is_some() {
            REPLICAS
        } else {
            1
        };
        let alone = (replicas == 1).then(|| {
            format!("NATS at {names} is one server without a cluster: its disk is the only one that has the log")
        });
        warnings.extend(alone.clone());
        let mut context = jetstream::new(client.clone());
        context.set_timeout(REQUEST_MAX);
        let fleet = address.fleet;
        let (log, nodes) = (format!("df_{fleet}"), format!("df_{fleet}_nodes"));
        let (subject, tail) = (format!("df.{fleet}.log"), format!("df.{fleet}.tail"));
        checks::stream(
            &context,
            checks::entries(&log, &subject, &tail, replicas, address.duplicate_window),
        )
        .await?;
        let subjects = format!("df.{fleet}.node.*");
        checks::stream(&context, checks::reports(&nodes, &subjects, replicas)).await?;
        let stream = async |name| context.get_stream_no_info(name).await;
        let failed = |error: &dyn fmt::Display| fail(LogErrorKind::Unavailable, error.to_string());
        let opened = Arc::new(Self {
            log: stream(log).await.map_err(|error| failed(&error))?,
            nodes: stream(nodes).await.map_err(|error| failed(&error))?,
            end: Arc::default(),
            own: Arc::default(),
            undecided: Mutex::default(),
            duplicate_window: address.duplicate_window,
            fleet,
            client: client.clone(),
            context,
            names: names.clone(),
            warnings: Arc::new(Mutex::new(warnings)),
            notices,
        });
        let announced = client
            .subscribe(tail)
            .await
            .map_err(|error| failed(&error))?;
        tokio::spawn(listen(
            announced,
            Arc::clone(&opened.end),
            Arc::clone(&opened.own),
        ));
        opened.bounds(0).await?;
        tokio::spawn(checks::watch(
            Arc::clone(&opened.warnings),
            address.sync,
            alone,
        ));
        Ok(opened)
    }

    /// What the operator should know once; sentences.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    pub(super) fn error(&self, kind: LogErrorKind, message: impl fmt::Display) -> LogError {
        LogError::new(kind, format!("NATS at {}: {message}", self.names))
    }

    pub(super) fn unavailable(&self, message: impl fmt::Display) -> LogError {
        self.error(LogErrorKind::Unavailable, message)
    }

    /// Waits for what is not sent to a leader.
    async fn within<T, E: fmt::Display>(
        &self,
        request: impl Future<Output = Result<T, E>>,
    ) -> Result<T, LogError> {
        match timeout(REQUEST_MAX, request).await {
            Ok(done) => done.map_err(|error| self.unavailable(error)),
            Err(_) => Err(self.unavailable("no response")),
        }
    }

    /// Sends a request, which may be done twice, until the leader of the stream responds. While there is no leader, a request fails at once, or
    /// is lost and the next leader knows nothing of it. Any response counts, also a late one to an earlier attempt.
    async fn ask<T, E: fmt::Display, F: Future<Output = Result<T, E>>>(
        &self,
        request: impl Fn() -> F,
    ) -> Result<T, LogError> {
        let end = Instant::now() + REQUEST_MAX;
        let mut sent = FuturesUnordered::new();
        let mut pause = ATTEMPT_MIN;
        let mut reason = "no response".to_owned();
        while Instant::now() < end {
            sent.push(request());
            let until = end.min(Instant::now() + pause);
            while let Ok(Some(response)) = timeout_at(until, sent.next()).await {
                match response {
                    Ok(response) => return Ok(response),
                    Err(error) => reason = error.to_string(),
                }
            }
            if sent.is_empty() {
                sleep(REFUSED_INTERVAL).await;
            } else {
                pause *= 2;
            }
        }
        Err(self.unavailable(reason))
    }

    /// An entry that this node appended, with the one before it as it is since then: the nearest copy may not have it yet.
    async fn own(&self, from: u64) -> Option<Vec<LogEntry>> {
        let entry = lock(&self.own).take(from, Moment::now())?;
        let before = from.checked_sub(1).filter(|before| *before > 0)?;
        let before = self.leaders(before).await.ok()?;
        Some(vec![before, entry])
    }

    /// An entry as the leader has it.
    async fn leaders(&self, position: u64) -> Result<LogEntry, LogError> {
        let request = || async { found(self.log.get_raw_message(position).await) };
        match self.ask(request).await? {
            Some(message) => self.entry(message),
            None => Err(self.unavailable(format!("there is no position {position}"))),
        }
    }

    fn entry(&self, message: StreamMessage) -> Result<LogEntry, LogError> {
        entry(message).map_err(|message| self.error(LogErrorKind::Unsafe, message))
    }

    /// What the nearest copy of the stream has from before a position on, which may be less than there is.
    async fn near(&self, from: u64, bytes_max: usize) -> Result<Vec<LogEntry>, LogError> {
        let start = from.saturating_sub(1).max(1);
        let inbox = self.client.new_inbox();
        let mut responses = self.within(self.client.subscribe(inbox.clone())).await?;
        let sent_max = bytes_max + self.client.server_info().max_payload;
        let request =
            format!(r#"{{"seq":{start},"batch":{READ_ENTRIES_MAX},"max_bytes":{sent_max}}}"#);
        let subject = format!("$JS.API.DIRECT.GET.df_{}", self.fleet);
        let sent = self
            .client
            .publish_with_reply(subject, inbox, request.into());
        self.within(sent).await?;
        let end = Instant::now() + REQUEST_MAX;
        let mut entries: Vec<LogEntry> = Vec::new();
        let mut bytes = 0;
        while bytes <= bytes_max
            && let Ok(Some(message)) = timeout_at(end, responses.next()).await
        {
            match message.status {
                None => {}
                // The end, or none; or the copies of a new stream do not respond yet, but its leader does.
                Some(_) => return Ok(entries),
            }
            let message =
                StreamMessage::try_from(message).map_err(|error| self.unavailable(error))?;
            let expected = entries.last().map_or(start, |last| last.position + 1);
            // What is before the first may have been removed.
            let is_first = entries.is_empty() && message.sequence == from;
            if message.sequence != expected && !is_first {
                return Ok(entries);
            }
            let entry = self.entry(message)?;
            if entry.position >= from {
                bytes += entry.body.len();
            }
            entries.push(entry);
        }
        if entries.is_empty() {
            return Err(self.unavailable("no response"));
        }
        Ok(entries)
    }

    pub(super) fn node_subject(&self, node: &str) -> String {
        let mut subject = format!("df.{}.node.", self.fleet);
        for byte in node.bytes() {
            // A text takes all that is written to it.
            let _ = write!(subject, "{byte:02x}");
        }
        subject
    }
}

impl LogClient for JetStreamClient {
    fn fleet(&self) -> &str {
        &self.fleet
    }

    /// The servers know an `id` for five minutes. Where it is appended again, however late, the entries since it was appended first are
    /// looked through as well; of the entries whose append returned [`LogErrorKind::Unknown`], the last 256 are known.
    async fn append(&self, id: EntryId, body: Bytes) -> Result<Appended, LogError> {
        // Each reader learns the time from the servers.
        Ok(Appended {
            position: self.append_once(id, body).await?,
            at: None,
            chain: None,
        })
    }

    fn body_max(&self) -> usize {
        let max_payload = self.client.server_info().max_payload;
        max_payload.saturating_sub(HEADER_BYTES)
    }

    async fn read(
        &self,
        from: u64,
        bytes_max: usize,
        patience: Duration,
    ) -> Result<Vec<LogEntry>, LogError> {
        let end = Instant::now() + patience;
        let mut known = self.end.subscribe();
        if let Some(entries) = self.own(from).await {
            return Ok(entries);
        }
        loop {
            let entries = self.near(from, bytes_max.clamp(1, READ_BYTES_MAX)).await?;
            if let Some(last) = entries.last().filter(|last| last.position >= from) {
                self.end.saw(last.position);
                lock(&self.own).read_through(last.position);
                return Ok(entries);
            }
            let bounds = self.bounds(0).await?;
            if from < bounds.first {
                return Err(self.error(
                    LogErrorKind::Trimmed,
                    format!("position {from} was removed, {} is the first", bounds.first),
                ));
            }
            // The nearest copy does not have it yet.
            if from <= bounds.last {
                // The one before it last: the log may lose entries between the two.
                let entry = self.leaders(from).await?;
                let before = from.saturating_sub(1);
                if before < bounds.first {
                    return Ok(vec![entry]);
                }
                return Ok(vec![self.leaders(before).await?, entry]);
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

    async fn bounds(&self, seen: u64) -> Result<LogBounds, LogError> {
        let end = Instant::now() + REQUEST_MAX;
        self.end.saw(seen);
        loop {
            let known = self.end.known();
            let state = self.ask(|| self.log.get_info()).await?.state;
            let last = state.last_sequence;
            if self.end.is_at(last, known, Instant::now()) {
                let is_empty = state.messages == 0;
                let first = if is_empty {
                    last + 1
                } else {
                    state.first_sequence
                };
                // A majority has what was acknowledged, so each leader has it.
                let takeover = None;
                return Ok(LogBounds {
                    first,
                    last,
                    takeover,
                });
            }
            if Instant::now() >= end {
                return Err(self.unavailable(format!(
                    "the stream ends at {last}, before {known}, which was in it: its leader has lost it, or is none any more"
                )));
            }
            sleep(RETRY_INTERVAL).await;
        }
    }

    async fn trim(&self, below: u64) -> Result<(), LogError> {
        let bounds = self.bounds(0).await?;
        // Else the stream would go on after the positions that it has not yet had.
        let below = below.min(bounds.last + 1);
        if below <= bounds.first {
            return Ok(());
        }
        let purge = || self.log.purge().sequence(below).into_future();
        self.ask(purge).await.map(drop)
    }

    async fn report(&self, node: String, report: String) -> Result<(), LogError> {
        let subject = self.node_subject(&node);
        let publish = || async {
            let sent = self.context.publish(subject.clone(), report.clone().into());
            sent.await?.await
        };
        self.ask(publish).await.map(drop)
    }

    async fn reports(&self) -> Result<Vec<NodeReport>, LogError> {
        let prefix = self.node_subject("");
        let filter = format!("{prefix}*");
        let subjects = self.ask(|| self.nodes.info_with_subjects(&filter)).await?;
        let subjects: Vec<(String, usize)> = self.within(subjects.try_collect()).await?;
        let mut reports = Vec::new();
        for (subject, _) in subjects {
            let last =
                || async { found(self.nodes.get_last_raw_message_by_subject(&subject).await) };
            // `None` where the node was forgotten meanwhile.
            let Some(message) = self.ask(last).await? else {
                continue;
            };
            let name = subject.strip_prefix(&prefix).and_then(unhex);
            let text = |bytes: Vec<u8>| String::from_utf8(bytes).ok();
            if let (Some(node), Some(report)) =
                (name.and_then(text), text(message.payload.to_vec()))
            {
                let at = time(&message);
                reports.push(NodeReport { node, at, report });
            }
        }
        reports.sort_unstable_by(|one, other| one.node.cmp(&other.node));
        Ok(reports)
    }

    async fn forget(&self, node: String) -> Result<(), LogError> {
        let subject = self.node_subject(&node);
        let purge = || self.nodes.purge().filter(subject.clone()).into_future();
        self.ask(purge).await.map(drop)
    }

    /// The servers keep no chain: the engine compares the entry before, and the servers the position.
    async fn restore(&self, _before: Chain, entry: LogEntry) -> Result<bool, LogError> {
        self.restore_once(entry).await
    }

    async fn resume(&self, _takeover: u64) -> Result<(), LogError> {
        Ok(())
    }

    fn warnings(&self) -> Vec<String> {
        lock(&self.warnings).clone()
    }
}

/// `None` for a message that is not there, which a later attempt would not find either.
fn found(
    message: Result<StreamMessage, LastRawMessageError>,
) -> Result<Option<StreamMessage>, LastRawMessageError> {
    match message {
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
        message => message.map(Some),
    }
}

/// Notes what the servers announce, which is the entry without its body.
async fn listen(mut announced: Subscriber, end: Arc<End>, own: Arc<Mutex<Own>>) {
    while let Some(message) = announced.next().await {
        let message = StreamMessage::try_from(message).ok();
        if let Some(entry) = message.and_then(|message| entry(message).ok()) {
            let position = entry.position;
            if !lock(&own).announced(entry) {
                end.saw(position);
            }
        }
    }
}

/// The entry that a message of the stream is; or what is wrong with it.
fn entry(message: StreamMessage) -> Result<LogEntry, String> {
    let id = message.headers.get(NATS_MESSAGE_ID);
    let id = id.and_then(|id| unhex(id.as_str())?.try_into().ok());
    let id = id.ok_or_else(|| {
        let position = message.sequence;
        format!("the message {position} is not an entry of deskfleet")
    })?;
    Ok(LogEntry {
        position: message.sequence,
        at: time(&message),
        id: EntryId(id),
        body: message.payload.into(),
        chain: None,
    })
}

fn time(message: &StreamMessage) -> Timestamp {
    let first = message.headers.get(TIME_HEADER);
    if let Some(ticks) = first.and_then(|ticks| ticks.as_str().parse().ok()) {
        return Timestamp::from_ticks(ticks);
    }
    let ticks = message.time.unix_timestamp_nanos() / 100;
    Timestamp::from_ticks(i64::try_from(ticks).unwrap_or(0))
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.map(byte).collect()
}
