//! Shared by the benches: fixtures, the alternatives that the engine is compared with, and a client that keeps servers
//! busy.

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]

pub mod actions_beside;
mod axum_app;
pub mod callgrind;
pub mod comparison;
pub mod crash;
pub mod drain;
pub mod exporting;
pub mod figures;
mod fixture;
pub mod fleet;
mod grouped;
pub mod idle_streams;
pub mod latency;
pub mod load;
mod probe;
pub mod questions_beside;
pub mod rounds;
pub mod samples;
pub mod servers;
mod sinks;
mod sqlite;
mod stats_row;
pub mod tail;
mod writer;

pub use axum_app::axum_app;
pub use fixture::{
    FILE, Fixture, is_measuring, open, open_observed, stats_body, stats_json, stats_post, workspace,
};
pub use grouped::{Grouped, Sink};
pub use probe::SyncMicros;
pub use sinks::{LogSink, RowSink};
pub use sqlite::{Indexed, SqliteSink};
pub use stats_row::StatsRow;
pub use writer::Writer;

use std::path::PathBuf;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The value of a future that is ready at once.
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

/// The folder for files: `DESKFLEET_BENCH_DIR`, or else the bench's own `fallback`.
#[must_use]
pub fn folder_or(fallback: &str) -> PathBuf {
    std::env::var_os("DESKFLEET_BENCH_DIR").map_or_else(|| PathBuf::from(fallback), PathBuf::from)
}
