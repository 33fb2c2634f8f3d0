//! Telemetry in batches, from Rust.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use crate::api::endpoint::RequestBody;
use crate::domain::validation;
use crate::engine::{Engine, WriteFuture};
use crate::engine_core::{Claim, EngineCore, IncomingBatch, Output, PendingWrite};
use crate::error::{EngineError, ErrorKind, Result};
use crate::model::{Record, RecordRef, Stream};
use crate::wire::body;

/// Telemetry records to accept together: all of them, or none.
///
/// Each is written into the bytes of the queue as it is pushed, some 100 bytes for a Stats record of 570 bytes of JSON; neither its text nor
/// the record itself is kept. Its time of receipt is the moment of the push. A batch is bounded by memory and by
/// [`Limits::queue_records`](crate::Limits::queue_records) only, and one commit writes all of it: batches of some thousand
/// records are about as fast as larger ones.
///
/// ```
/// use deskfleet::{Engine, Stream};
///
/// let engine = Engine::in_memory()?;
/// let mut batch = engine.batch();
/// batch.push_json(Stream::Stats, br#"{"instanceId":"ws-1","username":"jdoe","processorInUse":12}"#)?;
/// batch.push_json(Stream::Activity, br#"{"instanceId":"ws-1","username":"jdoe","activity":"Logon"}"#)?;
/// let refused = batch.push_json(Stream::Stats, br#"{"processorInUse":"12"}"#).unwrap_err();
/// assert!(refused.context().starts_with("$.processorInUse: "));
/// assert_eq!(batch.len(), 2); // what was refused is not in it
///
/// engine.record_batch(batch)?; // durable now
/// assert_eq!(engine.queue_count(), 2);
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
pub struct TelemetryBatch {
    core: Arc<EngineCore>,
    incoming: IncomingBatch,
}

impl TelemetryBatch {
    /// Adds the record of `stream` that is `body`: one JSON object, by the rules and within the size of the body of a
    /// request that posts one.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`], with a sentence that says where the text is wrong, or which fields are too long. The
    /// batch is as before then.
    pub fn push_json(&mut self, stream: Stream, body: &[u8]) -> Result<()> {
        let max = RequestBody::Record(stream).bytes_max(&self.core.config.limits);
        if body.len() > max {
            let message = format!("The body is larger than {max} bytes.");
            return Err(EngineError::new(ErrorKind::InvalidParameter, message));
        }
        let mut record = RecordRef::empty(stream);
        body::record_body(body, &mut record)
            .map_err(|wrong| EngineError::new(ErrorKind::InvalidParameter, wrong.to_string()))?;
        self.core.push(&mut self.incoming, &record);
        Ok(())
    }

    /// Adds a record.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a text that is too long or a number that is not finite; the batch is as before then.
    pub fn push(&mut self, record: &Record) -> Result<()> {
        let borrowed = RecordRef::from_record(record);
        if let Some((spec, max)) = validation::record(&borrowed).first() {
            let message = validation::too_long(spec.name, *max);
            return Err(EngineError::invalid(spec.name, message));
        }
        if let Some(name) = validation::non_finite(record.fields()) {
            let message = format!("The field {name} must be a finite number.");
            return Err(EngineError::invalid(name, message));
        }
        self.core.push(&mut self.incoming, &borrowed);
        Ok(())
    }

    /// How many records are in it.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::try_from(self.incoming.records()).unwrap_or(usize::MAX)
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory its records take, in bytes, to the nearest few KiB.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.incoming.bytes()
    }
}

impl fmt::Debug for TelemetryBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TelemetryBatch")
            .field("len", &self.len())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

/// Telemetry in batches.
impl Engine {
    /// Begins a batch; nothing is accepted before [`Self::record_batch`].
    #[must_use]
    pub fn batch(&self) -> TelemetryBatch {
        TelemetryBatch {
            core: Arc::clone(&self.running.core),
            incoming: IncomingBatch::default(),
        }
    }

