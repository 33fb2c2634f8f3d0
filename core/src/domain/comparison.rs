//! Comparisons of figures: `cpu=gt.80`, `lastSeen=lt.-1h`, `memory=ge.20,lt.40`, `cpu=null`.

use crate::error::{EngineError, Result};
use crate::limits::COMPARISONS_MAX;
use crate::model::row::Decimal;
use crate::model::{Cell, Column, ColumnKind};
use crate::timestamp::Timestamp;

use super::order::column;
use super::range::moment;

const FORM: &str = "Send gt., ge., lt. or le. and a value, null, or ne.null; several separated by commas must all hold: such as gt.80, lt.-1h or ge.20,lt.40.";

/// What a figure must be. Numbers are in hundredths, times in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Missing,
    Known,
    Above(i64),
    AtLeast(i64),
    Below(i64),
    AtMost(i64),
}

impl Wanted {
    fn accepts(self, value: Option<i64>) -> bool {
        match self {
            Self::Missing => value.is_none(),
            Self::Known => value.is_some(),
            Self::Above(bound) => value.is_some_and(|value| value > bound),
            Self::AtLeast(bound) => value.is_some_and(|value| value >= bound),
            Self::Below(bound) => value.is_some_and(|value| value < bound),
            Self::AtMost(bound) => value.is_some_and(|value| value <= bound),
        }
    }
}

/// Comparisons, all of which must hold, each of the column with its index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Comparisons(Vec<(usize, Wanted)>);

impl Comparisons {
    /// Reads pairs of a column and what is wanted of it; `is_figure` says by its index whether a column can be compared. Times before now are
    /// before `now`.
    pub(crate) fn parse(
        given: &[(String, String)],
        columns: &'static [Column],
        is_figure: impl Fn(usize) -> bool,
        now: Timestamp,
    ) -> Result<Self> {
        let mut all = Vec::new();
        for (name, text) in given {
            let index = column("figures", name, columns)?;
            let Some(of) = columns.get(index).filter(|_| is_figure(index)) else {
                let message = format!("The column {name} is no figure; a filter of its own is.");
                return Err(EngineError::invalid("figures", message));
            };
            let parts: Vec<_> = text.split(',').collect();
            for part in &parts {
                // Nothing is both missing and something else.
                let contradicts = *part == "null" && parts.len() > 1;
                let wanted = wanted(part, of.kind, now).filter(|_| !contradicts);
                let wanted = wanted.ok_or_else(|| {
                    let message = format!("The value '{text}' is not valid. {FORM}");
                    EngineError::invalid(of.name, message)
                })?;
                all.push((index, wanted));
            }
            if all.len() > COMPARISONS_MAX {
                let message = format!("Send at most {COMPARISONS_MAX} comparisons.");
                return Err(EngineError::invalid(of.name, message));
            }
        }
        Ok(Self(all))
    }

    /// Whether one is of that column.
    pub(crate) fn has(&self, column: usize) -> bool {
        self.0.iter().any(|(of, _)| *of == column)
    }

    /// Whether all hold of a row; `cell` reads its value in a column.
    pub(crate) fn accept<'c>(&self, cell: impl Fn(usize) -> Cell<'c>) -> bool {
        let mut all = self.0.iter();
        all.all(|(column, wanted)| wanted.accepts(value(cell(*column))))
    }
}

fn wanted(text: &str, kind: ColumnKind, now: Timestamp) -> Option<Wanted> {
    match text {
        "null" => return Some(Wanted::Missing),
        "ne.null" => return Some(Wanted::Known),
        _ => {}
    }
    let (operator, bound) = text.split_once('.')?;
    let bound = if kind == ColumnKind::Time {
        moment(bound, now)?.ticks()
    } else {
        Decimal::unscaled(bound, 2)?
    };
    Some(match operator {
        "gt" => Wanted::Above(bound),
        "ge" => Wanted::AtLeast(bound),
        "lt" => Wanted::Below(bound),
        "le" => Wanted::AtMost(bound),
        _ => return None,
    })
}

fn value(cell: Cell<'_>) -> Option<i64> {
    match cell {
        Cell::Int(value) => Some(value.saturating_mul(100)),
        #[expect(clippy::cast_possible_truncation, reason = "a cast saturates")]
        Cell::Number(value) => Some((value * 100.0).round() as i64),
        Cell::Time(value) => Some(value.ticks()),
        Cell::Null | Cell::Text(_) | Cell::Bool(_) | Cell::Texts(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::row::column;

    const COLUMNS: &[Column] = &[
        column!("cpu", Number, true, ""),
        column!("lastSeen", Time, true, ""),
        column!("state", Text, true, ""),
    ];

    fn parse(name: &str, text: &str) -> Result<Comparisons> {
        let now = "2026-11-20T12:00:00Z".parse().unwrap();
        let given = [(name.to_owned(), text.to_owned())];
        Comparisons::parse(&given, COLUMNS, |index| index < 2, now)
    }

    #[test]
    fn numbers_are_compared_exactly() {
        for (text, yes, no) in [
            ("gt.80", &[80.01, 100.0][..], &[80.0, -90.0][..]),
            ("ge.80.5", &[80.5], &[80.49]),
            ("lt.-3.25", &[-3.26], &[-3.25, 0.0]),
            ("le.0", &[0.0, -1.0], &[0.01]),
            ("ge.20,lt.40", &[20.0, 39.99], &[19.99, 40.0]),
            ("ne.null", &[0.0], &[]),
            ("null", &[], &[0.0]),
        ] {
            let wanted = parse("CPU", text).unwrap();
            let holds = |value: &f64| wanted.accept(|_| Cell::Number(*value));
            assert!(yes.iter().all(holds), "{text}");
            assert!(!no.iter().any(holds), "{text}");
            assert_eq!(wanted.accept(|_| Cell::Null), text == "null", "{text}");
            assert!(wanted.has(0) && !wanted.has(1));
        }
        assert!(parse("cpu", "gt.80").unwrap().accept(|_| Cell::Int(81)));
    }

    #[test]
    fn times_are_before_now_or_as_they_are_written() {
        let at = |text: &str| Cell::Time(text.parse().unwrap());
        for text in ["lt.-1h", "lt.2026-11-20T11:00:00Z"] {
            let wanted = parse("lastSeen", text).unwrap();
            assert!(wanted.accept(|_| at("2026-11-20T10:59:59Z")));
            assert!(!wanted.accept(|_| at("2026-11-20T11:00:00Z")));
        }
    }

    #[test]
    fn what_is_no_comparison_is_refused_by_name() {
        for (name, text) in [
            ("cpu", ""),
            ("cpu", "80"),
            ("cpu", "gt."),
            ("cpu", "gt.x"),
            ("cpu", "gt.1.234"),
            ("cpu", "gt.1e3"),
            ("cpu", "gt.-"),
            ("cpu", "gt.1000000000000000"),
            ("cpu", "eq.80"),
            ("cpu", "gt.80,"),
            ("cpu", "GT.80"),
            ("cpu", "lt.1,null"),
            ("lastSeen", "gt.80"),
            ("lastSeen", "ne.-1h"),
        ] {
            let refused = parse(name, text).unwrap_err();
            assert_eq!(refused.parameter(), Some(name), "{text}");
            assert!(refused.context().contains("such as gt.80"), "{refused}");
        }
        for name in ["state", "cpus"] {
            assert_eq!(
                parse(name, "gt.80").unwrap_err().parameter(),
                Some("figures")
            );
        }
        let many = vec!["gt.1"; COMPARISONS_MAX + 1].join(",");
        assert!(parse("cpu", &many).is_err());
    }
}
