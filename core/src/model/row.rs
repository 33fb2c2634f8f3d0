//! Rows: what a question about the fleet returns, as flat structs.
//!
//! Each row type is one table of (field, type, wire name). Its JSON, CSV, NDJSON, JSON Schema and TypeScript type, and the names that `fields`
//! and `sort` take, come from that table; what writes rows takes `&dyn Row`, so there is one copy of it.

use std::fmt;

use crate::limits::PAGE_ITEMS_DEFAULT;
use crate::timestamp::Timestamp;

use super::{AuditResult, State};

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnKind {
    /// A string.
    Text,
    /// A whole number.
    Int,
    /// A number with at most two decimals.
    Number,
    /// `true` or `false`.
    Bool,
    /// A date-time, in UTC.
    Time,
    /// A list of strings.
    Texts,
}

/// A column of a row type.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Column {
    /// Wire name, camelCase.
    pub name: &'static str,
    /// The type of its values.
    pub kind: ColumnKind,
    /// Whether a value may be null.
    pub nullable: bool,
    /// The documentation of the field: meaning and unit.
    #[cfg(feature = "schema")]
    pub(crate) doc: &'static str,
}

/// The value of one column of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Cell<'a> {
    /// No value.
    Null,
    /// [`ColumnKind::Text`].
    Text(&'a str),
    /// [`ColumnKind::Int`].
    Int(i64),
    /// [`ColumnKind::Number`].
    Number(f64),
    /// [`ColumnKind::Bool`].
    Bool(bool),
    /// [`ColumnKind::Time`].
    Time(Timestamp),
    /// [`ColumnKind::Texts`].
    Texts(&'a [String]),
}

/// A row whose values are accessed by the index of their column.
pub trait Row {
    /// The columns, in the order in which they are written.
    fn columns(&self) -> &'static [Column];
    /// The value in the column at `index`; null when there is no such column.
    fn cell(&self, index: usize) -> Cell<'_>;
}

/// What a question about the fleet returns: one page of rows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Rows<T> {
    /// The rows of this page.
    pub rows: Vec<T>,
    /// The token of the next page, if there is one.
    pub next_token: Option<String>,
    /// The moment of the answer.
    pub at: Timestamp,
    /// What the answer leaves out or widens, a sentence each. Never holds what a client sent.
    pub warnings: Vec<String>,
}

impl<T> Rows<T> {
    /// All rows of an answer that has one page.
    pub(crate) fn whole(rows: Vec<T>, at: Timestamp) -> Self {
        Self {
            rows,
            next_token: None,
            at,
            warnings: Vec::new(),
        }
    }
}

/// Which page of rows, in which order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paging {
    /// Up to three columns, separated by commas, each with `-` before it for the greatest first: `-cpuP95,workSpId`. Rows without a value come
    /// last. Default: the order of the question.
    pub sort: Option<String>,
    /// Most rows on the page, at least 1. Default 50; unlike over HTTP there is no upper bound.
    pub limit: u32,
    /// The token of the page before. Default none: the first page.
    pub next_token: Option<String>,
}

impl Default for Paging {
    fn default() -> Self {
        Self {
            sort: None,
            limit: PAGE_ITEMS_DEFAULT.unsigned_abs(),
            next_token: None,
        }
    }
}

/// `value` with two decimals; `None` where it is no number, as after a division by zero.
pub(crate) fn rounded(value: f64) -> Option<f64> {
    let rounded = (value * 100.0).round() / 100.0;
    // No `-0.0`, which JSON would show.
    rounded.is_finite().then_some(rounded + 0.0)
}

/// A number as a text, from its unscaled value and how many of its digits are decimals: 1250 and 2 are `12.5`. The formatting of doubles would add
/// 20 kB to the WebAssembly module.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimal(pub(crate) i64, pub(crate) u32);

impl Decimal {
    /// Of a [`rounded`] number.
    #[expect(clippy::cast_possible_truncation, reason = "a cast saturates")]
    pub(crate) fn of_rounded(value: f64) -> Self {
        Self((value * 100.0).round() as i64, 2)
    }
}

