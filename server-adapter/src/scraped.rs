//! What the pages of the server show of the fleet and the store, read off the event loop.

use std::time::{Duration, Instant};

use deskfleet::Engine;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

/// Reading pauses for this many times as long as it took, so that it takes a twentieth of one thread at most, however often the
/// page is asked for: most need no key.
const PAUSE_FACTOR: u32 = 19;

/// What was read last. Of those who ask at the same time one reads.
#[derive(Debug)]
pub(crate) struct Scraped<T> {
    read: fn(&Engine) -> T,
    pause_max: Duration,
    last: Mutex<Option<(T, Instant)>>,
}

impl<T: Clone + Send + 'static> Scraped<T> {
    /// Nothing was read yet; `read` will.
    pub(crate) fn new(read: fn(&Engine) -> T) -> Self {
        Self::pausing(Duration::MAX, read)
    }

    /// The same for what needs a key: reading never pauses for longer than that.
    pub(crate) fn pausing(pause_max: Duration, read: fn(&Engine) -> T) -> Self {
        Self {
            read,
            pause_max,
            last: Mutex::default(),
        }
    }

    /// What is asked for next is read anew.
    #[cfg(feature = "cluster")]
    pub(crate) async fn expire(&self) {
        *self.last.lock().await = None;
    }

    /// What is read, as of now unless reading pauses. `None` where the runtime ends.
    pub(crate) async fn get(&self, engine: &Engine) -> Option<T> {
        let mut last = self.last.lock().await;
        if let Some((value, good_until)) = &*last
            && Instant::now() < *good_until
        {
            return Some(value.clone());
        }
        let (engine, read) = (engine.clone(), self.read);
        let (value, took) = spawn_blocking(move || timed(&engine, read)).await.ok()?;
        let pause = (took * PAUSE_FACTOR).min(self.pause_max);
        *last = Some((value.clone(), Instant::now() + pause));
        Some(value)
    }
}

fn timed<T>(engine: &Engine, read: fn(&Engine) -> T) -> (T, Duration) {
    let begun = Instant::now();
    (read(engine), begun.elapsed())
}
