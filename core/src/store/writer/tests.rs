//! One caller leads at a time, and each that waits can.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;
use std::thread;
use std::time::Duration;

use super::*;

impl<M, O: Clone> Turn<'_, M, O> {
    fn outcome(self) -> Option<O> {
        match self {
            Self::Outcome(outcome) => Some(outcome),
            Self::Lead(..) => None,
        }
    }
}

fn tenfold(mutations: Vec<u32>) -> impl Iterator<Item = (usize, u32)> {
    mutations
        .into_iter()
        .map(|mutation| mutation * 10)
        .enumerate()
}

/// Waits as an engine's caller does; a commit multiplies by ten.
fn run(writer: &Writer<u32, u32>, ticket: &mut Ticket<u32>) -> u32 {
    loop {
        match writer.wait(ticket) {
            Turn::Outcome(outcome) => return outcome,
            Turn::Lead(mutations, mut batch) => {
                batch.resolve(tenfold(mutations));
            }
        }
    }
}

#[test]
fn pending_submissions_become_one_batch_in_order() {
    let writer = Writer::<u32, u32>::new(0, || 0);
    let tickets = [1, 2, 3].map(|mutation| writer.submit(mutation));
    let (mutations, mut batch) = writer.lead().unwrap();
    assert_eq!(mutations, [1, 2, 3]);
    let mut late = writer.submit(4);
    assert!(writer.lead().is_none(), "one leads at a time");
    batch.resolve(tenfold(mutations));
    assert!(writer.lead().is_none(), "the batch is not dropped yet");
    drop(batch);
    assert_eq!(
        tickets.map(|mut ticket| writer.wait(&mut ticket).outcome()),
        [Some(10), Some(20), Some(30)]
    );
    let Turn::Lead(mutations, _) = writer.wait(&mut late) else {
        panic!("nobody else leads the next batch");
    };
    assert_eq!(mutations, [4]);
}

#[test]
fn thread_gives_way_only_where_a_batch_has_gathered() {
    static TIMES: AtomicUsize = AtomicUsize::new(0);
    fn give_way() {
        TIMES.fetch_add(1, Ordering::Relaxed);
    }
    let writer = Writer::<u32, u32>::new(1, || 0);
    let _gathered = writer.submit(1);
    drop(writer.lead_next(give_way).unwrap());
    assert_eq!(TIMES.load(Ordering::Relaxed), 1);
    writer.close();
    assert!(writer.lead_next(give_way).is_none());
    assert_eq!(TIMES.load(Ordering::Relaxed), 1, "nothing had gathered");
}

#[test]
fn thread_takes_pending_submissions_and_ends_when_closed() {
    let writer = Arc::new(Writer::<u32, u32>::new(1, || 0));
    let thread = thread::spawn({
        let writer = Arc::clone(&writer);
        move || {
            while let Some((mutations, mut batch)) = writer.lead_next(|| {}) {
                batch.resolve(tenfold(mutations));
            }
        }
    });
    let tickets: Vec<_> = (0..100).map(|mutation| writer.submit(mutation)).collect();
    for (mutation, mut ticket) in (0..100).zip(tickets) {
        assert_eq!(writer.wait(&mut ticket).outcome(), Some(mutation * 10));
    }
    writer.close();
    thread.join().unwrap();
}

#[test]
fn callers_lead_in_a_forked_child_though_its_thread_led_at_the_fork() {
    let writer = Writer::<u32, u32>::new(1, || 0);
    let mut before = writer.submit(1);
    lock(&writer.waiting).leading = true;
    writer.close_in_child();
    assert_eq!(run(&writer, &mut before), 10);
    let mut after = writer.submit(2);
    let Turn::Lead(mutations, batch) = writer.wait(&mut after) else {
        panic!("no thread leads");
    };
    assert_eq!(mutations, [2]);
    writer.close_in_child();
    let _later = writer.submit(3);
    assert!(writer.lead().is_none(), "one caller leads at a time");
    drop(batch);
}

#[test]
fn a_batch_that_is_dropped_is_lost_and_frees_the_writer() {
    let writer = Writer::<u32, u32>::new(0, || 99);
    let tickets = [1, 2].map(|mutation| writer.submit(mutation));
    drop(writer.lead());
    assert_eq!(
        tickets.map(|mut ticket| writer.wait(&mut ticket).outcome()),
        [Some(99), Some(99)]
    );
    let mut next = writer.submit(3);
    assert_eq!(run(&writer, &mut next), 30);
}

