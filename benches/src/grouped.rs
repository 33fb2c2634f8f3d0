//! Group commit over any sink: the same waiting as in the engine, around a simpler store.

use std::sync::{Condvar, Mutex};

use bytes::Bytes;

/// Makes a batch durable. Writes bodies unread, unless documented otherwise.
pub trait Sink<R = Bytes>: Send {
    /// Writes all of it and returns when it is on disk.
    fn commit(&mut self, batch: &[R]);
}

#[derive(Debug)]
struct Waiting<R> {
    batch: Vec<R>,
    /// The commit that will carry `batch`.
    next: u64,
    done: u64,
    leading: bool,
}

/// The first producer that finds no commit running commits all pending records.
#[derive(Debug)]
pub struct Grouped<S, R = Bytes> {
    waiting: Mutex<Waiting<R>>,
    finished: Condvar,
    sink: Mutex<S>,
}

impl<R, S: Sink<R>> Grouped<S, R> {
    /// Around `sink`.
    pub fn new(sink: S) -> Self {
        let waiting = Waiting {
            batch: Vec::new(),
            next: 1,
            done: 0,
            leading: false,
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
    pub fn put(&self, record: R) {
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
