//! Which connections are served at once: each of them has buffers, so they are fewer than those that are accepted. The others wait, and
//! nothing of them but the beginning of a head is in memory.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep};

use super::places::STALL;
use crate::connection::progress::Progress;

/// How long a connection waits for its place before its request is refused.
const WAIT: Duration = Duration::from_secs(10);

/// The place of a connection while it is served.
#[derive(Debug)]
pub(crate) struct ServedPlace {
    progress: Arc<Progress>,
    _of_source: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

impl ServedPlace {
    fn new(
        progress: &Arc<Progress>,
        of_source: OwnedSemaphorePermit,
        of_all: OwnedSemaphorePermit,
    ) -> Self {
        // It may have waited for long, which is not the fault of the other end.
        progress.await_peer();
        progress.set_served(true);
        Self {
            progress: Arc::clone(progress),
            _of_source: of_source,
            _of_all: of_all,
        }
    }

    /// A place, if there is one now.
    pub(crate) fn try_take(progress: &Arc<Progress>) -> Option<Self> {
        let of_source = progress.source.served.try_take()?;
        let of_all = progress.source.try_serve()?;
        Some(Self::new(progress, of_source, of_all))
    }

    /// A place as soon as there is one, first come, first served; a source without one does not wait in front of others. Calls
    /// `make_room` while none comes free, with whether it is its source that has none. `None` after ten seconds.
    pub(crate) async fn take(progress: &Arc<Progress>, make_room: impl Fn(bool)) -> Option<Self> {
        let source_is_full = AtomicBool::new(true);
        let mut taking = pin!(async {
            let of_source = progress.source.served.take().await?;
            source_is_full.store(false, Ordering::Relaxed);
            let of_all = progress.source.serve().await?;
            Some(Self::new(progress, of_source, of_all))
        });
        let deadline = Instant::now() + WAIT;
        loop {
            tokio::select! {
                biased;
                place = taking.as_mut() => return place,
                () = sleep(STALL) => {}
            }
            if Instant::now() >= deadline {
                return None;
            }
            make_room(source_is_full.load(Ordering::Relaxed));
        }
    }
}

impl Drop for ServedPlace {
    fn drop(&mut self) {
        self.progress.set_served(false);
    }
}
