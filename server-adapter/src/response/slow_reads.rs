//! Work that is kept off the event loop, and its bounds: in all, and for each source.

#[cfg(target_os = "linux")]
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use crate::options::ServerOptions;

/// How long a request waits for its place before it is refused: bursts pass, a server that is busy says so.
const WAIT: Duration = Duration::from_millis(500);
/// The `nice` value of threads of slow reads: they get a tenth of the time when others need all of it. The maximum, 19, would
/// leave them a hundredth, too little for a console while posts keep all processors busy.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;
/// The most responses in chunks at once. Each takes less than 1 MiB.
const UNFINISHED_MAX: usize = 64;
/// The same of responses to operators, beside those of all others.
const OPERATORS_UNFINISHED_MAX: usize = 16;

/// Bounds on slow reads and on responses in chunks: of all sources, or of one.
#[derive(Debug)]
pub(crate) struct SlowReads {
    running: Arc<Semaphore>,
    unfinished: Arc<Semaphore>,
    operators_unfinished: Arc<Semaphore>,
    give_way: bool,
}

/// A place below a bound of one source and below that of all; its drop frees both.
#[derive(Debug)]
pub(crate) struct SourcePlace {
    _of_source: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

impl SourcePlace {
    /// A place below both bounds, if there is one now.
    pub(crate) fn try_take(of_source: &Arc<Semaphore>, of_all: &Arc<Semaphore>) -> Option<Self> {
        Some(Self {
            _of_source: Arc::clone(of_source).try_acquire_owned().ok()?,
            _of_all: Arc::clone(of_all).try_acquire_owned().ok()?,
        })
    }
}

impl SlowReads {
    /// Those of all sources.
    pub(crate) fn of_all(options: &ServerOptions) -> Self {
        Self {
            give_way: options.slow_reads_give_way,
            ..Self::from_limits(options.slow_reads_max, 1)
        }
    }

    /// The bounds of one source, where at most `max` run at once: each source gets at most half.
    pub(crate) fn of_source(max: usize) -> Self {
        Self::from_limits(max.max(1).div_ceil(2), 2)
    }

    /// A source may have one `part` of the responses in chunks.
    fn from_limits(running: usize, part: usize) -> Self {
        let running = running.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            running: Arc::new(Semaphore::new(running)),
            unfinished: Arc::new(Semaphore::new(UNFINISHED_MAX / part)),
            operators_unfinished: Arc::new(Semaphore::new(OPERATORS_UNFINISHED_MAX / part)),
            give_way: false,
        }
    }

    /// Runs `work`, which has a place, off the event loop.
    pub(crate) fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> JoinHandle<R> {
        let give_way = self.give_way;
        spawn_blocking(move || {
            if give_way {
                self::give_way();
            }
            work()
        })
    }

    /// A place to run a request of `source` at; `None` when there is none for too long.
    pub(crate) async fn admit(&self, source: &Self) -> Option<SourcePlace> {
        timeout(WAIT, self.resume(source)).await.ok()?
    }

    /// A place to go on with a response that has begun, however long it takes to get one: first come, first served. The source's
    /// own bound comes first, so that none waits in front of others in vain. `None` would mean that a semaphore was closed; nobody
    /// closes one.
    pub(crate) async fn resume(&self, source: &Self) -> Option<SourcePlace> {
        Some(SourcePlace {
            _of_source: Arc::clone(&source.running).acquire_owned().await.ok()?,
            _of_all: Arc::clone(&self.running).acquire_owned().await.ok()?,
        })
    }

    /// Room for a response that is made while it is sent.
    pub(crate) fn try_begin(&self, source: &Self, is_operators: bool) -> Option<SourcePlace> {
        if is_operators {
            return SourcePlace::try_take(&source.operators_unfinished, &self.operators_unfinished);
        }
        SourcePlace::try_take(&source.unfinished, &self.unfinished)
    }
}

/// Has this thread give way to all others for good, once.
#[cfg(target_os = "linux")]
fn give_way() {
    thread_local! {
        static GIVES_WAY: Cell<bool> = const { Cell::new(false) };
    }
    if !GIVES_WAY.replace(true) {
        // Of the calling thread alone, on Linux. Where it is refused, the thread goes on as it is.
        let _ = rustix::process::nice(NICE);
    }
}

#[cfg(not(target_os = "linux"))]
fn give_way() {}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_most(slow_reads_max: usize) -> ServerOptions {
        ServerOptions {
            slow_reads_max,
            ..ServerOptions::default()
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn threads_of_slow_reads_give_way_and_no_others() {
        let priority = || rustix::process::getpriority_process(None).expect("a priority");
        let before = priority();
        let usual = SlowReads::of_all(&at_most(1));
        assert_eq!(usual.run(priority).await.expect("a thread"), before);
        let low = SlowReads::of_all(&ServerOptions {
            slow_reads_give_way: true,
            ..at_most(1)
        });
        for _ in 0..2 {
            let there = low.run(priority).await.expect("a thread");
            assert_eq!(there, (before + NICE).min(19));
        }
        assert_eq!(priority(), before);
    }

    #[tokio::test]
    async fn places_of_one_source_are_at_most_half() {
        let all = SlowReads::of_all(&at_most(4));
        let [greedy, other, third] = [(); 3].map(|()| SlowReads::of_source(4));
        let begun = |source| -> Vec<SourcePlace> {
            let places = std::iter::repeat_with(|| all.try_begin(source, false));
            places.take(100).flatten().collect()
        };
        let held = begun(&greedy);
        assert_eq!(held.len(), UNFINISHED_MAX / 2);
        let others = begun(&other);
        assert_eq!(others.len(), UNFINISHED_MAX / 2);
        assert!(all.try_begin(&third, false).is_none(), "all taken");
        assert!(all.try_begin(&third, true).is_some(), "places of their own");
        drop(held);
        assert!(all.try_begin(&greedy, false).is_some());

        let running = [all.admit(&greedy).await, all.admit(&greedy).await];
        assert!(running.iter().all(Option::is_some));
        assert!(all.admit(&greedy).await.is_none());
        assert!(all.admit(&other).await.is_some());
        let one = SlowReads::of_all(&at_most(1));
        assert!(one.admit(&SlowReads::of_source(1)).await.is_some());
    }
}
