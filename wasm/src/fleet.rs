//! The engine as the JavaScript face sees it, without a type of JavaScript.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use deskfleet::{
    Code, Engine, EngineBuilder, EngineError, ManualClock, ResponseFuture, StorageBackend,
    Timestamp,
};
use http::{HeaderValue, Response, Uri};

use crate::exchange::{self, Answer, NoRequest};
use crate::failure::Failure;
use crate::settings::Settings;

/// Numbers of requests that wait are below this.
const NUMBERS: u32 = 1 << 30;

/// An engine whose clock is set by its host before each call, and whose requests wait until the host commits.
#[derive(Debug)]
pub struct Fleet {
    engine: Engine,
    clock: ManualClock,
    waiting: RefCell<Waiting>,
}

/// The requests that wait for a commit, with their numbers. They are asked for in the order they came in.
#[derive(Debug, Default)]
struct Waiting {
    last: u32,
    futures: VecDeque<(u32, ResponseFuture)>,
}

/// What became of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Begun {
    /// The answer.
    Answered(Answer),
    /// It waits for a commit, under this number.
    Waits(u32),
}

impl Fleet {
    /// Opens what the storage holds, or begins a new store on it; `prepare` gives the engine randomness and whatever else it
    /// has from its host.
    ///
    /// # Errors
    /// Those of the engine, and a time or an option that is none.
    pub fn open(
        settings: &Settings,
        milliseconds: f64,
        prepare: impl FnOnce(EngineBuilder) -> EngineBuilder,
        storage: impl StorageBackend,
    ) -> Result<Self, Failure> {
        let clock = ManualClock::new(time(milliseconds)?);
        let builder = Engine::builder()
            .clock(clock.clone())
            .config(settings.config());
        let builder = prepare(builder);
        let engine = if settings.volatile {
            builder.open_volatile(storage)?
        } else {
            builder.open_backend(storage)?
        };
        Ok(Self {
            engine,
            clock,
            waiting: RefCell::default(),
        })
    }

    /// The engine, with its clock set to `milliseconds` since 1970.
    ///
    /// # Errors
    /// When that is no time after 1970.
    pub fn at(&self, milliseconds: f64) -> Result<&Engine, Failure> {
        self.clock.set(time(milliseconds)?);
        Ok(&self.engine)
    }

    /// How many keys this store has ever issued: they are numbered from 1, and revoked ones stay.
    #[must_use]
    pub fn keys_issued(&self) -> u64 {
        let keys = self.engine.keys();
        keys.iter().map(|key| key.id).max().unwrap_or(0)
    }

    /// Answers one request, and commits for it.
    ///
    /// # Errors
    /// When it cannot be an HTTP request.
    pub fn handle(
        &self,
        method: &str,
        url: &str,
        headers: &str,
        body: Vec<u8>,
    ) -> Result<Answer, Failure> {
        match exchange::request(method, url, headers, body) {
            Ok(request) => Ok(exchange::answer(self.engine.handle(request))),
            Err(none) => self.unmade(none),
        }
    }

    /// Takes one request; what it writes waits for [`Self::commit`].
    ///
    /// # Errors
    /// When it cannot be an HTTP request.
    pub fn begin(
        &self,
        method: &str,
        url: &str,
        headers: &str,
        body: Vec<u8>,
    ) -> Result<Begun, Failure> {
        let request = match exchange::request(method, url, headers, body) {
            Ok(request) => request,
            Err(none) => return self.unmade(none).map(Begun::Answered),
        };
        let mut future = self.engine.call(request);
        if let Some(response) = now(&mut future) {
            return Ok(Begun::Answered(exchange::answer(response)));
        }
        let mut waiting = self.waiting.borrow_mut();
        // Numbers come around; the requests that had them were answered long ago.
        waiting.last = (waiting.last + 1) % NUMBERS;
        let number = waiting.last;
        waiting.futures.push_back((number, future));
        Ok(Begun::Waits(number))
    }

    /// Commits what waits.
    pub fn commit(&self) {
        self.engine.commit_pending();
    }

