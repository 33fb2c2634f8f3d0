//! The readings of fleet and store for the pages of the server, made off the event loop and without waiting for slow reads.

use std::thread::Builder;
use std::time::{Duration, Instant};

use deskfleet::Engine;
use tokio::sync::{Mutex, oneshot};

/// After a reading it pauses for this many times as long as the reading took. So readings take at most a twentieth of one thread,
/// however often a page that needs no key is requested.
const PAUSE_FACTOR: u32 = 19;

/// The last reading. Requests that arrive during a reading share the next one.
#[derive(Debug)]
pub(crate) struct Scraped<T> {
    read: fn(&Engine) -> T,
    pause_max: Duration,
    last: Mutex<Option<Read<T>>>,
}

/// The reading.
#[derive(Debug)]
struct Read<T> {
    value: T,
    began: Instant,
    /// The end of the pause.
    good_until: Instant,
}

impl<T: Clone + Send + 'static> Scraped<T> {
    /// Nothing was read yet; `read` will.
    pub(crate) fn new(read: fn(&Engine) -> T) -> Self {
        Self::pausing(Duration::MAX, read)
    }

    /// The same for a page that needs a key: the pause is never longer than this.
    pub(crate) fn pausing(pause_max: Duration, read: fn(&Engine) -> T) -> Self {
        Self {
            read,
            pause_max,
            last: Mutex::default(),
        }
    }

    /// The next request gets a new reading.
    #[cfg(feature = "cluster")]
    pub(crate) async fn expire(&self) {
        *self.last.lock().await = None;
    }

    /// The reading, made now unless it pauses. `None` when the runtime ends.
    pub(crate) async fn get(&self, engine: &Engine) -> Option<T> {
        let asked = Instant::now();
        let mut last = self.last.lock().await;
        if let Some(last) = &*last
            && (last.began >= asked || Instant::now() < last.good_until)
        {
            return Some(last.value.clone());
        }
        let (engine, read) = (engine.clone(), self.read);
        let (send, receive) = oneshot::channel();
        // A thread of its own, one at a time, because slow reads may take all blocking threads of the runtime.
        let reading = Builder::new().name("deskfleet-page".into());
        let reading = reading.spawn(move || {
            let began = Instant::now();
            // The requests may be gone.
            let _ = send.send((read(&engine), began));
        });
        reading.ok()?;
        let (value, began) = receive.await.ok()?;
        let now = Instant::now();
        let pause = ((now - began) * PAUSE_FACTOR).min(self.pause_max);
        *last = Some(Read {
            value: value.clone(),
            began,
            good_until: now + pause,
        });
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::SystemTime;

    use super::*;

    static READS: AtomicUsize = AtomicUsize::new(0);

    #[tokio::test]
    async fn those_who_ask_while_it_is_read_share_the_next_reading() {
        let builder = Engine::builder().clock(SystemTime::now).seed(1);
        let engine = builder.open_in_memory().unwrap();
        let counted = |_: &Engine| READS.fetch_add(1, Ordering::SeqCst);
        let scraped = Scraped::pausing(Duration::ZERO, counted);
        let get = || scraped.get(&engine);
        let read = tokio::join!(get(), get(), get(), get());
        // One reading, if all have asked before its thread began.
        let reads = READS.load(Ordering::SeqCst);
        assert!(reads <= 2, "{read:?}");
        assert_eq!(get().await, Some(reads));
    }
}
