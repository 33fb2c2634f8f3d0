//! What the pages of the server show of the fleet and the store, read off the event loop.

use std::time::{Duration, Instant};

use deskfleet::Engine;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

/// Reading pauses for this many times as long as it took, so that it takes a twentieth of one thread at most, however often the
/// page is asked for: it needs no key.
const PAUSE_FACTOR: u32 = 19;

/// What was read last. Of those who ask at the same time one reads.
#[derive(Debug)]
pub(crate) struct Scraped<T> {
    read: fn(&Engine) -> T,
    last: Mutex<Option<(T, Instant)>>,
}

impl<T: Clone + Send + 'static> Scraped<T> {
    /// Nothing was read yet; `read` will.
    pub(crate) fn new(read: fn(&Engine) -> T) -> Self {
        let last = Mutex::default();
        Self { read, last }
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
        *last = Some((value.clone(), Instant::now() + took * PAUSE_FACTOR));
        Some(value)
    }
}

fn timed<T>(engine: &Engine, read: fn(&Engine) -> T) -> (T, Duration) {
    let begun = Instant::now();
    (read(engine), begun.elapsed())
}
