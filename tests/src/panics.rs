//! Panics of redb over damaged bytes, which the engine turns into an error, as it would its own.

use std::panic::{set_hook, take_hook};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

static OF_REDB: AtomicUsize = AtomicUsize::new(0);
static OF_OTHERS: AtomicUsize = AtomicUsize::new(0);

/// From here on panics are counted, and those inside redb are not passed to the previous hook: it would take them for
/// panics of the engine, and that of a fuzzer ends the process.
pub fn expect_redb_to_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            let redb = info.location().is_some_and(|at| at.file().contains("redb"));
            if redb {
                OF_REDB.fetch_add(1, Ordering::Relaxed);
            } else {
                OF_OTHERS.fetch_add(1, Ordering::Relaxed);
                before(info);
            }
        }));
    });
}

/// The number of panics inside redb.
pub fn redb_panics() -> usize {
    OF_REDB.load(Ordering::Relaxed)
}

/// The number of other panics: none is expected, even though the engine catches them.
pub fn other_panics() -> usize {
    OF_OTHERS.load(Ordering::Relaxed)
}
