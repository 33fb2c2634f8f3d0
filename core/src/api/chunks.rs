//! Responses whose body is made in chunks: a list of any length, of which only a chunk is in memory.

use std::fmt;

use bytes::Bytes;
use http::{HeaderValue, Response};

use crate::engine_core::EngineCore;
use crate::error::Result;
use crate::limits::RESPONSE_CHUNK_BYTES;
use crate::model::Stream;
use crate::store::telemetry::queue::Wanted;
use crate::timestamp::Timestamp;
use crate::view::activity::Last24Hours;
use crate::view::pages::{Listed, PageEnd};
use crate::view::{Reader, keys};
use crate::wire::json::Json;
use crate::wire::list::ListBody;
use crate::wire::reply;

use super::Failure;

/// A source of the items of a list. Between two calls it holds no snapshot, only its position.
pub(super) trait Items: Send {
    /// Writes items until the body has a chunk or the list ends, and then the text after the last item. Returns whether there is
    /// more to write.
    fn write(&mut self, core: &EngineCore, body: &mut ListBody) -> Result<bool>;
}

/// A body in progress: the written part, and the source of the rest.
pub(crate) struct Chunks {
    body: ListBody,
    /// `None` at the end.
    items: Option<Box<dyn Items>>,
}

impl fmt::Debug for Chunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunks").finish_non_exhaustive()
    }
}

impl Chunks {
    /// The first chunk, and the rest if there is one.
    pub(super) fn begin(
        core: &EngineCore,
        body: ListBody,
        items: Box<dyn Items>,
    ) -> Result<(Vec<u8>, Option<Self>)> {
        let mut chunks = Self {
            body,
            items: Some(items),
        };
        let first = chunks.next_chunk(core)?.unwrap_or_default();
        Ok((first, (!chunks.is_over()).then_some(chunks)))
    }

    /// The next chunk; `None` at the end. After an error there is no more.
    pub(crate) fn next_chunk(&mut self, core: &EngineCore) -> Result<Option<Vec<u8>>> {
        let Some(mut items) = self.items.take() else {
            return Ok(None);
        };
        if items.write(core, &mut self.body)? {
            self.items = Some(items);
        }
        Ok(Some(self.body.take()))
    }

    pub(crate) fn is_over(&self) -> bool {
        self.items.is_none()
    }
}

/// A response with the first chunk of its body, and the rest if there is one.
pub(crate) type Made = (Response<Bytes>, Option<Chunks>);

/// The whole response at once, made of its first chunk and the rest if there is one.
pub(crate) fn collect(
    core: &EngineCore,
    traceparent: Option<&HeaderValue>,
    (response, chunks): Made,
) -> Response<Bytes> {
    let Some(mut chunks) = chunks else {
        return response;
    };
    let (head, first) = response.into_parts();
    let mut whole = Vec::from(first);
    loop {
        match chunks.next_chunk(core) {
            Ok(Some(chunk)) => whole.extend_from_slice(&chunk),
            Ok(None) => return Response::from_parts(head, whole.into()),
            Err(error) => {
                let refused = Failure::Engine(error).into_problem(core);
                return super::problem(core, &refused, traceparent);
            }
        }
    }
}

/// Reads current tables at the time at which the response began.
pub(super) fn reader_at(core: &EngineCore, now: Timestamp) -> Result<Reader> {
    let mut reader = core.reader()?;
    reader.now = now;
    Ok(reader)
}

/// Ends an array that is a whole body.
pub(super) fn array_end(json: &mut Json, _: Option<&str>, _: Timestamp) {
    json.raw(b"]");
}

/// `Get24HourActivity`
#[derive(Debug)]
pub(super) struct Activities {
    activities: Last24Hours,
    now: Timestamp,
}

impl Activities {
    pub(super) fn new(core: &EngineCore) -> Self {
        let now = core.now();
        Self {
            activities: Last24Hours::until(now),
            now,
        }
    }
}

impl Items for Activities {
    fn write(&mut self, core: &EngineCore, body: &mut ListBody) -> Result<bool> {
        let reader = reader_at(core, self.now)?;
        loop {
            while let Some(activity) = self.activities.take_next(&reader)? {
                let mut written = Ok(());
                let step = body.item(|json| written = reply::activity(json, &activity));
                written?;
                if step.is_break() {
                    return Ok(true);
                }
            }
            if !self.activities.needs_look() {
                body.write_end(|json| json.raw(b"]"));
                return Ok(false);
            }
            let wanted = Wanted::Stream(Stream::Activity);
            self.activities
                .load_next(|| core.telemetry_reader(wanted))?;
        }
    }
}

/// A page of a list.
pub(super) struct Page<L: Listed> {
    list: L,
    /// Only durable actions are read.
    is_durable: bool,
    now: Timestamp,
    item: fn(&mut Json, L::Item),
    end: fn(&mut Json, Option<&str>, Timestamp),
}

impl<L: Listed> Page<L> {
    /// The page as of now: `item` writes one of its items, and `end` the text after them.
    pub(super) fn new(
        core: &EngineCore,
        list: L,
        item: fn(&mut Json, L::Item),
        end: fn(&mut Json, Option<&str>, Timestamp),
    ) -> Self {
        Self {
            list,
            is_durable: false,
            now: core.now(),
            item,
            end,
        }
    }

    /// For a host that acts on what it reads.
    pub(super) fn durable(self) -> Self {
        Self {
            is_durable: true,
            ..self
        }
    }
}

impl<L: Listed + Send> Items for Page<L> {
    fn write(&mut self, core: &EngineCore, body: &mut ListBody) -> Result<bool> {
        let mut reader = if self.is_durable {
            core.durable_reader()?
        } else {
            core.reader()?
        };
        reader.now = self.now;
        let item = self.item;
        let end = self
            .list
            .step(&reader, &mut |shown| body.item(|json| item(json, shown)))?;
        if end == PageEnd::Stopped {
            return Ok(true);
        }
        body.write_end(|json| (self.end)(json, end.token().as_deref(), self.now));
        Ok(false)
    }
}

/// The keys, in the order of their numbers.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// The last key that was written.
    after: u64,
}

impl Items for Keys {
    fn write(&mut self, core: &EngineCore, body: &mut ListBody) -> Result<bool> {
        /// Keys that are copied at a time; each takes about 200 bytes in the body.
        const COPIED: usize = RESPONSE_CHUNK_BYTES / 128;
        let found = keys::after(&core.store, self.after, COPIED);
        let last = found.len() < COPIED;
        for key in found {
            self.after = key.id;
            if body.item(|json| json.value(&key)).is_break() {
                return Ok(true);
            }
        }
        if last {
            body.write_end(|json| json.raw(b"]}"));
        }
        Ok(!last)
    }
}
