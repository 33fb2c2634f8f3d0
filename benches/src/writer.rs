//! Group commit for tasks: one thread commits, the next batch gathers in the meantime, each task has a waker of its own.

use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;

use bytes::Bytes;
use tokio::sync::oneshot;

use crate::grouped::Sink;

/// A sink behind a thread that commits all records since its last commit. Dropping it commits the pending ones.
#[derive(Debug)]
pub struct Writer<R = Bytes> {
    shared: Arc<Shared<R>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared<R> {
    waiting: Mutex<Waiting<R>>,
    filled: Condvar,
}

#[derive(Debug)]
struct Waiting<R> {
    records: Vec<R>,
    /// One per record, in their order.
    answers: Vec<oneshot::Sender<()>>,
    closed: bool,
}

impl<R: Send + 'static> Writer<R> {
    /// In front of `sink`.
    pub fn new(mut sink: impl Sink<R> + 'static) -> Self {
        let shared = Arc::new(Shared {
            waiting: Mutex::new(Waiting {
                records: Vec::new(),
                answers: Vec::new(),
                closed: false,
            }),
            filled: Condvar::new(),
        });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            while let Some((records, answers)) = theirs.next() {
                sink.commit(&records);
                for answer in answers {
                    // A dropped task needs no result.
                    let _ = answer.send(());
                }
            }
        });
        Self {
            shared,
            thread: Some(thread),
        }
    }

    /// Is ready when `record` is durable.
    ///
    /// # Panics
    /// When the thread panicked.
    pub async fn put(&self, record: R) {
        let (answer, answered) = oneshot::channel();
        {
            let mut waiting = self.shared.waiting.lock().expect("the writer lives");
            waiting.records.push(record);
            waiting.answers.push(answer);
            if waiting.records.len() == 1 {
                self.shared.filled.notify_one();
            }
        }
        answered.await.expect("the writer lives");
    }
}

impl<R> Shared<R> {
    /// All pending records, once there are any; `None` when no more will come.
    fn next(&self) -> Option<(Vec<R>, Vec<oneshot::Sender<()>>)> {
        let waiting = self.waiting.lock().expect("no task panicked");
        let mut waiting = self
            .filled
            .wait_while(waiting, |waiting| {
                waiting.records.is_empty() && !waiting.closed
            })
            .expect("no task panicked");
        if waiting.records.is_empty() {
            return None;
        }
        let records = std::mem::take(&mut waiting.records);
        Some((records, std::mem::take(&mut waiting.answers)))
    }
}

impl<R> Drop for Writer<R> {
    fn drop(&mut self) {
        if let Ok(mut waiting) = self.shared.waiting.lock() {
            waiting.closed = true;
        }
        self.shared.filled.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already reported.
            let _ = thread.join();
        }
    }
}
