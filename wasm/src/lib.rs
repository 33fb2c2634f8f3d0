//! The engine for JavaScript.
//!
//! Only this file and `host.rs` use JavaScript types; the others are tested natively. The public JavaScript API is in `wasm/js`,
//! which wraps the one class of this crate.

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
pub use fleet::{BeginOutcome, Fleet};
pub use host::Host;
pub use settings::Settings;

use exchange::FlatResponse;
use host::HostStorage;
use random::SeededRandom;

/// In the result of [`Core::begin`]: the request is pending; the lower bits are its number.
const PENDING: u32 = 1 << 31;
/// The response has headers.
const HAS_HEADERS: u32 = 1 << 16;
/// The response has a body.
const HAS_BODY: u32 = 1 << 17;

/// An engine, as `engine.js` uses it. Every call is given the time first, in milliseconds since 1970.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Core {
    fleet: Fleet,
    response: RefCell<Option<FlatResponse>>,
}

type JsResult<T> = Result<T, JsValue>;

fn thrown(failure: impl Into<Failure>) -> JsValue {
    JsValue::from_str(&failure.into().json())
}

#[wasm_bindgen]
impl Core {
    /// Opens the store in the host's storage, or creates one in it. `settings` are those of [`Settings`]; `free_bytes` says that the
    /// storage reports its free bytes, `volatile` that it keeps nothing after it is closed.
    ///
    /// # Errors
    /// A failure in JSON, as for all methods.
    pub fn open(
        host: &Host,
        now: f64,
        settings: &str,
        free_bytes: bool,
        volatile: bool,
    ) -> JsResult<Self> {
        let settings =
            Settings::parse(settings).map_err(|message| thrown(Failure::argument(message)))?;
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
            if !free_bytes {
                return builder;
            }
            let medium = host.clone();
            builder.free_space(move || medium.free_space())
        };
        let storage = HostStorage(host.clone());
        let fleet = Fleet::open(settings.config, volatile, now, prepare, storage);
        let fleet = fleet.map_err(thrown)?;
        if let Some(seeded) = seeded {
            seeded.reseed(fleet.keys_issued());
        }
        Ok(Self {
            fleet,
            response: RefCell::default(),
        })
    }

    /// Handles one request and commits what it writes; returns the status, with `HAS_HEADERS` and `HAS_BODY`.
    ///
    /// # Errors
    /// When it is not a valid HTTP request.
    pub fn handle(
        &self,
        now: f64,
        method: &str,
        url: &str,
        headers: &str,
        body: Vec<u8>,
    ) -> JsResult<u32> {
        self.fleet.engine_at(now).map_err(thrown)?;
        let response = self.fleet.handle(method, url, headers, body);
        Ok(self.keep(response.map_err(thrown)?))
    }

    /// Begins one request; returns the same as [`Self::handle`], or `PENDING` with a number for [`Self::finish`].
    ///
    /// # Errors
    /// When it is not a valid HTTP request.
    pub fn begin(
        &self,
        now: f64,
        method: &str,
        url: &str,
        headers: &str,
        body: Vec<u8>,
    ) -> JsResult<u32> {
        self.fleet.engine_at(now).map_err(thrown)?;
        let outcome = self.fleet.begin(method, url, headers, body);
        Ok(match outcome.map_err(thrown)? {
            BeginOutcome::Response(response) => self.keep(response),
            BeginOutcome::Pending(number) => PENDING | number,
        })
    }

    /// Commits all pending writes.
    ///
    /// # Errors
    /// When the time is not valid.
    pub fn commit(&self, now: f64) -> JsResult<()> {
        self.fleet.engine_at(now).map_err(thrown)?;
        self.fleet.commit();
        Ok(())
    }

    /// The response to a pending request; returns the same as [`Self::handle`].
    ///
    /// # Errors
    /// When no pending request has that number.
    pub fn finish(&self, number: u32) -> JsResult<u32> {
        let response = self.fleet.finish(number & !PENDING).map_err(thrown)?;
        Ok(self.keep(response))
    }

    /// The response to a request when the storage did not settle.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "wasm-bindgen passes text by value"
    )]
    pub fn unsettled(&self, reads: bool, traceparent: Option<String>) -> u32 {
        self.keep(self.fleet.unsettled(reads, traceparent.as_deref()))
    }

    /// The headers of the last response, as lines `name: value`.
    pub fn headers(&self) -> String {
        let response = self.response.borrow();
        response
            .as_ref()
            .map_or_else(String::new, |response| response.headers.clone())
    }

    /// The body of the last response.
    pub fn body(&self) -> Vec<u8> {
        let response = self.response.take();
        response.map_or_else(Vec::new, |response| response.body.into())
    }

    /// The number of body bytes of a request that need to be read, at most.
    #[wasm_bindgen(js_name = bodyBytesMax)]
    pub fn body_bytes_max(&self, method: &str, url: &str) -> usize {
        self.fleet.body_bytes_max(method, url)
    }

    /// A typed call of the host: JSON in, JSON out; see [`operations`].
    ///
    /// # Errors
    /// Those of the engine.
    pub fn call(&self, now: f64, name: &str, argument: &str) -> JsResult<String> {
        let engine = self.fleet.engine_at(now).map_err(thrown)?;
        operations::run(engine, name, argument).map_err(thrown)
    }

    /// Writes a copy of the store into the storage of another host, which must be empty.
    ///
    /// # Errors
    /// When the copy cannot be written.
    pub fn snapshot(&self, now: f64, into: &Host) -> JsResult<()> {
        let engine = self.fleet.engine_at(now).map_err(thrown)?;
        engine.backup_to(HostStorage(into.clone())).map_err(thrown)
    }

    /// Commits all pending writes and closes the storage. Pending requests can still be finished.
    ///
    /// # Errors
    /// When a write failed.
    pub fn close(&self, now: f64) -> JsResult<()> {
        self.fleet.engine_at(now).map_err(thrown)?;
        self.fleet.close().map_err(thrown)
    }
}

impl Core {
    fn keep(&self, response: FlatResponse) -> u32 {
        let mut result = u32::from(response.status);
        if !response.headers.is_empty() {
            result |= HAS_HEADERS;
        }
        if !response.body.is_empty() {
            result |= HAS_BODY;
        }
        if result > u32::from(u16::MAX) {
            self.response.replace(Some(response));
        }
        result
    }
}

/// Reports the text of a panic, which stops the instance for good.
fn report_panics(host: Host) {
    std::panic::set_hook(Box::new(move |panic| host.report_panic(&panic.to_string())));
}
