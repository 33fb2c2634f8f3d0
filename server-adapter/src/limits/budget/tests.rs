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
    share.finish(0);
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

#[test]
fn response_takes_room_of_its_source_and_of_all_until_it_is_dropped() {
    const BUDGET: usize = 4 * 100 * PERMIT_BYTES;
    let all = ResponseRooms::of_all(BUDGET);
    let [greedy, other] = [(); 2].map(|()| ResponseRooms::of_source(BUDGET));
    let free = all.try_take(&greedy, false, PERMIT_BYTES).unwrap();
    assert!(free.is_none(), "its head takes more");
    let held = all.try_take(&greedy, false, LARGEST - 1).unwrap();
    assert!(held.is_some());
    assert_eq!(
        all.try_take(&greedy, false, 2 * PERMIT_BYTES).err(),
        Some(NoRoom)
    );
    let operators = all.try_take(&greedy, true, LARGEST).unwrap();
    assert!(operators.is_some(), "a room of their own");
    // Larger than the room of its source: it takes all of that.
    let large = all.try_take(&other, false, 10 * LARGEST).unwrap();
    assert!(large.is_some());
    assert_eq!(all.others.permits.available_permits(), 200);
    drop(held);
    assert!(all.try_take(&greedy, false, LARGEST).unwrap().is_some());
    drop(large);
    assert_eq!(all.others.permits.available_permits(), 400);
    drop(operators);
    let free = || all.operators.permits.available_permits();
    let total = free();
    let report = all.try_take(&greedy, true, LARGEST).unwrap().unwrap();
    let report = report.shrunk(2 * PERMIT_BYTES).unwrap();
    assert_eq!(total - free(), 2, "what the response has");
    assert!(report.shrunk(PERMIT_BYTES).is_none());
    assert_eq!(total - free(), 0);
}

#[test]
fn sources_with_all_the_room_they_may_have_leave_some_to_those_with_little() {
    const BUDGET: usize = 4 * 1024 * PERMIT_BYTES;
    let all = ResponseRooms::of_all(BUDGET);
    let greedy = [(); 4].map(|()| ResponseRooms::of_source(BUDGET));
    let taken = |source, bytes| all.try_take(source, false, bytes).ok().flatten();
    let hold = |source| std::iter::from_fn(move || taken(source, LARGEST));
    let _held: Vec<_> = greedy.iter().flat_map(hold).collect();
    assert!(all.others.permits.available_permits() >= 4 * 1024 / RESERVE_PART);
    let late = ResponseRooms::of_source(BUDGET);
    let little = 4 * 1024 / LITTLE_PART * PERMIT_BYTES;
    assert!(taken(&late, LARGEST).is_none());
    let _little = taken(&late, little).unwrap();
    assert!(taken(&late, LARGEST / 2).is_none(), "it has that");
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
