//! Times in UTC, as texts.

use std::time::SystemTime;

use time::OffsetDateTime;

/// `time` with milliseconds, such as `2026-11-20T08:00:00.250Z`.
pub(crate) fn format(time: SystemTime) -> String {
    let time = OffsetDateTime::from(time);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        time.year(),
        u8::from(time.month()),
        time.day(),
        time.hour(),
        time.minute(),
        time.second(),
        time.millisecond()
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn time_is_written_in_utc_with_milliseconds() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_763_625_600_250);
        assert_eq!(format(time), "2025-11-20T08:00:00.250Z");
        assert_eq!(format(SystemTime::UNIX_EPOCH), "1970-01-01T00:00:00.000Z");
    }
}
