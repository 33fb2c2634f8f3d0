//! The query parameters that the questions about the fleet share.

use std::time::Duration;

use crate::domain::query::{Query, plus_form};
use crate::domain::range::{DURATION_MAX, Range, TIME_FORM, moment};
use crate::domain::term::Term;
use crate::error::{EngineError, Result};
use crate::limits::{
    PAGE_COLUMNS_MAX, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX, TERM_IDS_MAX, TERM_VALUES_MAX,
};
use crate::model::Paging;
use crate::nearest::nearest;
use crate::settings::milliseconds;
use crate::timestamp::Timestamp;
use crate::view::workspaces::WorkspaceFilter;

use super::groups::GroupFilter;
use super::heatmap::OFFSET_MAX;

const DURATION_FORM: &str = "Send a duration such as 5m, 1h or 1d.";
const SECOND: Duration = Duration::from_secs(1);
const OFFSET_FORM: &str = "Send the hours and minutes that the time zone is ahead of UTC, at most 14, such as +01:00, -05:30 or Z.";

impl Query<'_> {
    /// `from`, included, and `to`, excluded; `None` where one is absent or empty.
    pub(crate) fn range(self, now: Timestamp) -> Result<(Option<Timestamp>, Option<Timestamp>)> {
        let (from, to) = (self.moment("from", now)?, self.moment("to", now)?);
        if let (Some(from), Some(to)) = (from, to) {
            Range::new(from, to)?;
        }
        Ok((from, to))
    }

    /// A date-time, or a time before `now` such as `-24h`; `None` when it is absent.
    fn moment(self, name: &'static str, now: Timestamp) -> Result<Option<Timestamp>> {
        let text = self.text(name);
        text.map(|text| moment_of(name, &text, now)).transpose()
    }

    /// The same for a removal, which refuses an empty one: without the parameter more is removed.
    pub(crate) fn moment_of_removal(
        self,
        name: &'static str,
        now: Timestamp,
    ) -> Result<Option<Timestamp>> {
        let text = self.get_or_empty(name);
        text.map(|text| moment_of(name, &text, now)).transpose()
    }

    /// `step`, such as `5m`; `None` when it is absent.
    pub(crate) fn step(self) -> Result<Option<Duration>> {
        let text = self.text("step");
        text.map(|text| duration("step", &text)).transpose()
    }

    /// `window`, a time before now: `24h`, or `-24h` as in `from`; `None` when it is absent.
    pub(crate) fn window(self) -> Result<Option<Duration>> {
        let text = self.text("window");
        let window = |text: String| {
            let unsigned = text.strip_prefix('-').unwrap_or(&text);
            duration("window", unsigned).map(|window| window.max(SECOND))
        };
        text.map(window).transpose()
    }

    /// `offset`: how far a time zone is ahead of UTC, in minutes; 0 when it is absent.
    pub(crate) fn offset(self) -> Result<i32> {
        let Some(text) = self.text("offset") else {
            return Ok(0);
        };
        let minutes = offset(&text).filter(|minutes| minutes.abs() <= OFFSET_MAX);
        minutes.ok_or_else(|| not_valid("offset", &text, OFFSET_FORM))
    }

    /// The filter of a field: a value, `in.A,B` or `ne.A`; `None` when it is absent.
    pub(crate) fn term(self, name: &'static str) -> Result<Option<Term>> {
        self.term_of(name, TERM_VALUES_MAX)
    }

    /// The same where the values are names of a closed list: a misspelled one would select nothing.
    pub(super) fn term_of_names<T: Copy>(
        self,
        name: &'static str,
        all: &[T],
        as_str: fn(T) -> &'static str,
    ) -> Result<Option<Term>> {
        let term = self.term(name)?;
        let values = match &term {
            Some(Term::Is(value) | Term::Not(value)) => std::slice::from_ref(value),
            Some(Term::In(values)) => values.as_slice(),
            None => &[],
        };
        let is_known = |value: &&String| {
            let mut known = all.iter().map(|known| as_str(*known));
            known.any(|known| known.eq_ignore_ascii_case(value))
        };
        let unknown = values.iter().find(|value| !is_known(value));
        if let Some(value) = unknown {
            let names: Vec<_> = all.iter().map(|known| as_str(*known)).collect();
            let message = match nearest(value, names.iter().copied()) {
                Some(nearest) => format!("There is no '{value}'. Did you mean '{nearest}'?"),
                None => format!("There is no '{value}'. Send some of {}.", names.join(", ")),
            };
            return Err(EngineError::invalid(name, message));
        }
        Ok(term)
    }

    /// The same with another bound of a list.
    fn term_of(self, name: &'static str, values_max: usize) -> Result<Option<Term>> {
        let text = self.text(name);
        text.map(|text| Term::parse(name, text, values_max))
            .transpose()
    }

    /// The filters of workspaces.
    pub(super) fn filter(self) -> Result<WorkspaceFilter> {
        Ok(WorkspaceFilter {
            workspace_id: self.term_of("workSpId", TERM_IDS_MAX)?,
            ..self.filter_of(|name| self.term(name))?
        })
    }

    /// The filters of a list of workspaces: each is a value, as it is.
    pub(crate) fn filter_of_values(self) -> Result<WorkspaceFilter> {
        self.filter_of(|name| Ok(self.text(name).map(Term::Is)))
    }

    fn filter_of(
        self,
        term: impl Fn(&'static str) -> Result<Option<Term>>,
    ) -> Result<WorkspaceFilter> {
        Ok(WorkspaceFilter {
            workspace_id: None,
            state: term("state")?,
            username: term("username")?,
            region: term("region")?,
            directory_id: term("directoryId")?,
            running_mode: term("runningMode")?,
            compute_type_name: term("computeTypeName")?,
            q: self.text("q"),
        })
    }

    /// The filters of questions about groups.
    pub(super) fn group_filter(self) -> Result<GroupFilter> {
        Ok(GroupFilter {
            region: self.term("region")?,
            running_mode: self.term("runningMode")?,
            compute_type_name: self.term("computeTypeName")?,
        })
    }

    /// `sort`, `limit` and `nextToken`.
    pub(crate) fn paging(self) -> Result<Paging> {
        self.paging_of(PAGE_ITEMS_MAX)
    }

    /// The same, with up to [`PAGE_COLUMNS_MAX`] rows on a page of columns that has no sort.
    pub(super) fn paging_of_columns(self) -> Result<Paging> {
        let format = self.get("format").unwrap_or_default();
        let has_more = format.eq_ignore_ascii_case("columns") && self.text("sort").is_none();
        self.paging_of(if has_more {
            PAGE_COLUMNS_MAX
        } else {
            PAGE_ITEMS_MAX
        })
    }

    /// `limit`, as every paged endpoint takes it.
    pub(crate) fn limit(self) -> Result<u32> {
        self.limit_of(PAGE_ITEMS_MAX)
    }

    fn limit_of(self, max: i32) -> Result<u32> {
        let limit = self.int32_between("limit", (1, max), PAGE_ITEMS_DEFAULT)?;
        Ok(limit.unsigned_abs())
    }

    fn paging_of(self, limit_max: i32) -> Result<Paging> {
        let limit = self.limit_of(limit_max)?;
        Ok(Paging {
            sort: self.text("sort"),
            limit,
            next_token: self.text("nextToken"),
        })
    }
}