/// Counts how often it is woken.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Futures that wait for one outcome, with the counts of their wake-ups.
fn waiting(
    writer: &Writer<u32, u32>,
    shared: &Ticket<u32>,
    count: usize,
) -> (Vec<Ticket<u32>>, Vec<Arc<Count>>) {
    let counts: Vec<_> = (0..count).map(|_| Arc::<Count>::default()).collect();
    let waits = counts.iter().map(|count| {
        let mut ticket = shared.share();
        let waker = Waker::from(Arc::clone(count));
        assert!(writer.poll(&mut ticket, &waker, true).is_pending());
        ticket
    });
    (waits.collect(), counts)
}

fn woken(counts: &[Arc<Count>]) -> Vec<usize> {
    let count = |count: &Arc<Count>| count.0.load(Ordering::Relaxed);
    counts.iter().map(count).collect()
}

fn polled(writer: &Writer<u32, u32>, ticket: &mut Ticket<u32>) -> Option<u32> {
    match writer.poll(ticket, Waker::noop(), true) {
        Poll::Ready(turn) => turn.outcome(),
        Poll::Pending => panic!("nobody leads, and there is no outcome"),
    }
}

#[test]
fn outcome_wakes_every_future_that_waits_for_it() {
    for has_thread in [false, true] {
        let writer = Writer::<u32, u32>::new(usize::from(has_thread), || 0);
        let shared = writer.submit(1);
        let taken = if has_thread {
            writer.lead_next(|| {})
        } else {
            writer.lead()
        };
        let (_, mut batch) = taken.unwrap();
        let (mut tickets, counts) = waiting(&writer, &shared, 3);
        drop(tickets.pop());
        batch.resolve([(0, 10)]);
        assert_eq!(woken(&counts), [1, 1, 0], "but for one that was dropped");
        drop(batch);
        for ticket in &mut tickets {
            assert_eq!(polled(&writer, ticket), Some(10));
        }
        assert_eq!(woken(&counts), [1, 1, 0]);
    }
}

#[test]
fn every_polled_future_is_woken_when_the_writer_is_free_and_each_can_lead() {
    for leader in 0..3 {
        let writer = Writer::<u32, u32>::new(0, || 0);
        let _first = writer.submit(1);
        let (_, batch) = writer.lead().unwrap();
        let _never_polled = writer.submit(2);
        let (shared, alone) = (writer.submit(3), writer.submit(4));
        let (mut tickets, mut counts) = waiting(&writer, &shared, 2);
        let (other, other_counts) = waiting(&writer, &alone, 1);
        tickets.extend(other);
        counts.extend(other_counts);
        drop(batch);
        assert_eq!(woken(&counts), [1, 1, 1]);
        let Poll::Ready(Turn::Lead(mutations, _)) =
            writer.poll(&mut tickets[leader], Waker::noop(), true)
        else {
            panic!("nobody else leads");
        };
        assert_eq!(mutations, [2, 3, 4]);
    }
}

/// The first that waits decides nothing: a thread that blocks goes on by itself.
#[test]
fn a_thread_that_blocks_leads_though_an_unpolled_future_came_first() {
    let writer = Arc::new(Writer::<u32, u32>::new(0, || 0));
    let _leading = writer.submit(1);
    let (_, batch) = writer.lead().unwrap();
    let unpolled = writer.submit(2);
    let (_polled, counts) = waiting(&writer, &unpolled, 1);
    let blocked = thread::spawn({
        let writer = Arc::clone(&writer);
        let mut ticket = writer.submit(3);
        move || run(&writer, &mut ticket)
    });
    while lock(&writer.waiting)
        .batch
        .iter()
        .all(|(_, slot)| !slot.has_blocked_thread())
    {
        thread::yield_now();
    }
    drop(batch);
    assert_eq!(blocked.join().unwrap(), 30);
    assert_eq!(woken(&counts), [1], "only by its outcome");
}

