//! The engine for the JavaScript API, without JavaScript types.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use deskfleet::{
    Code, Config, Engine, EngineBuilder, EngineError, ManualClock, ResponseFuture, StorageBackend,
    Timestamp,
};
use http::{HeaderValue, Response, Uri};

use crate::exchange::{self, FlatResponse, RequestError};
use crate::failure::Failure;

/// Numbers of pending requests are below this.
const NUMBERS: u32 = 1 << 30;

/// An engine whose host sets the clock before each call, and whose writes are pending until the host commits.
#[derive(Debug)]
pub struct Fleet {
    engine: Engine,
    clock: ManualClock,
    pending: RefCell<PendingRequests>,
}

/// The requests that wait for a commit, with their numbers. They are finished in the order in which they began.
#[derive(Debug, Default)]
struct PendingRequests {
    last: u32,
    futures: VecDeque<(u32, ResponseFuture)>,
}

/// The outcome of [`Fleet::begin`].
#[derive(Debug, PartialEq, Eq)]
pub enum BeginOutcome {
    /// The response.
    Response(FlatResponse),
    /// The request waits for a commit; [`Fleet::finish`] takes this number.
    Pending(u32),
}

impl Fleet {
    /// Opens the store in the storage, or creates one in it; `prepare` sets randomness and what else the host provides. A
    /// `volatile` storage keeps nothing after it is closed.
    ///
    /// # Errors
    /// Those of the engine, and an invalid time or option.
    pub fn open(
        config: Config,
        volatile: bool,
        milliseconds: f64,
        prepare: impl FnOnce(EngineBuilder) -> EngineBuilder,
        storage: impl StorageBackend,
    ) -> Result<Self, Failure> {
        let clock = ManualClock::new(time(milliseconds)?);
        let builder = Engine::builder().clock(clock.clone()).config(config);
        let builder = prepare(builder);
        let engine = if volatile {
            builder.open_volatile(storage)?
        } else {
            builder.open_backend(storage)?
        };
        Ok(Self {
            engine,
            clock,
            pending: RefCell::default(),
        })
    }

    /// The engine, with its clock set to `milliseconds` since 1970.
    ///
    /// # Errors
    /// When that is not a time after 1970.
    pub fn engine_at(&self, milliseconds: f64) -> Result<&Engine, Failure> {
        self.clock.set(time(milliseconds)?);
        Ok(&self.engine)
    }

    /// The number of keys that this store has ever issued: they are numbered from 1, and revoked ones stay.
    #[must_use]
    pub fn keys_issued(&self) -> u64 {
        let keys = self.engine.keys();
        keys.iter().map(|key| key.id).max().unwrap_or(0)
    }

    /// Handles one request and commits what it writes.
    ///
    /// # Errors
    /// When it is not a valid HTTP request.
    pub fn handle(
        &self,
        method: &str,
        url: &str,
        headers: &str,
        body: Vec<u8>,
    ) -> Result<FlatResponse, Failure> {
        match exchange::request(method, url, headers, body) {
            Ok(request) => Ok(exchange::flatten(self.engine.handle(request))),
            Err(error) => self.refused(error),
        }
    }

    /// Begins one request; what it writes waits for [`Self::commit`].
    ///
    /// # Errors
    /// When it is not a valid HTTP request.
    pub fn begin(
        &self,
        method: &str,
        url: &str,
        headers: &str,
        body: Vec<u8>,
    ) -> Result<BeginOutcome, Failure> {
        let request = match exchange::request(method, url, headers, body) {
            Ok(request) => request,
            Err(error) => return self.refused(error).map(BeginOutcome::Response),
        };
        let mut future = self.engine.call(request);
        if let Some(response) = poll_once(&mut future) {
            return Ok(BeginOutcome::Response(exchange::flatten(response)));
        }
        let mut pending = self.pending.borrow_mut();
        // Numbers wrap around; the requests that had them have finished long ago.
        pending.last = (pending.last + 1) % NUMBERS;
        let number = pending.last;
        pending.futures.push_back((number, future));
        Ok(BeginOutcome::Pending(number))
    }

    /// Commits all pending writes.
    pub fn commit(&self) {
        self.engine.commit_pending();
    }

    /// The response to a pending request, after its commit.
    ///
    /// # Errors
    /// When no pending request has that number, or nothing was committed since.
    pub fn finish(&self, number: u32) -> Result<FlatResponse, Failure> {
        let futures = &mut self.pending.borrow_mut().futures;
        let at = futures.iter().position(|(pending, _)| *pending == number);
        let found = at.and_then(|at| Some((at, &mut futures.get_mut(at)?.1)));
        let finished = found.and_then(|(at, future)| Some((at, poll_once(future)?)));
        let (at, response) = finished
            .ok_or_else(|| Failure::internal("a request was finished before its commit"))?;
        futures.remove(at);
        Ok(exchange::flatten(response))
    }

    /// The number of body bytes of a request that need to be read, at most.
    #[must_use]
    pub fn body_bytes_max(&self, method: &str, url: &str) -> usize {
        let (Ok(method), Ok(url)) = (method.parse(), url.parse::<Uri>()) else {
            return 0;
        };
        let limits = &self.engine.config().limits;
        let route = self.engine.route(&method, url.path());
        route.map_or(0, |route| route.body_bytes_max(limits))
    }