impl Decimal {
    /// The unscaled value of a number with at most `decimals` decimals, such as 1250 of `12.5` with two.
    pub(crate) fn unscaled(text: &str, decimals: u32) -> Option<i64> {
        const DIGITS_MAX: usize = 12;
        let unsigned = text.strip_prefix('-');
        let (whole, part) = match unsigned.unwrap_or(text).split_once('.') {
            Some((whole, part)) if !part.is_empty() => (whole, part),
            Some(_) => return None,
            None => (unsigned.unwrap_or(text), ""),
        };
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let missing = decimals.checked_sub(u32::try_from(part.len()).ok()?)?;
        let fits = (1..=DIGITS_MAX).contains(&whole.len()) && is_digits(whole) && is_digits(part);
        let digits: i64 = [whole, part].concat().parse().ok().filter(|_| fits)?;
        let value = digits.checked_mul(10_i64.checked_pow(missing)?)?;
        Some(if unsigned.is_some() { -value } else { value })
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value, digits) = *self;
        let unit = 10_u64.pow(digits);
        let sign = if value < 0 { "-" } else { "" };
        let (whole, mut rest) = (value.unsigned_abs() / unit, value.unsigned_abs() % unit);
        write!(out, "{sign}{whole}")?;
        if rest == 0 {
            return Ok(());
        }
        let mut width = digits as usize;
        while rest % 10 == 0 {
            rest /= 10;
            width -= 1;
        }
        write!(out, ".{rest:0width$}")
    }
}

/// A Rust type that can stand in a row.
pub(crate) trait CellType {
    const KIND: ColumnKind;
    const NULLABLE: bool = false;
    fn cell(&self) -> Cell<'_>;
}

macro_rules! cell_type {
    ($type:ty, $kind:ident, $read:expr) => {
        impl CellType for $type {
            const KIND: ColumnKind = ColumnKind::$kind;

            fn cell(&self) -> Cell<'_> {
                Cell::$kind($read(self))
            }
        }
    };
}

cell_type!(String, Text, String::as_str);
cell_type!(&'static str, Text, |value: &&'static str| *value);
cell_type!(AuditResult, Text, |value: &AuditResult| value.as_str());
cell_type!(State, Text, |value: &State| value.as_str());
cell_type!(i64, Int, |value: &i64| *value);
cell_type!(u64, Int, |value: &u64| i64::try_from(*value)
    .unwrap_or(i64::MAX));
cell_type!(f64, Number, |value: &f64| *value);
cell_type!(bool, Bool, |value: &bool| *value);
cell_type!(Timestamp, Time, |value: &Timestamp| *value);
cell_type!(Vec<String>, Texts, Vec::as_slice);

impl<T: CellType> CellType for Option<T> {
    const KIND: ColumnKind = T::KIND;
    const NULLABLE: bool = true;

    fn cell(&self) -> Cell<'_> {
        self.as_ref().map_or(Cell::Null, CellType::cell)
    }
}

