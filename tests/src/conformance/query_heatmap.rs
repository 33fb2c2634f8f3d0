//! `GET /query/heatmap`

use super::case::Case;
use super::fixtures::activity;
use super::query_series::{get, members_after_rows, sample, without_values};

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![of_activity(), of_reporting(), offsets(), all_times()]
}

/// All rows of a heatmap, of which those are not 0; as weekday, hour, count, users.
fn cells(counted: &[(u32, u32, u32, u32)]) -> String {
    let rows = (1..=7).flat_map(|weekday| (0..24).map(move |hour| (weekday, hour)));
    let rows = rows.map(|place| {
        let found = counted
            .iter()
            .find(|(weekday, hour, ..)| (*weekday, *hour) == place);
        let (weekday, hour, count, users) = found.copied().unwrap_or((place.0, place.1, 0, 0));
        format!(r#"{{"weekday":{weekday},"hour":{hour},"count":{count},"users":{users}}}"#)
    });
    rows.collect::<Vec<_>>().join(",")
}

fn heatmap(counted: &[(u32, u32, u32, u32)], warnings: &str) -> String {
    format!(
        r#"{{"rows":[{}],{}}}"#,
        cells(counted),
        members_after_rows(warnings, "")
    )
}

/// 2026-11-20 is a Friday. The users of an instance count in all its hours of their day.
fn of_activity() -> Case {
    Case::new("q heatmap", "activity by weekday and hour")
        .record(activity("i", "jdoe", "Logon", "2026-11-20T08:59:59Z"))
        .record(activity("i", "CORP\\JDOE", "Lock", "2026-11-20T08:00:00Z"))
        .record(activity("i", "kchan", "Logon", "2026-11-20T10:00:00Z"))
        .record(activity("j", "jdoe", "Logon", "2026-11-20T08:30:00Z"))
        .record(activity("i", "jdoe", "Logon", "2026-11-13T08:00:00Z"))
        .record(activity("i", "asmith", "Logon", "2026-11-16T23:00:00Z"))
        .record(sample("k", "2026-11-20T08:00:00Z", 1))
        .call(
            get("heatmap?of=activity")
                .gives(heatmap(&[(1, 23, 1, 1), (5, 8, 4, 2), (5, 10, 1, 2)], "")),
        )
        .call(
            get("heatmap?from=-7d")
                .gives(heatmap(&[(1, 23, 1, 1), (5, 8, 3, 2), (5, 10, 1, 2)], "")),
        )
        .call(
            get("heatmap?from=2026-11-20T08:00:00Z&to=2026-11-20T09:00:00Z")
                .gives(heatmap(&[(5, 8, 3, 2)], "")),
        )
        .call(
            get("heatmap?offset=+01:00")
                .gives(heatmap(&[(2, 0, 1, 1), (5, 9, 4, 2), (5, 11, 1, 2)], "")),
        )
        .call(
            get("heatmap?offset=-09:00")
                .gives(heatmap(&[(1, 14, 1, 1), (4, 23, 4, 2), (5, 1, 1, 2)], "")),
        )
}

/// A desktop counts once an hour.
fn of_reporting() -> Case {
    let hours = r#""The answer is of whole hours (UTC), from 2026-11-20T09:00:00Z to 2026-11-20T12:00:00Z.""#;
    Case::new("q heatmap", "desktops that report by weekday and hour")
        .record(sample("i", "2026-11-20T09:00:00Z", 1))
        .record(sample("i", "2026-11-20T09:10:00Z", 1))
        .record(sample("i", "2026-11-20T11:59:59Z", 1))
        .record(sample("j", "2026-11-20T09:10:00Z", 1))
        .record(without_values("k", "2026-11-20T09:10:00Z"))
        .record(activity("i", "kchan", "Logon", "2026-11-20T10:00:00Z"))
        .file()
        .call(get("heatmap?of=Reporting").gives(heatmap(&[(5, 9, 2, 2), (5, 11, 1, 2)], "")))
        .call(
            get("heatmap?of=reporting&from=-170m")
                .gives(heatmap(&[(5, 9, 2, 2), (5, 11, 1, 2)], hours)),
        )
}

/// An hour counts in the hour of the time zone in which it begins.
fn offsets() -> Case {
    let half = r#""The offset is not of whole hours: what is of an hour (UTC) counts in the hour of the time zone in which that begins.""#;
    Case::new("q heatmap", "time zones")
        .record(activity("i", "jdoe", "Logon", "2026-11-20T08:59:00Z"))
        .file()
        .call(get("heatmap?offset=%2B05:30").gives(heatmap(&[(5, 13, 1, 1)], half)))
        .call(get("heatmap?offset=-03:30").gives(heatmap(&[(5, 4, 1, 1)], half)))
        .call(get("heatmap?offset=Z").gives(heatmap(&[(5, 8, 1, 1)], "")))
        .call(get("heatmap?offset=").gives(heatmap(&[(5, 8, 1, 1)], "")))
        .call(get("heatmap?offset=%2B14:00").gives(heatmap(&[(5, 22, 1, 1)], "")))
        .call(get("heatmap?offset=-14:00").gives(heatmap(&[(4, 18, 1, 1)], "")))
}

fn all_times() -> Case {
    let query = "heatmap?from=0001-01-01&to=9999-12-31T23:59:59.9999999Z&of=reporting";
    Case::new("q heatmap", "all times")
        .record(sample("i", "2026-11-20T11:00:00Z", 1))
        .file()
        .call(get(query).gives(heatmap(&[(5, 11, 1, 1)], "")))
}
