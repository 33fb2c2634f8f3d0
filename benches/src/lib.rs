//! What the benches share: fixtures, and the alternatives the engine is measured against.

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]

mod axum_app;
mod fixture;
pub mod fleet;
mod grouped;
mod sinks;

pub use axum_app::axum_app;
pub use fixture::{Fixture, is_measuring, open, stats_json, stats_post, workspace};
pub use grouped::{Grouped, Sink};
pub use sinks::{LogSink, RowSink, sync_micros_median};

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The value of a future that never has to wait.
///
/// # Panics
/// When the future is not ready at once.
pub fn ready<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
    .expect("an answer without waiting")
}
