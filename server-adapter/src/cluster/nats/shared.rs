//! What the thread of a log in NATS works with.

use std::fmt::{self, Write as _};
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream;
use async_nats::jetstream::context::Context;
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::{Info, LastRawMessageErrorKind, Stream};
use async_nats::{Client, Subscriber};
use deskfleet::{EntryId, LogBounds, LogEntry, LogError, LogErrorKind, NodeReport, Timestamp};
use futures_util::stream::FuturesUnordered;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::locks::lock;

use super::address::{Address, connect_failure};
use super::checks::{self, HEADER_BYTES};
use super::end::End;
use super::moment::Moment;
use super::own::Own;
use super::undecided::Undecided;

/// After this time a request has failed.
const REQUEST_MAX: Duration = Duration::from_secs(5);
/// After this time without an answer the leader is asked again where its stream ends, later after twice as long: while there is none, a
/// request is lost, and the next leader knows nothing of it.
const ATTEMPT_MIN: Duration = Duration::from_millis(500);
/// How often the leader is asked by a waiting read, which else hears of an entry from the server that stored it.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
pub(super) const RETRY_INTERVAL: Duration = Duration::from_millis(20);
const REPLICAS: usize = 3;
/// The most bytes and entries of one read.
const READ_BYTES_MAX: usize = 4 << 20;
const READ_ENTRIES_MAX: usize = 1000;

/// What the thread of the log works with.
pub(super) struct Shared {
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
    pub(super) warnings: Arc<Mutex<Vec<String>>>,
}

impl Shared {
    /// Also what the operator should know once.
    pub(super) async fn open(address: Address) -> Result<(Arc<Self>, Vec<String>), LogError> {
        let mut warnings = checks::sync(&address.sync).await?;
        let mut notices = Vec::from_iter(address.sync.notice());
        let names = address.names;
        let fail = |kind, said: String| LogError::new(kind, format!("NATS at {names}: {said}"));
        let client = address.connect.connect(address.servers.as_slice()).await;
        let client =
            client.map_err(|error| fail(LogErrorKind::Unavailable, connect_failure(&error)))?;
        let server = client.server_info();
        notices.extend(checks::version(&server.version)?);
        checks::server(&server).map_err(|said| fail(LogErrorKind::Unsafe, said))?;
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
        let shared = Arc::new(Self {
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
        });
        let announced = client
            .subscribe(tail)
            .await
            .map_err(|error| failed(&error))?;
        tokio::spawn(listen(
            announced,
            Arc::clone(&shared.end),
            Arc::clone(&shared.own),
        ));
        shared.bounds(0).await?;
        tokio::spawn(checks::watch(
            Arc::clone(&shared.warnings),
            address.sync,
            alone,
        ));
        Ok((shared, notices))
    }

    /// The longest body of an entry, in bytes.
    pub(super) fn body_max(&self) -> usize {
        let max_payload = self.client.server_info().max_payload;
        max_payload.saturating_sub(HEADER_BYTES)
    }

    pub(super) fn error(&self, kind: LogErrorKind, said: impl fmt::Display) -> LogError {
        LogError::new(kind, format!("NATS at {}: {said}", self.names))
    }

    pub(super) fn unavailable(&self, said: impl fmt::Display) -> LogError {
        self.error(LogErrorKind::Unavailable, said)
    }

    /// What may be done again where it fails.
    pub(super) async fn within<T, E: fmt::Display>(
        &self,
        request: impl Future<Output = Result<T, E>>,
    ) -> Result<T, LogError> {
        match timeout(REQUEST_MAX, request).await {
            Ok(done) => done.map_err(|error| self.unavailable(error)),
            Err(_) => Err(self.unavailable("no response")),
        }
    }

    /// What the leader says of the stream. It is asked again while it does not answer, and any answer counts.
    async fn info(&self) -> Result<Info, LogError> {
        let end = Instant::now() + REQUEST_MAX;
        let mut asked = FuturesUnordered::new();
        let mut pause = ATTEMPT_MIN;
        loop {
            asked.push(self.log.get_info());
            let until = end.min(Instant::now() + pause);
            if let Ok(Some(info)) = timeout_at(until, asked.next()).await {
                return info.map_err(|error| self.unavailable(error));
            }
            if until == end {
                return Err(self.unavailable("no response"));
            }
            pause *= 2;
        }
    }

    pub(super) async fn bounds(&self, seen: u64) -> Result<LogBounds, LogError> {
        let end = Instant::now() + REQUEST_MAX;
        self.end.saw(seen);
        loop {
            let known = self.end.known();
            let state = self.info().await?.state;
            let last = state.last_sequence;
            if self.end.is_at(last, known, Instant::now()) {
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

    pub(super) async fn read(
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

    /// An entry that this node appended, with the one before it as it is since then: the nearest copy may not have it yet.
    async fn own(&self, from: u64) -> Option<Vec<LogEntry>> {
        let entry = lock(&self.own).take(from, Moment::now())?;
        let before = from.checked_sub(1).filter(|before| *before > 0)?;
        let before = self.leaders(before).await.ok()?;
        Some(vec![before, entry])
    }

    /// An entry as the leader has it.
    async fn leaders(&self, position: u64) -> Result<LogEntry, LogError> {
        let message = self.within(self.log.get_raw_message(position)).await?;
        self.entry(message)
    }

    fn entry(&self, message: StreamMessage) -> Result<LogEntry, LogError> {
        entry(message).map_err(|said| self.error(LogErrorKind::Unsafe, said))
    }

    /// What the nearest copy of the stream has from before a position on, which may be less than there is.
    async fn near(&self, from: u64, bytes_max: usize) -> Result<Vec<LogEntry>, LogError> {
        let start = from.saturating_sub(1).max(1);
        let inbox = self.client.new_inbox();
        let mut answers = self.within(self.client.subscribe(inbox.clone())).await?;
        let sent_max = bytes_max + self.client.server_info().max_payload;
        let question =
            format!(r#"{{"seq":{start},"batch":{READ_ENTRIES_MAX},"max_bytes":{sent_max}}}"#);
        let subject = format!("$JS.API.DIRECT.GET.df_{}", self.fleet);
        let sent = self
            .client
            .publish_with_reply(subject, inbox, question.into());
        self.within(sent).await?;
        let end = Instant::now() + REQUEST_MAX;
        let mut entries: Vec<LogEntry> = Vec::new();
        let mut bytes = 0;
        while bytes <= bytes_max
            && let Ok(Some(message)) = timeout_at(end, answers.next()).await
        {
            match message.status {
                None => {}
                // The end, or none; or the copies of a new stream do not answer yet, but its leader does.
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

    pub(super) async fn reports(&self) -> Result<Vec<NodeReport>, LogError> {
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

/// Takes note of what the servers announce, which is the entry without its body.
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
        at: at(&message),
        id: EntryId(id),
        body: message.payload.into(),
        chain: None,
    })
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
