//! Responses whose body is made in chunks: a list of any length, of which only a chunk is in memory.

use std::fmt;

use bytes::Bytes;
use http::{HeaderValue, Response};

use crate::domain::paging;
use crate::engine_core::EngineCore;
use crate::error::Result;
use crate::limits::RESPONSE_CHUNK_BYTES;
use crate::model::Stream;
use crate::store::table;
use crate::store::telemetry::queue::Wanted;
use crate::timestamp::Timestamp;
use crate::view::actions::{ActionQuery, ActionsEnd};
use crate::view::activity::Last24Hours;
use crate::view::audit::{self, AuditEnd, AuditQuery};
use crate::view::workspaces::{self, Listing, PageEnd};
use crate::view::{Reader, actions, events, keys};
use crate::wire::json::Json;
use crate::wire::list::ListBody;
use crate::wire::reply;

use super::Failure;

/// Where the items of a list come from. Between two calls it holds no snapshot, only where it was.
pub(super) trait Items: Send {
    /// Writes items until the body has a chunk, or the list ends: what stands behind the last item is written then as well.
    /// Returns whether there is more to write.
    fn write(&mut self, core: &EngineCore, body: &mut ListBody) -> Result<bool>;
}

/// A body on its way: what is written, and where the rest comes from.
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

/// Reads tables as they are, at the moment at which the response began.
pub(super) fn reader_at(core: &EngineCore, now: Timestamp) -> Result<Reader> {
    let mut reader = core.reader()?;
    reader.now = now;
    Ok(reader)
}

fn array_end(json: &mut Json) {
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
                body.end(array_end);
                return Ok(false);
            }
            let wanted = Wanted::Stream(Stream::Activity);
            self.activities.look(|| core.telemetry_reader(wanted))?;
        }
    }
}

/// `GetAdminActivity`, or a page of the audit.
#[derive(Debug)]
pub(super) struct AuditRows {
    rows: audit::AuditRows,
    is_page: bool,
    now: Timestamp,
}

impl AuditRows {
    pub(super) fn newest(core: &EngineCore, count: usize) -> Self {
        Self {
            rows: audit::AuditRows::newest(count),
            is_page: false,
            now: core.now(),
        }
    }

    pub(super) fn page(core: &EngineCore, query: AuditQuery) -> Result<Self> {
        Ok(Self {
            rows: audit::AuditRows::page(query)?,
            is_page: true,
            now: core.now(),
        })
    }
}

impl Items for AuditRows {
    fn write(&mut self, core: &EngineCore, body: &mut ListBody) -> Result<bool> {
        let is_page = self.is_page;
        let end = self.rows.step(&reader_at(core, self.now)?, &mut |row| {
            body.item(|json| {
                if is_page {
                    reply::audit_item(json, &row);
                } else {
                    json.value(&row);
                }
            })
        })?;
        let token = match end {
            AuditEnd::Stopped => return Ok(true),
            AuditEnd::More(token) => Some(token),
            AuditEnd::Over => None,
        };
        if is_page {
            body.end(|json| reply::page_end(json, token.as_deref()));
        } else {
            body.end(array_end);
        }
        Ok(false)
    }
}

fn stop_if(stop: bool) -> table::Step {
    if stop {
        table::Step::Break(())
    } else {
        table::Step::Continue(())
    }
}

/// A page of the outbox.
#[derive(Debug)]
pub(super) struct Actions {
    actions: actions::Actions,
    now: Timestamp,
}

impl Actions {
    pub(super) fn new(core: &EngineCore, query: &ActionQuery) -> Result<Self> {
        Ok(Self {
            actions: actions::Actions::page(query)?,
            now: core.now(),
        })
    }
}

impl Items for Actions {
    fn write(&mut self, core: &EngineCore, body: &mut ListBody) -> Result<bool> {
        let mut reader = core.durable_reader()?;
        reader.now = self.now;
        let mut show = |action| body.item(|json| json.value(&action));
        let token = match self.actions.step(&reader, &mut show)? {
            ActionsEnd::Stopped => return Ok(true),
            ActionsEnd::More(token) => Some(token),
            ActionsEnd::Over => None,
        };
        body.end(|json| reply::page_end(json, token.as_deref()));
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
            body.end(|json| json.raw(b"]}"));
        }
        Ok(!last)
    }
}

/// A page of the event log.
#[derive(Debug)]
pub(super) struct Events {
    after: Option<u64>,
    left: usize,
    now: Timestamp,
}

impl Events {
    pub(super) fn new(core: &EngineCore, after: Option<u64>, limit: usize) -> Self {
        Self {
            after,
            left: limit,
            now: core.now(),
        }
    }
}

impl Items for Events {
    fn write(&mut self, core: &EngineCore, body: &mut ListBody) -> Result<bool> {
        let mut reader = core.durable_reader()?;
        reader.now = self.now;
        let (mut full, mut more) = (false, None);
        events::after(&reader, self.after, |event| {
            if self.left == 0 {
                more = self.after.map(paging::after_event);
                return stop_if(true);
            }
            self.left -= 1;
            self.after = Some(event.id);
            full = body.item(|json| json.value(&event)).is_break();
            stop_if(full)
        })?;
        if !full {
            let token = more.as_deref();
            body.end(|json| reply::rows_end(json, token, self.now));
        }
        Ok(full)
    }
}

/// A page of workspaces.
#[derive(Debug)]
pub(super) struct Workspaces {
    listing: Listing,
    left: usize,
    after: Option<String>,
    now: Timestamp,
}

impl Workspaces {
    pub(super) fn new(
        core: &EngineCore,
        listing: Listing,
        limit: usize,
        token: Option<&str>,
    ) -> Result<Self> {
        Ok(Self {
            after: token.map(|token| listing.after(token)).transpose()?,
            listing,
            left: limit,
            now: core.now(),
        })
    }
}

impl Items for Workspaces {
    fn write(&mut self, core: &EngineCore, body: &mut ListBody) -> Result<bool> {
        let reader = reader_at(core, self.now)?;
        let (left, after) = (self.left, self.after.as_deref());
        let end = workspaces::page(&reader, &self.listing, left, after, &mut |entry| {
            self.left -= 1;
            body.item(|json| reply::workspace_item(json, entry))
        })?;
        let token = match end {
            PageEnd::Stopped(id) => {
                self.after = Some(id);
                return Ok(true);
            }
            PageEnd::More(id) => Some(self.listing.token(&id)),
            PageEnd::Over => None,
        };
        body.end(|json| reply::page_end(json, token.as_deref()));
        Ok(false)
    }
}
