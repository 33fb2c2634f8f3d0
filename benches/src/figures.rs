//! Medians and percentiles.

/// The median of `values`; 0 of none.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    percentile(values, 50)
}

/// The value that `percent` of `values` do not exceed; 0 if there are none.
pub fn percentile(values: impl IntoIterator<Item = f64>, percent: usize) -> f64 {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    let index = (values.len() * percent / 100).min(last);
    values.get(index).copied().unwrap_or_default()
}

/// A count as a number to divide by, exact as far as such numbers are.
#[must_use]
pub fn float(count: u64) -> f64 {
    let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).map_or(0.0, f64::from);
    half(count >> 32) * 4_294_967_296.0 + half(count)
}