    /// Accepts a batch in one transaction, all of it or nothing; durable when this returns `Ok`. While it is committed it takes its
    /// memory twice.
    ///
    /// ```
    /// use deskfleet::{Engine, StatsRecord};
    ///
    /// let engine = Engine::builder().limits(|limits| limits.queue_records = 1).open_in_memory()?;
    /// let mut batch = engine.batch();
    /// batch.push(&StatsRecord { id: Some(1), ..StatsRecord::default() }.into())?;
    /// engine.record(StatsRecord::default())?;
    ///
    /// let refused = engine.record_batch(batch).unwrap_err(); // the queue is full: nothing is lost
    /// engine.maintain()?;
    /// engine.record_batch(refused.batch)?;
    /// # Ok::<(), deskfleet::EngineError>(())
    /// ```
    ///
    /// # Errors
    /// The batch, with [`ErrorKind::QueueFull`], [`ErrorKind::StorageUnavailable`], [`ErrorKind::Indeterminate`] or
    /// [`ErrorKind::LowDisk`]. It can be submitted again in each case: after [`ErrorKind::Indeterminate`] a record that carries a
    /// time is stored once, and another may be stored twice.
    pub fn record_batch(&self, mut batch: TelemetryBatch) -> Result<(), RefusedBatch> {
        let core = self.core();
        let claim = core.accept_copy(&mut batch.incoming);
        let outcome = claim.and_then(|mut claim| core.wait(&mut claim));
        outcome.map_err(|error| RefusedBatch { error, batch })
    }

    /// The same as a future that any executor can drive. The batch is submitted at once, in this call; dropping the future
    /// does not take it back.
    pub fn record_batch_async(&self, mut batch: TelemetryBatch) -> BatchFuture {
        let submitted = self.core().accept_copy(&mut batch.incoming);
        BatchFuture {
            write: self.write_of(submitted),
            batch: Some(batch),
        }
    }

    /// As [`Self::record_batch`], without a copy to give back.
    pub(super) fn record_pushed(&self, batch: TelemetryBatch) -> Result<()> {
        let mut claim = self.core().accept_all(batch.incoming)?;
        self.core().wait(&mut claim)
    }

    /// As [`Self::record_batch_async`], without a copy to give back.
    pub(super) fn record_pushed_async(&self, batch: TelemetryBatch) -> WriteFuture {
        self.write_of(self.core().accept_all(batch.incoming))
    }

    fn write_of(&self, submitted: Result<Claim>) -> WriteFuture {
        let pending = |claim| PendingWrite {
            claim,
            output: Output::known(()),
        };
        WriteFuture::new(&self.running.core, submitted.map(pending))
    }
}

/// A batch that was not accepted, as it was submitted.
#[derive(Debug)]
#[non_exhaustive]
pub struct RefusedBatch {
    /// Why.
    pub error: EngineError,
    /// The batch, to submit again.
    pub batch: TelemetryBatch,
}

impl fmt::Display for RefusedBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for RefusedBatch {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

impl From<RefusedBatch> for EngineError {
    fn from(refused: RefusedBatch) -> Self {
        refused.error
    }
}

/// The future of [`Engine::record_batch_async`]. Needs no particular executor.
#[derive(Debug)]
#[must_use = "whether the batch is durable is known to those who await it"]
pub struct BatchFuture {
    write: WriteFuture,
    /// `None` once it has resolved.
    batch: Option<TelemetryBatch>,
}

impl Future for BatchFuture {
    type Output = Result<(), RefusedBatch>;

