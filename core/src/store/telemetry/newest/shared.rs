//! Windows that were filled for one reader and fit others.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::locks::lock;

use super::window::{Position, Window};

/// Windows that are kept for slower readers.
const KEPT: usize = 3;

/// The last windows that were filled, as long as anyone reads. A look costs much more than handing out what it finds, and
/// readers at the same time need the same windows; while one looks, the others wait for its window.
#[derive(Debug, Default)]
pub(crate) struct SharedWindows {
    recent: Mutex<Recent>,
    moments: AtomicU64,
}

#[derive(Debug, Default)]
pub(super) struct Recent(VecDeque<(u64, Arc<Window>)>);

impl SharedWindows {
    /// A number that grows with time.
    pub(super) fn moment(&self) -> u64 {
        self.moments.fetch_add(1, Ordering::SeqCst)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Recent> {
        lock(&self.recent)
    }
}

impl Recent {
    /// A window, filled after the moment `begun`, in which a reader finds what follows.
    pub(super) fn find(
        &self,
        begun: u64,
        ceiling: Option<&Position>,
        passed: usize,
    ) -> Option<Arc<Window>> {
        let ceiling = ceiling?;
        let mut fitting = self.0.iter().filter(|(taken, window)| {
            // One that was filled before may lack a record that was there when the reader began.
            *taken > begun && window.continues_at(ceiling, passed)
        });
        fitting.next_back().map(|(_, window)| Arc::clone(window))
    }

    /// Keeps a window whose snapshot was taken after the moment `taken`.
    pub(super) fn keep(&mut self, taken: u64, window: Window) -> Arc<Window> {
        let window = Arc::new(window);
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back((taken, Arc::clone(&window)));
        window
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
