//! Pauses that a signal to stop ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest time in which a stop is not looked at.
pub(super) const LOOK: Duration = Duration::from_millis(200);

/// Returns `false` where `stop` was set meanwhile.
pub(super) fn sleep(time: Duration, stop: &AtomicBool) -> bool {
    let until = Instant::now() + time;
    loop {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(LOOK));
    }
}