    /// The answer to a request that waited.
    ///
    /// # Errors
    /// When none waits under that number, or nothing was committed since.
    pub fn finish(&self, number: u32) -> Result<Answer, Failure> {
        let futures = &mut self.waiting.borrow_mut().futures;
        let at = futures.iter().position(|(waits, _)| *waits == number);
        let found = at.and_then(|at| Some((at, &mut futures.get_mut(at)?.1)));
        let answered = found.and_then(|(at, future)| Some((at, now(future)?)));
        let (at, response) = answered.ok_or_else(|| {
            Failure::internal("a request was asked for its answer before its commit")
        })?;
        futures.remove(at);
        Ok(exchange::answer(response))
    }

    /// The most that needs to be read of the body of a request, in bytes.
    #[must_use]
    pub fn body_bytes_max(&self, method: &str, url: &str) -> usize {
        let (Ok(method), Ok(url)) = (method.parse(), url.parse::<Uri>()) else {
            return 0;
        };
        let limits = &self.engine.config().limits;
        let route = self.engine.route(&method, url.path());
        route.map_or(0, |route| route.body_bytes_max(limits))
    }

    /// The refusal of a request when the storage did not confirm that what was written will last. A request that writes is in
    /// doubt then; one that only reads may have seen what will not last.
    #[must_use]
    pub fn unsettled(&self, reads: bool, traceparent: Option<&str>) -> Answer {
        let traceparent = traceparent.and_then(|text| HeaderValue::from_str(text).ok());
        let code = if reads {
            Code::StorageUnavailable
        } else {
            Code::Indeterminate
        };
        self.refusal(code, traceparent.as_ref())
    }

    fn refusal(&self, code: Code, traceparent: Option<&HeaderValue>) -> Answer {
        exchange::answer(self.engine.problem(code, "", traceparent))
    }

    fn unmade(&self, none: NoRequest) -> Result<Answer, Failure> {
        match none {
            NoRequest::Refused(code) => Ok(self.refusal(code, None)),
            NoRequest::Invalid(said) => Err(Failure::argument(said)),
        }
    }

    /// Commits what waits, answers it all, and closes the storage.
    ///
    /// # Errors
    /// When something could not be written.
    pub fn close(&self) -> Result<(), EngineError> {
        self.engine.close()
    }
}

/// The response, if it is there.
fn now(future: &mut ResponseFuture) -> Option<Response<Bytes>> {
    match Pin::new(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(response) => Some(response),
        Poll::Pending => None,
    }
}

/// To the microsecond: a double holds no more of today's time.
fn time(milliseconds: f64) -> Result<Timestamp, Failure> {
    let since = Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    let micros = since.and_then(|since| u64::try_from((since.as_nanos() + 500) / 1000).ok());
    let time =
        micros.and_then(|micros| SystemTime::UNIX_EPOCH.checked_add(Duration::from_micros(micros)));
    time.map(Timestamp::from)
        .ok_or_else(|| Failure::argument("the clock answered no number of milliseconds since 1970"))
}

#[cfg(test)]
mod tests {
    use redb::backends::InMemoryBackend;

    use super::*;

    const NOW: f64 = 1_795_161_600_250.0;

    fn fleet() -> Fleet {
        let settings = Settings::parse(r#"{"seed":1}"#).unwrap();
        Fleet::open(
            &settings,
            NOW,
            |builder| builder.seed(1),
            InMemoryBackend::new(),
        )
        .unwrap()
    }

    fn post(fleet: &Fleet) -> Begun {
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
            Begun::Waits(number) => number,
            Begun::Answered(answer) => panic!("answered before its commit: {answer:?}"),
        });
        assert!(fleet.finish(numbers[0]).is_err(), "not committed yet");
        fleet.commit();
        for number in numbers {
            assert_eq!(fleet.finish(number).unwrap().status, 200);
            assert!(fleet.finish(number).is_err(), "answered once");
        }
        assert_eq!(fleet.at(NOW).unwrap().queue_count(), 2);
    }

    #[test]
    fn close_completes_pending_calls() {
        let fleet = fleet();
        let Begun::Waits(number) = post(&fleet) else {
            panic!("answered before its commit");
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
