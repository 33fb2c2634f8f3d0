//! The figures that `/metrics` shows of the fleet and the store, read off the event loop.

use std::time::{Duration, Instant};

use deskfleet::Engine;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use crate::metrics::Figures;

/// Reading pauses for this many times as long as it took, so that it takes a twentieth of one thread at most, however often the
/// page is asked for: it needs no key.
const PAUSE_FACTOR: u32 = 19;

/// The figures that were read last. Of those who ask at the same time one reads.
#[derive(Debug, Default)]
pub(crate) struct Scraped(Mutex<Option<(Figures, Instant)>>);

impl Scraped {
    /// The figures, as of now unless reading them pauses.
    pub(crate) async fn figures(&self, engine: &Engine) -> Figures {
        let mut last = self.0.lock().await;
        if let Some((figures, good_until)) = &*last
            && Instant::now() < *good_until
        {
            return figures.clone();
        }
        let reading = engine.clone();
        let (figures, pause) = match spawn_blocking(move || timed(&reading)).await {
            Ok((figures, took)) => (figures, took * PAUSE_FACTOR),
            // The runtime ends.
            Err(_) => (Figures::unread(), Duration::ZERO),
        };
        *last = Some((figures.clone(), Instant::now() + pause));
        figures
    }
}

fn timed(engine: &Engine) -> (Figures, Duration) {
    let begun = Instant::now();
    (Figures::of(engine), begun.elapsed())
}
