//! Durations, counted in buckets.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use super::counter::{add, read};
use super::exposition::Exposition;

/// Upper bounds of the buckets, in microseconds.
const BUCKETS_US: [u64; 13] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000,
    5_000_000,
];

#[derive(Debug, Default)]
pub(super) struct Histogram {
    /// Not cumulative; the last is for what is above every bound.
    buckets: [AtomicU64; BUCKETS_US.len()],
    above: AtomicU64,
    sum_us: AtomicU64,
}

impl Histogram {
    pub(super) fn observe(&self, duration: Duration) {
        let us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let place = BUCKETS_US.partition_point(|bound| *bound < us);
        add(self.buckets.get(place).unwrap_or(&self.above), 1);
        add(&self.sum_us, us);
    }

    /// Writes its series; `labels` is empty or ends with a comma.
    pub(super) fn write(&self, text: &mut Exposition, name: &str, labels: &str) {
        let mut count = 0;
        let bounds = BUCKETS_US.iter().map(|us| seconds(*us).to_string());
        let buckets = self.buckets.iter().chain([&self.above]);
        for (bound, bucket) in bounds.chain(["+Inf".to_owned()]).zip(buckets) {
            count += read(bucket);
            let series = format!("{name}_bucket{{{labels}le=\"{bound}\"}}");
            text.sample(&series, count);
        }
        let labels = labels.trim_end_matches(',');
        let labels = if labels.is_empty() {
            String::new()
        } else {
            format!("{{{labels}}}")
        };
        text.sample(&format!("{name}_sum{labels}"), seconds(read(&self.sum_us)));
        text.sample(&format!("{name}_count{labels}"), count);
    }
}

fn seconds(us: u64) -> f64 {
    Duration::from_micros(us).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative_and_their_bounds_inclusive() {
        assert!(BUCKETS_US.is_sorted());
        let histogram = Histogram::default();
        for us in [100, 101, 6_000_000, 0] {
            histogram.observe(Duration::from_micros(us));
        }
        for (labels, all, one) in [("", "", ""), ("page=\"a\",", "{page=\"a\"}", "page=\"a\",")] {
            let mut text = Exposition::default();
            histogram.write(&mut text, "x", labels);
            let text = text.into_text();
            for expected in [
                format!("x_bucket{{{one}le=\"0.0001\"}} 2\n"),
                format!("x_bucket{{{one}le=\"0.00025\"}} 3\n"),
                format!("x_bucket{{{one}le=\"5\"}} 3\n"),
                format!("x_bucket{{{one}le=\"+Inf\"}} 4\n"),
                format!("x_sum{all} 6.000201\n"),
                format!("x_count{all} 4\n"),
            ] {
                assert!(text.contains(&expected), "{expected}\n{text}");
            }
        }
    }
}
