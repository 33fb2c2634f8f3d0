//! The memory for request bodies and unsent responses, in all and per source.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use crate::request::gzip::STATE_BYTES;

/// Bytes that one permit stands for.
const PERMIT_BYTES: usize = 1024;
/// The part of the budget that a source may take: one in this many.
const SOURCE_PART: usize = 4;
/// Bodies that wait for room; more are refused. What has been sent of one that waits is kept beside the budget, 256 KiB at most.
const WAITING_MAX: usize = 64;
/// Of the room for responses, one part in this many is kept for sources that have little of it.
const RESERVE_PART: usize = 8;
/// Little is one part in this many.
const LITTLE_PART: usize = 64;
/// Bytes of unsent responses to operators, beside the budget of all others: reading the fleet slowly must not keep anybody from
/// revoking a key.
const OPERATOR_BYTES: usize = 8 * 1024 * 1024;

/// There is no room, and too many wait for it already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoRoom;

/// Room for bytes.
#[derive(Debug)]
pub(crate) struct Room {
    permits: Arc<Semaphore>,
    total: usize,
    /// Who has it may go on where there is no room: see [`RoomShare::grow`].
    beyond: Semaphore,
    /// Places to wait for room.
    waiting: Semaphore,
}

impl Room {
    /// Room for about `bytes`, and for one body of `largest` at least.
    pub(crate) fn new(bytes: usize, largest: usize) -> Self {
        let total = permits(bytes.max(largest.saturating_add(STATE_BYTES)));
        let total = total.min(u32::MAX as usize).min(Semaphore::MAX_PERMITS);
        Self {
            permits: Arc::new(Semaphore::new(total)),
            total,
            beyond: Semaphore::new(1),
            waiting: Semaphore::new(WAITING_MAX),
        }
    }

    /// The room of one source, in a budget of `bytes`.
    pub(crate) fn of_source(bytes: usize, largest: usize) -> Self {
        Self::new(bytes / SOURCE_PART, largest)
    }
}

/// Room for unsent responses: of all sources, or of one.
#[derive(Debug)]
pub(crate) struct ResponseRooms {
    others: Room,
    operators: Room,
}

/// What a response takes until its last byte is sent.
#[derive(Debug)]
pub(crate) struct ResponseShare {
    of_source: OwnedSemaphorePermit,
    of_all: OwnedSemaphorePermit,
}

impl ResponseShare {
    /// The same for a response of which now is known that it has `bytes`; `None` where so few need no room.
    pub(crate) fn shrunk(mut self, bytes: usize) -> Option<Self> {
        let needed = needed(bytes);
        for permits in [&mut self.of_source, &mut self.of_all] {
            let less = permits.num_permits().saturating_sub(needed);
            drop(permits.split(less));
        }
        (needed > 0).then_some(self)
    }
}

impl ResponseRooms {
    /// Those of all sources together.
    pub(crate) fn of_all(bytes: usize) -> Self {
        Self {
            others: Room::new(bytes, 0),
            operators: Room::new(OPERATOR_BYTES, 0),
        }
    }

    /// Those of one source, in a budget of `bytes`: a quarter, and half of the operators'.
    pub(crate) fn of_source(bytes: usize) -> Self {
        Self {
            others: Room::of_source(bytes, 0),
            operators: Room::new(OPERATOR_BYTES / 2, 0),
        }
    }

    /// Takes room for `bytes` of a response to `source`, if there is some now; `None` where so few need none. A response that is
    /// larger than the room of its source takes as much as that.
    pub(crate) fn try_take(
        &self,
        source: &Self,
        is_operators: bool,
        bytes: usize,
    ) -> Result<Option<ResponseShare>, NoRoom> {
        let [of_source, of_all] = [source, self].map(|rooms| {
            if is_operators {
                &rooms.operators
            } else {
                &rooms.others
            }
        });
        let reserve = of_all.total / RESERVE_PART;
        let most = of_source.total.min(of_all.total - reserve);
        let wanted = needed(bytes).min(most);
        if wanted == 0 {
            return Ok(None);
        }
        let taken = of_source.total - of_source.permits.available_permits();
        let has_little = taken + wanted <= of_all.total / LITTLE_PART;
        if !has_little && of_all.permits.available_permits() < wanted + reserve {
            return Err(NoRoom);
        }
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
        let take = |room: &Room| {
            let permits = Arc::clone(&room.permits);
            permits.try_acquire_many_owned(wanted).map_err(|_| NoRoom)
        };
        Ok(Some(ResponseShare {
            of_source: take(of_source)?,
            of_all: take(of_all)?,
        }))
    }
}