    /// # Panics
    /// When polled again after it has resolved.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = ready!(Pin::new(&mut self.write).poll(context));
        #[expect(
            clippy::expect_used,
            reason = "the contract of `Future`: never polled after it has resolved"
        )]
        let batch = self.batch.take().expect("polled after it had resolved");
        Poll::Ready(outcome.map_err(|error| RefusedBatch { error, batch }))
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use crate::config::{CommitDriver, Config};
    use crate::model::{Nullable, StartupRecord, StatsRecord};
    use crate::view::history::HistoryQuery;

    use super::*;

    fn engine(configure: impl FnOnce(&mut Config)) -> Engine {
        let mut config = Config::default();
        configure(&mut config);
        Engine::builder()
            .clock(crate::clock::ManualClock::new(
                "2026-11-20".parse().unwrap(),
            ))
            .seed(1)
            .config(config)
            .open_in_memory()
            .unwrap()
    }

    #[test]
    fn batch_stores_the_same_as_its_records_one_by_one() {
        let (one_by_one, batched) = (engine(|_| {}), engine(|_| {}));
        let stats = StatsRecord {
            username: Nullable::Value("jdoe".to_owned()),
            instance_id: Nullable::Value("ws-1".to_owned()),
            uptime: Nullable::Value(1.5),
            ..StatsRecord::default()
        };
        let startup = StartupRecord {
            instance_id: Nullable::Value("ws-1".to_owned()),
            ..StartupRecord::default()
        };
        let stats = Record::Stats(Box::new(stats));
        let startup = Record::Startup(Box::new(startup));
        for record in [&stats, &startup] {
            one_by_one.record(record.clone()).unwrap();
        }
        let mut batch = batched.batch();
        assert!(batch.is_empty());
        let text = br#"{"UPTIME":1.5,"InstanceId":"ws-1","username":"jdoe"}"#;
        batch.push_json(Stream::Stats, text).unwrap();
        batch.push(&startup).unwrap();
        assert_eq!((batch.len(), batch.is_empty()), (2, false));
        assert!(batch.bytes() > 20, "{batch:?}");
        assert_eq!(batched.queue_count(), 0);
        batched.record_batch(batch).unwrap();
        for stream in [Stream::Stats, Stream::Startup] {
            let of = |engine: &Engine| engine.history(&HistoryQuery::new(stream, "ws-1"));
            let (left, right) = (of(&one_by_one).unwrap(), of(&batched).unwrap());
            assert_eq!(left.records, right.records);
            assert_eq!(left.records.len(), 1);
        }
    }

    #[test]
    fn refused_record_is_not_in_the_batch() {
        let engine = engine(|config| config.limits.record_body_bytes = 100);
        let mut batch = engine.batch();
        let long_name = format!(r#"{{"username":"{}"}}"#, "x".repeat(51));
        let large = format!(r#"{{"x":"{}"}}"#, "x".repeat(100));
        for (text, message) in [
            ("", "$: "),
            (r#"{"id":"1"}"#, "$.id: "),
            (&long_name, "Username: The field Username must be a string"),
            (&large, "The body is larger than 100 bytes."),
        ] {
            let refused = batch.push_json(Stream::Stats, text.as_bytes()).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidParameter);
            assert!(refused.context().starts_with(message), "{refused}");
        }
        batch
            .push_json(Stream::Processes, large.as_bytes())
            .unwrap();
        assert_eq!(batch.len(), 1);
    }

    #[test]
    fn all_of_a_batch_or_nothing() {
        let engine = engine(|config| {
            config.limits.queue_records = 3;
            config.commit_driver = CommitDriver::Host;
        });
        let batch = |records: usize| {
            let mut batch = engine.batch();
            for _ in 0..records {
                batch.push_json(Stream::Stats, b"{}").unwrap();
            }
            batch
        };
        let mut context = Context::from_waker(Waker::noop());
        let mut poll = |future: &mut BatchFuture| Pin::new(future).poll(&mut context);

        let mut future = engine.record_batch_async(batch(2));
        assert!(poll(&mut future).is_pending());
        assert_eq!(engine.queue_count(), 0);
        assert_eq!(engine.commit_pending(), 2);
        assert!(matches!(poll(&mut future), Poll::Ready(Ok(()))));
        assert_eq!(engine.queue_count(), 2);

        let full = |refused: RefusedBatch| {
            assert_eq!(refused.error.kind(), ErrorKind::QueueFull);
            assert_eq!(refused.batch.len(), 2);
        };
        full(engine.record_batch(batch(2)).unwrap_err());
        let Poll::Ready(Err(refused)) = poll(&mut engine.record_batch_async(batch(2))) else {
            panic!("refused at once");
        };
        full(refused);
        drop(batch(1));
        assert_eq!(engine.commit_pending(), 0);
        // Submitted records are written also when the future is dropped.
        drop(engine.record_batch_async(batch(1)));
        engine.commit_pending();
        assert_eq!(engine.queue_count(), 3);
    }
}
