//! What the values of settings look like.

use std::path::PathBuf;
use std::time::Duration;

use http::Uri;

const TIME_MIN: Duration = Duration::from_secs(10);
const TIME_MAX: Duration = Duration::from_secs(3600);
const BYTES_MIN: u64 = 1 << 20;
const BYTES_MAX: u64 = 1 << 30;

/// The address of a server, without a slash at its end.
pub(super) fn server(text: &str) -> Option<String> {
    let uri: Uri = text.parse().ok()?;
    let authority = uri.authority()?;
    let is_known = matches!(uri.scheme_str(), Some("http" | "https"));
    (is_known && !authority.as_str().contains('@') && uri.query().is_none())
        .then(|| text.trim_end_matches('/').to_owned())
}

pub(super) fn path(text: &str) -> Option<PathBuf> {
    (!text.is_empty()).then(|| PathBuf::from(text))
}

pub(super) fn name(text: &str, max: usize) -> Option<String> {
    let is_printable = !text.chars().any(char::is_control) && text.trim() == text;
    (is_printable && (1..=max).contains(&text.chars().count())).then(|| text.to_owned())
}

/// A time such as `30s`, `5m` or `1h`.
pub(super) fn time(text: &str) -> Option<Duration> {
    let (number, seconds) = [("s", 1), ("m", 60), ("h", 3600)]
        .iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)))?;
    let number: u64 = number.trim_end().parse().ok()?;
    let time = Duration::from_secs(number.checked_mul(seconds)?);
    (TIME_MIN..=TIME_MAX).contains(&time).then_some(time)
}

/// Bytes such as `65536` or `64 KiB`.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
    let (number, unit) = units
        .iter()
        .find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?, *bytes)))
        .unwrap_or((text, 1));
    let number: u64 = number.trim_end().parse().ok()?;
    let bytes = number.checked_mul(unit)?;
    (BYTES_MIN..=BYTES_MAX).contains(&bytes).then_some(bytes)
}