    /// The response to a request when the storage did not confirm that the writes are durable. The outcome of a write is
    /// unknown then; a read may have seen writes that will be lost.
    #[must_use]
    pub fn unsettled(&self, reads: bool, traceparent: Option<&str>) -> FlatResponse {
        let traceparent = traceparent.and_then(|text| HeaderValue::from_str(text).ok());
        let code = if reads {
            Code::StorageUnavailable
        } else {
            Code::Indeterminate
        };
        self.refusal(code, traceparent.as_ref())
    }

    fn refusal(&self, code: Code, traceparent: Option<&HeaderValue>) -> FlatResponse {
        exchange::flatten(self.engine.problem(code, "", traceparent))
    }

    fn refused(&self, error: RequestError) -> Result<FlatResponse, Failure> {
        match error {
            RequestError::Refused(code) => Ok(self.refusal(code, None)),
            RequestError::Invalid(message) => Err(Failure::argument(message)),
        }
    }

    /// Commits all pending writes, completes their requests, and closes the storage.
    ///
    /// # Errors
    /// When a write failed.
    pub fn close(&self) -> Result<(), EngineError> {
        self.engine.close()
    }
}

/// The response, if it is ready.
fn poll_once(future: &mut ResponseFuture) -> Option<Response<Bytes>> {
    match Pin::new(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(response) => Some(response),
        Poll::Pending => None,
    }
}

/// Rounds to the microsecond, the precision of today's time in a double.
fn time(milliseconds: f64) -> Result<Timestamp, Failure> {
    let since = Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    let micros = since.and_then(|since| u64::try_from((since.as_nanos() + 500) / 1000).ok());
    let time =
        micros.and_then(|micros| SystemTime::UNIX_EPOCH.checked_add(Duration::from_micros(micros)));
    time.map(Timestamp::from)
        .ok_or_else(|| Failure::argument("the clock returned no number of milliseconds since 1970"))
}

#[cfg(test)]
mod tests {
    use redb::backends::InMemoryBackend;

    use crate::settings::Settings;

    use super::*;

    const NOW: f64 = 1_795_161_600_250.0;

    fn fleet() -> Fleet {
        let settings = Settings::parse("{}").unwrap();
        Fleet::open(
            settings.config,
            false,
            NOW,
            |builder| builder.seed(1),
            InMemoryBackend::new(),
        )
        .unwrap()
    }

    fn post(fleet: &Fleet) -> BeginOutcome {
        let headers = "content-type: application/json\n";
        fleet
            .begin("POST", "/api/Stats/Post", headers, b"{}".to_vec())
            .unwrap()
    }

    #[test]
    fn clock_milliseconds_convert_exactly() {
        assert_eq!(
            time(1_795_161_600_123.0).unwrap().to_string(),
            "2026-11-20T08:00:00.123Z"
        );
        assert_eq!(time(0.0), Ok(Timestamp::UNIX_EPOCH));
        for none in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            assert_eq!(time(none).unwrap_err().code, "InvalidArgument", "{none}");
        }
    }

    #[test]
    fn calls_of_one_turn_share_a_commit() {
        let fleet = fleet();
        let begun = [post(&fleet), post(&fleet)];
        let numbers = begun.map(|begun| match begun {
            BeginOutcome::Pending(number) => number,
            BeginOutcome::Response(response) => panic!("finished before its commit: {response:?}"),
        });
        assert!(fleet.finish(numbers[0]).is_err(), "not committed yet");
        fleet.commit();
        for number in numbers {
            assert_eq!(fleet.finish(number).unwrap().status, 200);
            assert!(fleet.finish(number).is_err(), "finished once");
        }
        assert_eq!(fleet.engine_at(NOW).unwrap().queue_count(), 2);
    }

    #[test]
    fn close_completes_pending_calls() {
        let fleet = fleet();
        let BeginOutcome::Pending(number) = post(&fleet) else {
            panic!("finished before its commit");
        };
        fleet.close().unwrap();
        assert_eq!(fleet.finish(number).unwrap().status, 200);
    }

    #[test]
    fn write_that_does_not_settle_is_indeterminate_and_read_is_unavailable() {
        let fleet = fleet();
        for (reads, code) in [(true, "StorageUnavailable"), (false, "Indeterminate")] {
            let refusal = fleet.unsettled(reads, None);
            let problem: serde_json::Value = serde_json::from_slice(&refusal.body).unwrap();
            assert_eq!((refusal.status, &problem["code"]), (503, &code.into()));
        }
    }

    #[test]
    fn invalid_calls_are_refused_or_get_a_response() {
        let fleet = fleet();
        let handled = |url: &str| fleet.handle("GET", url, "", Vec::new());
        assert_eq!(handled("no path").unwrap_err().code, "InvalidArgument");
        assert_eq!(handled(&"/".repeat(70_000)).unwrap().status, 414);
    }

    #[test]
    fn body_bytes_max_returns_the_limit_of_the_endpoint() {
        let fleet = fleet();
        for (method, url, max) in [
            ("POST", "http://a.b/api/Stats/Post?x=1", 65_536),
            ("POST", "/api/Stats/Post", 65_536),
            ("GET", "/api/Stats/Post", 0),
            ("GET", "/api/Stats/Test", 0),
            ("POST", "no url", 0),
            ("no method", "/api/Stats/Post", 0),
        ] {
            assert_eq!(fleet.body_bytes_max(method, url), max, "{method} {url}");
        }
    }
}