/// Declares a row type together with its table, and with its JSON Schema. A number is made with [`rounded`].
macro_rules! row {
    (
        $(#[doc = $doc:literal])*
        $visibility:vis struct $name:ident {
            $($(#[doc = $field_doc:literal])* $field:ident: $type:ty = $wire:literal,)*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        $visibility struct $name {
            $($(#[doc = $field_doc])* $visibility $field: $type,)*
        }

        impl $name {
            /// The columns, in the order in which they are written.
            $visibility const COLUMNS: &'static [$crate::model::Column] = &[
                $($crate::model::Column {
                    name: $wire,
                    kind: <$type as $crate::model::row::CellType>::KIND,
                    nullable: <$type as $crate::model::row::CellType>::NULLABLE,
                    #[cfg(feature = "schema")]
                    doc: concat!($($field_doc, "\n"),*),
                },)*
            ];
        }

        impl $crate::model::Row for $name {
            fn columns(&self) -> &'static [$crate::model::Column] {
                Self::COLUMNS
            }

            fn cell(&self, index: usize) -> $crate::model::Cell<'_> {
                let read: &[fn(&Self) -> $crate::model::Cell<'_>] =
                    &[$(|row| $crate::model::row::CellType::cell(&row.$field),)*];
                read.get(index).map_or($crate::model::Cell::Null, |read| read(self))
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::model::row::schema(concat!($($doc, "\n"),*), Self::COLUMNS)
            }
        }
    };
}

pub(crate) use row;

/// A column of a row type whose table [`row!`] does not declare.
macro_rules! column {
    ($name:expr, $kind:ident, $nullable:expr, $doc:expr) => {
        $crate::model::Column {
            name: $name,
            kind: $crate::model::ColumnKind::$kind,
            nullable: $nullable,
            #[cfg(feature = "schema")]
            doc: $doc,
        }
    };
}

pub(crate) use column;

/// The JSON Schema of a row: every member is always there.
#[cfg(feature = "schema")]
pub(crate) fn schema(doc: &str, columns: &[Column]) -> schemars::Schema {
    let mut properties = schemars::Schema::default();
    let mut required = Vec::new();
    for column in columns {
        let (kind, format) = match column.kind {
            ColumnKind::Text => ("string", None),
            ColumnKind::Int => ("integer", Some("int64")),
            ColumnKind::Number => ("number", Some("double")),
            ColumnKind::Bool => ("boolean", None),
            ColumnKind::Time => ("string", Some("date-time")),
            ColumnKind::Texts => ("array", None),
        };
        let mut schema = schemars::json_schema!({"description": column.doc, "type": kind});
        if column.nullable {
            schema.insert("type".to_owned(), [kind, "null"].as_slice().into());
        }
        if let Some(format) = format {
            schema.insert("format".to_owned(), format.into());
        }
        if column.kind == ColumnKind::Texts {
            let item = schemars::json_schema!({"type": "string"});
            schema.insert("items".to_owned(), item.to_value());
        }
        properties.insert(column.name.to_owned(), schema.to_value());
        required.push(column.name.to_owned());
    }
    schemars::json_schema!({
        "description": doc,
        "type": "object",
        "properties": properties,
        "required": required,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_is_written_as_the_double_is() {
        for value in [0.0, 85.0, 12.5, 0.01, 0.1, -3.07, -0.5, 99.99, 1_234_567.8] {
            assert_eq!(Decimal::of_rounded(value).to_string(), value.to_string());
        }
        assert_eq!(Decimal(10_000_001, 7).to_string(), "1.0000001");
        assert_eq!(Decimal(i64::MIN, 0).to_string(), i64::MIN.to_string());
    }

    #[test]
    fn unscaled_value_is_exact_or_none() {
        for (text, decimals, expected) in [
            ("12.5", 2, Some(1250)),
            ("-0.05", 2, Some(-5)),
            ("80", 2, Some(8000)),
            ("0.3000", 4, Some(3000)),
            ("1.234", 2, None),
            ("", 2, None),
            ("-", 2, None),
            (".5", 2, None),
            ("5.", 2, None),
            ("+5", 2, None),
            ("--5", 2, None),
            ("1e3", 2, None),
            ("999999999999", 4, Some(9_999_999_999_990_000)),
            ("1000000000000", 4, None),
        ] {
            assert_eq!(Decimal::unscaled(text, decimals), expected, "{text}");
        }
    }

    #[test]
    fn number_is_rounded_to_two_decimals_and_never_infinite() {
        for (value, expected) in [
            (1.005, Some(1.0)),
            (12.345_6, Some(12.35)),
            (-0.001, Some(0.0)),
            (0.0 / 1.0, Some(0.0)),
            (1.0 / 0.0, None),
            (f64::NAN, None),
            (f64::MAX, None),
        ] {
            assert_eq!(rounded(value), expected, "{value}");
        }
        assert!(rounded(-0.001).is_some_and(f64::is_sign_positive));
    }
}
