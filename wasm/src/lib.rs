//! The engine for JavaScript.
//!
//! The types of JavaScript end in this file and in `host.rs`; the others know none, so they are tested natively. What a
//! program in JavaScript sees is in `wasm/js`, which wraps the one class of this crate.

pub mod exchange;
mod failure;
mod fleet;
mod host;
pub mod operations;
mod random;
mod settings;

use std::cell::RefCell;
use std::sync::Arc;

use deskfleet::EngineBuilder;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

pub use failure::Failure;
pub use fleet::{Begun, Fleet};
pub use host::Host;
pub use settings::Settings;

use exchange::Answer;
use host::HostStorage;
use random::SeededRandom;

/// In the number that tells what became of a request: it waits, under the number in the lower bits.
const WAITS: u32 = 1 << 31;
/// The answer has headers.
const HAS_HEADERS: u32 = 1 << 16;
/// The answer has a body.
const HAS_BODY: u32 = 1 << 17;

/// An engine, as `engine.js` uses it. Every call is given the time first, in milliseconds since 1970.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Core {
    fleet: Fleet,
    answer: RefCell<Option<Answer>>,
}

type Crossing<T> = Result<T, JsValue>;

fn thrown(failure: impl Into<Failure>) -> JsValue {
    JsValue::from_str(&failure.into().json())
}

#[wasm_bindgen]
impl Core {
    /// Opens what the host's storage holds, or begins a new store on it.
    ///
    /// # Errors
    /// A failure in JSON, as all methods throw it.
    pub fn open(host: &Host, now: f64, settings: &str) -> Crossing<Self> {
        let settings = Settings::parse(settings).map_err(|said| thrown(Failure::argument(said)))?;
        report_panics(host.clone());
        let seeded = settings.seed.map(|seed| Arc::new(SeededRandom::new(seed)));
        let prepare = |builder: EngineBuilder| {
            let random = host.clone();
            let builder = match seeded.clone() {
                Some(seeded) => builder.random(move |buffer: &mut [u8]| {
                    seeded.fill(buffer);
                    Ok::<(), JsValue>(())
                }),
                None => builder.random(move |buffer: &mut [u8]| random.fill_random(buffer)),
            };
            if !settings.free_bytes {
                return builder;
            }
            let medium = host.clone();
            builder.free_space(move || medium.free_space())
        };
        let fleet = Fleet::open(&settings, now, prepare, HostStorage(host.clone()));
        let fleet = fleet.map_err(thrown)?;
        if let Some(seeded) = seeded {
            seeded.reseed(fleet.keys_issued());
        }
        Ok(Self {
            fleet,
            answer: RefCell::default(),
        })
    }

    /// Answers one request, and commits for it: the status, with `HAS_HEADERS` and `HAS_BODY`.
    ///
    /// # Errors
    /// When it cannot be an HTTP request.
    pub fn handle(
        &self,
        now: f64,
        method: &str,
        url: &str,
        headers: &str,
        body: Vec<u8>,
    ) -> Crossing<u32> {
        self.fleet.at(now).map_err(thrown)?;
        let answer = self.fleet.handle(method, url, headers, body);
        Ok(self.keep(answer.map_err(thrown)?))
    }

    /// Takes one request: what [`Self::handle`] answers, or `WAITS` and a number for [`Self::finish`].
    ///
    /// # Errors
    /// When it cannot be an HTTP request.
    pub fn begin(
        &self,
        now: f64,
        method: &str,
        url: &str,
        headers: &str,
        body: Vec<u8>,
    ) -> Crossing<u32> {
        self.fleet.at(now).map_err(thrown)?;
        let begun = self.fleet.begin(method, url, headers, body);
        Ok(match begun.map_err(thrown)? {
            Begun::Answered(answer) => self.keep(answer),
            Begun::Waits(number) => WAITS | number,
        })
    }

    /// Commits what waits.
    ///
    /// # Errors
    /// When the time is none.
    pub fn commit(&self, now: f64) -> Crossing<()> {
        self.fleet.at(now).map_err(thrown)?;
        self.fleet.commit();
        Ok(())
    }

    /// The answer to a request that waited, as [`Self::handle`] tells it.
    ///
    /// # Errors
    /// When none waits under that number.
    pub fn finish(&self, number: u32) -> Crossing<u32> {
        let answer = self.fleet.finish(number & !WAITS).map_err(thrown)?;
        Ok(self.keep(answer))
    }

    /// The refusal of a request when the storage did not settle.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "wasm-bindgen hands over text as a value"
    )]
    pub fn unsettled(&self, reads: bool, traceparent: Option<String>) -> u32 {
        self.keep(self.fleet.unsettled(reads, traceparent.as_deref()))
    }

    /// The headers of the last answer, as lines `name: value`.
    pub fn headers(&self) -> String {
        let answer = self.answer.borrow();
        answer
            .as_ref()
            .map_or_else(String::new, |answer| answer.headers.clone())
    }

    /// The body of the last answer.
    pub fn body(&self) -> Vec<u8> {
        let answer = self.answer.take();
        answer.map_or_else(Vec::new, |answer| answer.body.into())
    }

    /// The most that needs to be read of the body of a request, in bytes.
    #[wasm_bindgen(js_name = bodyBytesMax)]
    pub fn body_bytes_max(&self, method: &str, url: &str) -> usize {
        self.fleet.body_bytes_max(method, url)
    }

    /// A typed call of the host: JSON in, JSON out; see [`operations`].
    ///
    /// # Errors
    /// Those of the engine.
    pub fn call(&self, now: f64, name: &str, argument: &str) -> Crossing<String> {
        let engine = self.fleet.at(now).map_err(thrown)?;
        operations::run(engine, name, argument).map_err(thrown)
    }

    /// Writes a copy of the store into the storage of another host, which holds nothing yet.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn snapshot(&self, now: f64, into: &Host) -> Crossing<()> {
        let engine = self.fleet.at(now).map_err(thrown)?;
        engine.backup_to(HostStorage(into.clone())).map_err(thrown)
    }

    /// Commits what waits and closes the storage. Requests that wait can still be finished.
    ///
    /// # Errors
    /// When something could not be written.
    pub fn close(&self, now: f64) -> Crossing<()> {
        self.fleet.at(now).map_err(thrown)?;
        self.fleet.close().map_err(thrown)
    }
}

impl Core {
    fn keep(&self, answer: Answer) -> u32 {
        let mut told = u32::from(answer.status);
        if !answer.headers.is_empty() {
            told |= HAS_HEADERS;
        }
        if !answer.body.is_empty() {
            told |= HAS_BODY;
        }
        if told > u32::from(u16::MAX) {
            self.answer.replace(Some(answer));
        }
        told
    }
}

/// A panic stops an instance for good; its text tells why.
fn report_panics(host: Host) {
    std::panic::set_hook(Box::new(move |panic| host.tell_panic(&panic.to_string())));
}
