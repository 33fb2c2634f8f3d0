//! How much of all request bodies, and of those of one source, may be in memory.

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::gzip::STATE_BYTES;

/// Bytes that one permit stands for.
const PERMIT_BYTES: usize = 1024;
/// The part of the budget that a source may take: one in this many.
const SOURCE_PART: usize = 4;
/// Bodies that wait for room; more are refused. What has been sent of one that waits is kept beside the budget, 256 KiB at most.
const WAITING_MAX: usize = 64;

/// There is no room, and too many wait for it already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoRoom;

/// Room for bytes.
#[derive(Debug)]
pub(crate) struct Room {
    permits: Semaphore,
    /// Who has it may go on where there is no room: see [`Part::grow`].
    beyond: Semaphore,
    /// Places to wait for room.
    waiting: Semaphore,
}

impl Room {
    /// Room for about `bytes`, and for one body of `largest` at least.
    pub(crate) fn new(bytes: usize, largest: usize) -> Self {
        let permits = permits(bytes.max(largest.saturating_add(STATE_BYTES)));
        Self {
            permits: Semaphore::new(permits.min(Semaphore::MAX_PERMITS)),
            beyond: Semaphore::new(1),
            waiting: Semaphore::new(WAITING_MAX),
        }
    }

    /// The room of one source, in a budget of `bytes`.
    pub(crate) fn of_source(bytes: usize, largest: usize) -> Self {
        Self::new(bytes / SOURCE_PART, largest)
    }
}

fn permits(bytes: usize) -> usize {
    bytes.div_ceil(PERMIT_BYTES)
}

/// What `bytes` of a body need. What a single permit would hold needs none: its request's head takes more.
fn needed(bytes: usize) -> usize {
    if bytes <= PERMIT_BYTES {
        0
    } else {
        permits(bytes)
    }
}

/// What a body holds of one room.
#[derive(Debug)]
struct Part<'r> {
    room: &'r Room,
    held: Option<SemaphorePermit<'r>>,
    beyond: Option<SemaphorePermit<'r>>,
}

impl<'r> Part<'r> {
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

/// What a body holds of the budget and of its source's part of it. It grows with what has arrived, never before.
#[derive(Debug)]
pub(crate) struct Share<'r> {
    source: Part<'r>,
    all: Part<'r>,
    /// Bytes that are held beside the body.
    state: usize,
}

impl<'r> Share<'r> {
    pub(crate) fn none(source: &'r Room, all: &'r Room) -> Self {
        Self {
            source: Part::none(source),
            all: Part::none(all),
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
    pub(crate) fn end(&mut self, bytes: usize) {
        self.state = 0;
        self.shrink(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    const LARGEST: usize = 100 * PERMIT_BYTES;

    fn waits(future: impl Future<Output = Result<(), NoRoom>>) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(future).poll(&mut context).is_pending()
    }

    #[tokio::test]
    async fn one_upload_goes_on_beyond_the_budget_and_the_others_wait() {
        let all = Room::new(0, LARGEST);
        let sources = [(); 3].map(|()| Room::new(0, LARGEST));
        let [first, second, third] = &sources;
        let mut first = Share::none(first, &all);
        first.grow(PERMIT_BYTES).await.unwrap();
        assert!(first.all.held.is_none(), "a head takes more");
        first.grow(LARGEST).await.unwrap();
        first.grow(LARGEST + STATE_BYTES).await.unwrap();
        let mut second = Share::none(second, &all);
        for more in [10, 10_000] {
            second.grow(more * PERMIT_BYTES).await.unwrap();
        }
        assert!(first.all.beyond.is_none() && second.all.beyond.is_some());
        let mut third = Share::none(third, &all);
        {
            let mut waits = pin!(third.grow(2 * PERMIT_BYTES));
            let mut context = Context::from_waker(Waker::noop());
            assert!(waits.as_mut().poll(&mut context).is_pending());
            drop(first);
            waits.await.unwrap();
        }
        assert_eq!(third.all.permits(), 2);
        second.shrink(10_000 * PERMIT_BYTES);
        assert!(second.all.beyond.is_some(), "more than it holds is kept");
        second.shrink(0);
        assert!(second.all.beyond.is_none() && second.all.permits() == 0);
    }

    #[tokio::test]
    async fn shrinking_body_keeps_the_room_to_decode_until_its_end() {
        let room = Room::new(0, LARGEST);
        let mut share = Share::none(&room, &room);
        share.grow_by_state().await.unwrap();
        share.shrink(0);
        assert_eq!(share.all.permits(), permits(STATE_BYTES));
        share.end(0);
        assert_eq!(share.all.permits(), 0);
    }

    #[tokio::test]
    async fn source_without_room_leaves_room_for_others() {
        const BUDGET: usize = 4 * 200 * PERMIT_BYTES;
        let all = Room::new(BUDGET, LARGEST);
        let (greedy, other) = (
            Room::of_source(BUDGET, LARGEST),
            Room::of_source(BUDGET, LARGEST),
        );
        let mut held: Vec<_> = (0..3).map(|_| Share::none(&greedy, &all)).collect();
        for share in &mut held {
            share.grow(LARGEST).await.unwrap();
        }
        assert!(held[2].source.beyond.is_some(), "one of its own goes on");
        let mut waiting = Share::none(&greedy, &all);
        assert!(waits(waiting.grow(LARGEST)));
        let mut healthy = Share::none(&other, &all);
        assert!(!waits(healthy.grow(2 * LARGEST)));
        held[0].shrink(0);
        assert!(!waits(waiting.grow(LARGEST)), "what is given back is there");
    }

    #[tokio::test]
    async fn body_is_refused_where_too_many_wait_for_room() {
        let (all, source) = (Room::new(0, LARGEST), Room::new(0, LARGEST));
        let mut shares: Vec<_> = (0..WAITING_MAX + 3)
            .map(|_| Share::none(&source, &all))
            .collect();
        let mut context = Context::from_waker(Waker::noop());
        // One takes the room, one goes on beyond it.
        let mut growing: Vec<_> = shares
            .iter_mut()
            .map(|share| Box::pin(share.grow(LARGEST + STATE_BYTES)))
            .collect();
        let results: Vec<_> = growing
            .iter_mut()
            .map(|growing| growing.as_mut().poll(&mut context))
            .collect();
        let is_waiting = |result: &&Poll<_>| result.is_pending();
        assert_eq!(results.iter().filter(is_waiting).count(), WAITING_MAX);
        assert_eq!(results.last(), Some(&Poll::Ready(Err(NoRoom))));
    }
}
