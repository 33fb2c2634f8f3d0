//! A log written by an event loop: the least that durability can cost a server.
//!
//! Records gather in one buffer. A flusher lets every ready connection append its record, passes the buffer to a thread
//! that writes and syncs it, and wakes the connections whose records were in it. While one buffer is written, the next
//! one fills.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use tokio::sync::{Notify, mpsc};
use tokio::task::yield_now;

use super::log_file::LogFile;

#[derive(Default)]
struct Batch {
    records: RefCell<Vec<u8>>,
    wakers: RefCell<Vec<Waker>>,
    done: Cell<bool>,
}

/// The log; lives on one thread.
pub(super) struct GatheredLog {
    gathering: RefCell<Rc<Batch>>,
    filled: Notify,
    full: std::sync::mpsc::Sender<Vec<u8>>,
    written: RefCell<mpsc::UnboundedReceiver<Vec<u8>>>,
}

impl GatheredLog {
    pub(super) fn new(mut file: impl LogFile) -> Self {
        let (full, to_write) = std::sync::mpsc::channel::<Vec<u8>>();
        let (done, written) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            for mut buffer in to_write {
                file.append(&buffer);
                buffer.clear();
                if done.send(buffer).is_err() {
                    return;
                }
            }
        });
        Self {
            gathering: RefCell::default(),
            filled: Notify::new(),
            full,
            written: RefCell::new(written),
        }
    }

    /// Is ready when `record` is durable.
    pub(super) async fn put(&self, record: &[u8]) {
        let batch = Rc::clone(&self.gathering.borrow());
        {
            let mut records = batch.records.borrow_mut();
            if records.is_empty() {
                self.filled.notify_one();
            }
            let length = u32::try_from(record.len()).expect("a short record");
            records.extend_from_slice(&length.to_le_bytes());
            records.extend_from_slice(record);
        }
        poll_fn(|context| {
            if batch.done.get() {
                return Poll::Ready(());
            }
            batch.wakers.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Writes what gathers, as long as it is polled.
    pub(super) async fn flush_forever(&self) {
        let mut spare = Vec::new();
        loop {
            self.filled.notified().await;
            // Records of other ready connections join.
            yield_now().await;
            let batch = self.gathering.take();
            let records = batch.records.replace(std::mem::take(&mut spare));
            self.full.send(records).expect("the log's thread lives");
            spare = poll_fn(|context| self.written.borrow_mut().poll_recv(context))
                .await
                .expect("the log's thread lives");
            batch.done.set(true);
            batch.wakers.take().into_iter().for_each(Waker::wake);
        }
    }
}
