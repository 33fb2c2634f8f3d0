//! How long requests took.

use std::time::Duration;

use crate::figures::percentile;

/// The times of requests, each from sending it to the whole response, in microseconds. All of them are kept, so that the
/// figures are exact.
#[derive(Debug, Default)]
pub struct Latencies(Vec<f32>);

/// What is printed of them, in microseconds.
#[derive(Debug, Clone, Copy)]
pub struct Latency {
    /// The median.
    pub p50: f64,
    /// What 99 % do not exceed.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

impl Latencies {
    /// Adds the time of one request.
    pub fn add(&mut self, time: Duration) {
        self.0.push(time.as_secs_f32() * 1e6);
    }

    /// Adds those of `other`.
    pub fn extend(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    /// Their number.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// Their figures; zeros of none.
    #[must_use]
    pub fn summary(&self) -> Latency {
        let of = |percent| percentile(self.0.iter().copied().map(f64::from), percent);
        Latency {
            p50: of(50),
            p99: of(99),
            max: of(100),
        }
    }
}
