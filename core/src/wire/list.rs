//! Response bodies that are lists of any length.

use crate::limits::{PAGE_CHUNK_BYTES, RESPONSE_CHUNK_BYTES};
use crate::store::table::Step;

use super::json::Json;

/// A response body that is a list, written item by item and sent in chunks.
#[derive(Debug)]
pub(crate) struct ListBody {
    json: Json,
    /// The text before the next item.
    separator: &'static [u8],
    /// The text between two items.
    between: &'static [u8],
    /// Bytes of a full chunk.
    chunk: usize,
}

impl ListBody {
    /// Starts an array; `before` is the text before its items.
    pub(crate) fn array(before: &str) -> Self {
        Self::new(text(before), RESPONSE_CHUNK_BYTES)
    }

    /// Starts a page; `before` is the text before its items.
    pub(crate) fn page(before: &str) -> Self {
        Self::page_after(text(before))
    }

    /// The same after JSON that was written.
    pub(crate) fn page_after(before: Json) -> Self {
        Self::new(before, PAGE_CHUNK_BYTES)
    }

    /// Starts lines, each an item with its end; `before` is the text before them.
    pub(crate) fn lines(before: Json) -> Self {
        Self {
            json: before,
            separator: b"",
            between: b"",
            chunk: RESPONSE_CHUNK_BYTES,
        }
    }

    fn new(before: Json, chunk: usize) -> Self {
        Self {
            json: before,
            separator: b"",
            between: b",",
            chunk,
        }
    }

    /// Adds an item; returns `Break` when the chunk is full.
    pub(crate) fn item(&mut self, write: impl FnOnce(&mut Json)) -> Step {
        let separator = std::mem::replace(&mut self.separator, self.between);
        self.json.raw(separator);
        write(&mut self.json);
        if self.json.len() < self.chunk {
            Step::Continue(())
        } else {
            Step::Break(())
        }
    }

    /// Adds the text after the items.
    pub(crate) fn write_end(&mut self, write: impl FnOnce(&mut Json)) {
        write(&mut self.json);
    }

    /// Takes the text written since the last call.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.json).finish()
    }
}

fn text(before: &str) -> Json {
    let mut json = Json::default();
    json.raw(before.as_bytes());
    json
}