#[test]
fn closing_asks_those_who_waited_for_the_thread() {
    let writer = Arc::new(Writer::<u32, u32>::new(1, || 0));
    let (mut tickets, counts) = waiting(&writer, &writer.submit(1), 1);
    writer.close();
    assert_eq!(woken(&counts), [1]);
    assert_eq!(polled(&writer, &mut tickets[0]), None, "it leads");
    assert_eq!(polled(&writer, &mut tickets[0]), Some(0), "and was lost");
}

/// Threads that block, futures that are never polled, and futures that are dropped, at random: none waits for ever.
#[test]
fn nobody_who_blocks_waits_for_ever() {
    let writer = Arc::new(Writer::<u32, u32>::new(0, || 0));
    let (done, all) = std::sync::mpsc::channel();
    for seed in 0..6_u32 {
        let (writer, done) = (Arc::clone(&writer), done.clone());
        thread::spawn(move || {
            let mut left = Vec::new();
            for number in 0..2000_u32 {
                let mut ticket = writer.submit(number);
                match (number ^ seed.wrapping_mul(0x9e37_79b9)) % 5 {
                    0 => left.push(ticket),
                    1 => {
                        let _ = writer.poll(&mut ticket, Waker::noop(), false);
                        left.push(ticket);
                    }
                    2 => drop(left.pop()),
                    _ => assert_eq!(run(&writer, &mut ticket), number * 10),
                }
            }
            done.send(()).unwrap();
        });
    }
    for _ in 0..6 {
        all.recv_timeout(Duration::from_secs(60))
            .expect("a thread waits for ever");
    }
}

/// Wakes a thread that polls.
struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits as a future of an engine does.
fn run_polling(writer: &Writer<u32, u32>, ticket: &mut Ticket<u32>) -> u32 {
    let waker = Arc::new(Unpark(thread::current())).into();
    loop {
        match writer.poll(ticket, &waker, true) {
            Poll::Ready(Turn::Outcome(outcome)) => return outcome,
            Poll::Ready(Turn::Lead(mutations, mut batch)) => {
                batch.resolve(tenfold(mutations));
            }
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn futures_polled_while_the_thread_ends_are_resolved() {
    let (done, all) = std::sync::mpsc::channel();
    for _ in 0..300 {
        let writer = Arc::new(Writer::<u32, u32>::new(1, || 0));
        let committing = Arc::clone(&writer);
        thread::spawn(move || {
            while let Some((mutations, mut batch)) = committing.lead_next(|| {}) {
                batch.resolve(tenfold(mutations));
            }
        });
        for first in [0, 100] {
            let (writer, done) = (Arc::clone(&writer), done.clone());
            thread::spawn(move || {
                for number in first..first + 20 {
                    let mut ticket = writer.submit(number);
                    assert_eq!(run_polling(&writer, &mut ticket), number * 10);
                }
                done.send(()).unwrap();
            });
        }
        writer.close();
        for _ in 0..2 {
            all.recv_timeout(Duration::from_secs(60))
                .expect("a future is never woken");
        }
    }
}

#[test]
fn released_batch_is_resolved_while_the_other_thread_leads_the_next() {
    let writer = Arc::new(Writer::<u32, u32>::new(2, || 0));
    let (led, all_led) = std::sync::mpsc::channel();
    let threads = [(); 2].map(|()| {
        let (writer, led) = (Arc::clone(&writer), led.clone());
        thread::spawn(move || {
            while let Some((mutations, mut batch)) = writer.lead_next(|| {}) {
                let is_first = mutations.contains(&1);
                led.send(thread::current().id()).unwrap();
                if is_first {
                    assert!(batch.release().is_empty());
                    // The other thread leads the next batch meanwhile, though this one ends after it.
                    let next = writer.submit(2);
                    while next.outcome().is_none() {
                        thread::yield_now();
                    }
                }
                batch.resolve(tenfold(mutations));
            }
        })
    });
    let mut first = writer.submit(1);
    assert_eq!(run(&writer, &mut first), 10);
    assert_ne!(all_led.recv().unwrap(), all_led.recv().unwrap());
    // Both lead again.
    for number in 3..100 {
        let mut ticket = writer.submit(number);
        assert_eq!(run_polling(&writer, &mut ticket), number * 10);
    }
    writer.close();
    for thread in threads {
        thread.join().unwrap();
    }
}