fn permits(bytes: usize) -> usize {
    bytes.div_ceil(PERMIT_BYTES)
}

/// Whether a body or a response of that length takes no room.
pub(crate) fn needs_no_room(bytes: usize) -> bool {
    needed(bytes) == 0
}

/// What `bytes` of a body or a response need. What a single permit would hold needs none: its request's head takes more.
fn needed(bytes: usize) -> usize {
    if bytes <= PERMIT_BYTES {
        0
    } else {
        permits(bytes)
    }
}

/// The share of a body in one room.
#[derive(Debug)]
struct RoomShare<'r> {
    room: &'r Room,
    held: Option<SemaphorePermit<'r>>,
    beyond: Option<SemaphorePermit<'r>>,
}

impl<'r> RoomShare<'r> {
    fn none(room: &'r Room) -> Self {
        Self {
            room,
            held: None,
            beyond: None,
        }
    }

    fn permits(&self) -> usize {
        self.held.as_ref().map_or(0, SemaphorePermit::num_permits)
    }

    /// Waits until there is room for `wanted` permits in all.
    ///
    /// Bodies that each hold some and wait for more could wait for each other for ever. So one of them may go on beyond the
    /// room, to its own limit at most; the others wait for it to end, if not for others.
    async fn grow(&mut self, wanted: usize) -> Result<(), NoRoom> {
        let more = wanted.saturating_sub(self.permits());
        if more == 0 || self.beyond.is_some() {
            return Ok(());
        }
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        if let Ok(more) = self.room.permits.try_acquire_many(more) {
            self.hold(more);
            return Ok(());
        }
        let _waiting = self.room.waiting.try_acquire().map_err(|_| NoRoom)?;
        // An error would mean that a semaphore was closed; nobody closes them.
        tokio::select! {
            biased;
            more = self.room.permits.acquire_many(more) => if let Ok(more) = more {
                self.hold(more);
            },
            beyond = self.room.beyond.acquire() => self.beyond = beyond.ok(),
        }
        Ok(())
    }

    fn hold(&mut self, more: SemaphorePermit<'r>) {
        match &mut self.held {
            Some(held) => held.merge(more),
            None => self.held = Some(more),
        }
    }

    /// Gives back what is held above `wanted` permits, and first the right to go on beyond the room.
    fn shrink(&mut self, wanted: usize) {
        let Some(less) = self.permits().checked_sub(wanted) else {
            return;
        };
        self.beyond = None;
        if let Some(held) = &mut self.held {
            drop(held.split(less));
        }
    }
}

/// The share of a body in the budget and in its source's part. It grows with the received bytes, never before.
#[derive(Debug)]
pub(crate) struct Share<'r> {
    source: RoomShare<'r>,
    all: RoomShare<'r>,
    /// Bytes that are held beside the body.
    state: usize,
}

impl<'r> Share<'r> {
    pub(crate) fn none(source: &'r Room, all: &'r Room) -> Self {
        Self {
            source: RoomShare::none(source),
            all: RoomShare::none(all),
            state: 0,
        }
    }

    /// Waits until there is room for `bytes` of the body.
    ///
    /// The source's room comes first, so that a source without room does not stand in the queue of all. Who goes on beyond the
    /// room of all waits for neither: those of its source may wait for it to end.
    pub(crate) async fn grow(&mut self, bytes: usize) -> Result<(), NoRoom> {
        let needed = needed(bytes.saturating_add(self.state));
        if needed == 0 || self.all.beyond.is_some() {
            return Ok(());
        }
        self.source.grow(needed).await?;
        self.all.grow(needed).await
    }

    /// Waits until there is room for what decoding gzip takes.
    pub(crate) async fn grow_by_state(&mut self) -> Result<(), NoRoom> {
        self.state = STATE_BYTES;
        self.grow(0).await
    }

    /// `bytes` of the body are kept.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        let needed = needed(bytes.saturating_add(self.state));
        self.source.shrink(needed);
        self.all.shrink(needed);
    }

    /// As [`Self::shrink`]; decoding is over.
    pub(crate) fn finish(&mut self, bytes: usize) {
        self.state = 0;
        self.shrink(bytes);
    }
}

#[cfg(test)]
mod tests;
