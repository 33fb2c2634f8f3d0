//! What JavaScript provides to an engine: storage and randomness.

use std::io;
use std::ops::Bound;

use deskfleet::StorageBackend;
use deskfleet::backends::BackendError;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// The object with which `bridge.js` wraps a storage. Its methods throw what the storage threw.
    #[derive(Debug, Clone)]
    pub type Host;

    #[wasm_bindgen(method, catch)]
    fn len(this: &Host) -> Result<f64, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn read(this: &Host, offset: f64, into: &mut [u8]) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch)]
    fn write(this: &Host, offset: f64, from: &[u8]) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch, js_name = setLen)]
    fn set_len(this: &Host, bytes: f64) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch)]
    fn sync(this: &Host) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch)]
    fn close(this: &Host) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch, js_name = freeBytes)]
    fn free_bytes(this: &Host) -> Result<f64, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn random(this: &Host, into: &mut [u8]) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch)]
    fn panicked(this: &Host, text: &str) -> Result<(), JsValue>;
}

/// Up to this, a double holds every integer.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Converts a number of bytes from JavaScript; `None` when it is not a whole number from 0 to 2^53.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be a whole number in the range"
)]
pub(crate) fn bytes(number: f64) -> Option<u64> {
    let whole = number.fract() == 0.0 && (0.0..=EXACT).contains(&number);
    whole.then_some(number as u64)
}

/// Converts a number of bytes to JavaScript.
fn number(bytes: u64) -> io::Result<f64> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact up to 2^53, and refused above"
    )]
    let number = bytes as f64;
    if number >= EXACT {
        return Err(io::Error::other("a storage holds at most 2^53 bytes"));
    }
    Ok(number)
}

/// The storage of a [`Host`], for redb.
#[derive(Debug)]
pub(crate) struct HostStorage(pub(crate) Host);

/// What was thrown stays in JavaScript, where it becomes the cause of the error.
fn failed(method: &'static str) -> impl FnOnce(JsValue) -> io::Error {
    move |_| io::Error::other(format!("storage.{method} failed"))
}

impl StorageBackend for HostStorage {
    fn len(&self) -> io::Result<u64> {
        let length = self.0.len().map_err(failed("len"))?;
        bytes(length).ok_or_else(|| io::Error::other("storage.len returned no number of bytes"))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(number(offset)?, out).map_err(failed("read"))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(number(len)?).map_err(failed("setLen"))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync().map_err(failed("sync"))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(number(offset)?, data).map_err(failed("write"))
    }

    fn close(&self) -> io::Result<()> {
        self.0.close().map_err(failed("close"))
    }

    /// The storage in JavaScript took its lock before it came here.
    fn try_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(true)
    }

    fn try_lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(true)
    }
}

impl Host {
    /// Fills a buffer with random bytes.
    pub(crate) fn fill_random(&self, into: &mut [u8]) -> Result<(), JsValue> {
        self.random(into)
    }

    /// The free bytes of the medium, if the storage reports them.
    pub(crate) fn free_space(&self) -> Option<u64> {
        self.free_bytes().ok().and_then(bytes)
    }

    /// Reports a panic to JavaScript. An error of that is ignored: the instance stops anyway.
    pub(crate) fn report_panic(&self, text: &str) {
        let _ = self.panicked(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_length_must_be_a_whole_number() {
        assert_eq!(bytes(0.0), Some(0));
        assert_eq!(bytes(-0.0), Some(0));
        assert_eq!(bytes(EXACT), Some(1 << 53));
        for none in [
            f64::NAN,
            f64::INFINITY,
            -1.0,
            0.5,
            EXACT * 2.0,
            f64::NEG_INFINITY,
        ] {
            assert_eq!(bytes(none), None, "{none}");
        }
        assert!(number((1 << 53) - 1).is_ok());
        assert!(number(1 << 53).is_err());
        assert!(number(u64::MAX).is_err());
    }
}