fn moment_of(name: &'static str, text: &str, now: Timestamp) -> Result<Timestamp> {
    moment(text, now).ok_or_else(|| {
        let form = plus_form(text).unwrap_or(TIME_FORM);
        not_valid(name, text, form)
    })
}

/// A duration that is not 0.
fn duration(name: &'static str, text: &str) -> Result<Duration> {
    let read = milliseconds(text).filter(|ms| (1..=DURATION_MAX).contains(ms));
    let read = read.ok_or_else(|| not_valid(name, text, DURATION_FORM))?;
    Ok(Duration::from_millis(read))
}

/// The minutes of `Z` or of hours and minutes with a sign. An unescaped `+` in a query is a space.
fn offset(text: &str) -> Option<i32> {
    if text == "Z" {
        return Some(0);
    }
    let sign = match text.bytes().next()? {
        b'+' | b' ' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    let number = |digits: &str| {
        let is_number = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_digit());
        digits.parse::<i32>().ok().filter(|_| is_number)
    };
    let minutes = number(minutes).filter(|minutes| *minutes < 60)?;
    Some(sign * (number(hours)? * 60 + minutes))
}

fn not_valid(name: &'static str, text: &str, form: &str) -> EngineError {
    EngineError::invalid(name, format!("The value '{text}' is not valid. {form}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;

    fn query(text: &str) -> Query<'_> {
        Query::new(Some(text))
    }

    fn now() -> Timestamp {
        "2026-11-20T08:00:00Z".parse().unwrap()
    }

    #[test]
    fn range_is_of_date_times_and_of_durations_before_now() {
        for (text, from, to) in [
            ("", "2026-11-19T08:00:00Z", "2026-11-20T08:00:00Z"),
            ("from=&to=", "2026-11-19T08:00:00Z", "2026-11-20T08:00:00Z"),
            ("from=-90m", "2026-11-20T06:30:00Z", "2026-11-20T08:00:00Z"),
            (
                "from=-1h30m&to=-30s",
                "2026-11-20T06:30:00Z",
                "2026-11-20T07:59:30Z",
            ),
            ("to=-7d", "2026-11-12T08:00:00Z", "2026-11-13T08:00:00Z"),
            (
                "from=2026-11-01&to=2026-11-02",
                "2026-11-01T00:00:00Z",
                "2026-11-02T00:00:00Z",
            ),
            (
                "from=-99999999d",
                "0001-01-01T00:00:00Z",
                "2026-11-20T08:00:00Z",
            ),
        ] {
            let range = query(text).range(now()).unwrap();
            let range = Range::between(range.0, range.1, DAY, now()).unwrap();
            assert_eq!(range.from.to_string(), from, "{text}");
            assert_eq!(range.to.to_string(), to, "{text}");
        }
    }

    #[test]
    fn range_that_is_empty_or_not_readable_is_refused_with_form_and_example() {
        let empty = query("from=2026-11-21&to=2026-11-20T08:00:00Z");
        let empty = empty.range(now()).unwrap_err();
        assert_eq!(
            empty.context(),
            "It must be before `to`, which is 2026-11-20T08:00:00Z."
        );
        for (text, parameter) in [
            ("from=24h", "from"),
            ("from=-24", "from"),
            ("from=--1h", "from"),
            ("from=-1.5h", "from"),
            ("from=-", "from"),
            ("to=yesterday", "to"),
            ("to=-184467440737095516150s", "to"),
        ] {
            let error = query(text).range(now()).unwrap_err();
            assert_eq!(error.parameter(), Some(parameter), "{text}");
            assert!(
                error
                    .context()
                    .contains("such as 2026-11-20T08:00:00Z or -24h"),
                "{error}"
            );
        }
    }

    #[test]
    fn step_and_window_are_durations() {
        for (text, ms) in [
            ("5m", 300_000),
            ("1d", 86_400_000),
            ("1h30m", 5_400_000),
            ("1500ms", 1500),
            ("1ms", 1),
        ] {
            let wanted = Some(Duration::from_millis(ms));
            assert_eq!(query(&format!("step={text}")).step().unwrap(), wanted);
            for text in [format!("window={text}"), format!("window=-{text}")] {
                let window = query(&text).window().unwrap();
                assert_eq!(window, wanted.max(Some(SECOND)), "{text}");
            }
        }
        assert_eq!(query("step=&window=").step().unwrap(), None);
        assert_eq!(query("step=&window=").window().unwrap(), None);
        for bad in ["0s", "--5m", "5", "m", "5x", "-", "999999999999d"] {
            let (step, window) = (format!("step={bad}"), format!("window={bad}"));
            let refused = [
                ("step", query(&step).step().unwrap_err()),
                ("window", query(&window).window().unwrap_err()),
            ];
            for (parameter, error) in refused {
                assert_eq!(error.parameter(), Some(parameter), "{bad}");
                assert!(error.context().contains("such as 5m"), "{error}");
            }
        }
        assert!(query("step=-5m").step().is_err());
    }

    #[test]
    fn offset_is_hours_and_minutes_ahead_of_utc() {
        for (text, minutes) in [
            ("", 0),
            ("Z", 0),
            ("+01:00", 60),
            ("%2B05:30", 330),
            ("-03:30", -210),
            ("-00:00", 0),
            ("%2B14:00", 840),
        ] {
            let text = format!("offset={text}");
            assert_eq!(query(&text).offset().unwrap(), minutes, "{text}");
        }
        for bad in [
            "1",
            "01:00",
            "+1:00",
            "+01",
            "+01:60",
            "+14:01",
            "-99:00",
            "z",
            "+",
            "+0100",
            "+-1:00",
            "+01:+1",
            "Europe/Berlin",
        ] {
            let text = format!("offset={bad}");
            let error = query(&text).offset().unwrap_err();
            assert_eq!(error.parameter(), Some("offset"), "{text}");
            assert!(error.context().contains("such as +01:00"), "{error}");
        }
    }

    #[test]
    fn filter_is_a_value_a_list_or_another_value() {
        let list =
            |values: &[&str]| Term::In(values.iter().map(|value| (*value).to_owned()).collect());
        for (text, expected) in [
            ("", None),
            ("STOPPED", Some("STOPPED".into())),
            ("in.STOPPED,ERROR", Some(list(&["STOPPED", "ERROR"]))),
            ("in.,A,", Some(list(&["A"]))),
            ("in.a%2Cb", Some(list(&["a", "b"]))),
            ("ne.STOPPED", Some(Term::Not("STOPPED".to_owned()))),
            ("ne.", Some(Term::Not(String::new()))),
            ("IN.A", Some("IN.A".into())),
        ] {
            let text = format!("state={text}");
            assert_eq!(query(&text).term("state").unwrap(), expected, "{text}");
        }
        let many = |count| format!("region=in.{}", vec!["a"; count].join(","));
        assert!(query(&many(100)).term("region").is_ok());
        for bad in [
            many(101),
            many(10_000),
            "region=in.".to_owned(),
            "region=in.,,".to_owned(),
        ] {
            let error = query(&bad).term("region").unwrap_err();
            assert_eq!(error.parameter(), Some("region"));
            assert!(error.context().contains("such as region=in.A,B"));
        }
    }
}
