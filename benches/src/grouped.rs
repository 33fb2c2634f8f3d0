//! Group commit over any sink: the same waiting as in the engine, around something simpler than the engine.

use std::sync::{Condvar, Mutex};

use bytes::Bytes;

/// Where a batch is made durable.
pub trait Sink: Send {
    /// Writes all of it and returns when the disk has it.
    fn commit(&mut self, batch: &[Bytes]);
}

#[derive(Debug, Default)]
struct Waiting {
    batch: Vec<Bytes>,
    /// The commit that will carry `batch`.
    next: u64,
    done: u64,
    leading: bool,
}

/// The first producer that finds nobody committing commits for all that wait.
#[derive(Debug)]
pub struct Grouped<S> {
    waiting: Mutex<Waiting>,
    finished: Condvar,
    sink: Mutex<S>,
}

impl<S: Sink> Grouped<S> {
    /// Around `sink`.
    pub fn new(sink: S) -> Self {
        let waiting = Waiting {
            next: 1,
            ..Waiting::default()
        };
        Self {
            waiting: Mutex::new(waiting),
            finished: Condvar::new(),
            sink: Mutex::new(sink),
        }
    }

    /// Returns when `record` is durable.
    ///
    /// # Panics
    /// When another producer panicked.
    pub fn put(&self, record: Bytes) {
        let mut waiting = self.waiting.lock().expect("no producer panicked");
        waiting.batch.push(record);
        let mine = waiting.next;
        while waiting.done < mine {
            if waiting.leading {
                waiting = self.finished.wait(waiting).expect("no producer panicked");
                continue;
            }
            waiting.leading = true;
            let batch = std::mem::take(&mut waiting.batch);
            let commit = waiting.next;
            waiting.next += 1;
            drop(waiting);
            self.sink
                .lock()
                .expect("no producer panicked")
                .commit(&batch);
            waiting = self.waiting.lock().expect("no producer panicked");
            waiting.done = commit;
            waiting.leading = false;
            self.finished.notify_all();
        }
    }
}
