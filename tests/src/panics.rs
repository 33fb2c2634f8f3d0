//! Panics of redb over damaged bytes, which the engine turns into an error.

use std::panic::{set_hook, take_hook};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// From here on panics inside redb are counted, and not told: to the hook of before (a fuzzer's ends the process) they would
/// look like ours.
pub fn expect_redb_to_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            let redb = info.location().is_some_and(|at| at.file().contains("redb"));
            if redb {
                PANICS.fetch_add(1, Ordering::Relaxed);
            } else {
                before(info);
            }
        }));
    });
}

/// How many there were.
pub fn redb_panics() -> usize {
    PANICS.load(Ordering::Relaxed)
}
