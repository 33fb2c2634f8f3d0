//! Values of settings, and the forms that they take.

use std::fmt;

use super::amount::{self, SIZES, TIMES};
use crate::nearest::nearest;

/// The value of a setting. `Display` writes it as TOML and as JSON do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number from 0.
    Number(u64),
    /// Text, also for a choice, a path, a time such as `1h30m`, a size such as `64 KiB`, `none`.
    Text(String),
    /// Several texts.
    List(Vec<String>),
    /// A value that no setting takes, as it was written: a negative number, a fraction, a date.
    Other(String),
    /// A group of settings, which is no value of one setting.
    Group,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => value.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => quoted(text, f),
            Self::List(texts) => {
                f.write_str("[")?;
                for (place, text) in texts.iter().enumerate() {
                    f.write_str(if place == 0 { "" } else { ", " })?;
                    quoted(text, f)?;
                }
                f.write_str("]")
            }
            Self::Other(written) => f.write_str(written),
            Self::Group => f.write_str("a group of settings"),
        }
    }
}

fn quoted(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("\"")?;
    for character in text.chars() {
        match character {
            '"' | '\\' => write!(f, "\\{character}")?,
            control if control.is_control() => write!(f, "\\u{:04x}", u32::from(control))?,
            other => write!(f, "{other}")?,
        }
    }
    f.write_str("\"")
}

/// The form of a setting, if its type says too little. Bounds include both ends.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// Any value of the type.
    Any,
    /// A whole number, from the first to the second.
    Count(u64, u64),
    /// Bytes, from the first to the second: a whole number, or text such as `64 KiB`.
    Bytes(u64, u64),
    /// A time, from the first to the second in milliseconds: whole seconds, or text such as `1h30m`, `500ms`.
    Time(u64, u64),
    /// Text, or a list of texts, for each of which the function returns true. The first says what it looks like.
    Text(&'static str, fn(&str) -> bool),
    /// One of the names that the function returns, or a list of some of them. The first says what they are.
    Names(&'static str, fn() -> Vec<&'static str>),
}

impl Form {
    /// The number that `value` stands for, if it is within the bounds: of a [`Form::Time`] milliseconds.
    pub(super) fn number(self, value: &Value) -> Option<u64> {
        let number = match (self, value) {
            (Self::Time(..), Value::Number(seconds)) => seconds.checked_mul(1000)?,
            (Self::Time(..), Value::Text(text)) => amount::parse(text, TIMES)?,
            (Self::Bytes(..), Value::Text(text)) => amount::parse(text, SIZES)?,
            (_, Value::Number(number)) => *number,
            _ => return None,
        };
        let (least, most) = self.bounds();
        (least..=most).contains(&number).then_some(number)
    }

    /// The value that stands for `number`.
    pub(super) fn value(self, number: u64) -> Value {
        let text = match self {
            Self::Time(..) => amount::sum(number, TIMES),
            Self::Bytes(..) => amount::multiple(number, SIZES),
            Self::Any | Self::Count(..) | Self::Text(..) | Self::Names(..) => None,
        };
        text.map_or(Value::Number(number), Value::Text)
    }

    fn bounds(self) -> (u64, u64) {
        match self {
            Self::Count(least, most) | Self::Bytes(least, most) | Self::Time(least, most) => {
                (least, most)
            }
            Self::Any | Self::Text(..) | Self::Names(..) => (0, u64::MAX),
        }
    }

    /// The numbers that it takes, for people.
    pub(super) fn numbers(self) -> String {
        let what = match self {
            Self::Bytes(..) => "bytes such as 65536 or \"64 KiB\"",
            Self::Time(..) => "seconds such as 90, or a time such as \"1m30s\"",
            Self::Any | Self::Count(..) | Self::Text(..) | Self::Names(..) => "a whole number",
        };
        match self.bounds() {
            (0, u64::MAX) => what.to_owned(),
            (least, u64::MAX) => format!("{what}, {} or more", self.value(least)),
            (least, most) => format!("{what}, {} to {}", self.value(least), self.value(most)),
        }
    }

    /// Whether it takes the text.
    pub(super) fn takes(self, text: &str) -> bool {
        match self {
            Self::Text(_, takes) => takes(text),
            Self::Names(_, names) => names().contains(&text),
            Self::Any | Self::Count(..) | Self::Bytes(..) | Self::Time(..) => true,
        }
    }

    /// The texts that it takes, for people; `what` where it takes all.
    pub(super) fn texts(self, what: &str) -> String {
        match self {
            Self::Text(message, _) | Self::Names(message, _) => message.to_owned(),
            Self::Any | Self::Count(..) | Self::Bytes(..) | Self::Time(..) => what.to_owned(),
        }
    }

    /// What to add for people about a `value` that was refused for an unknown name: the name, and the nearest one.
    pub(super) fn hint(self, value: &Value) -> Option<String> {
        let Self::Names(_, names) = self else {
            return None;
        };
        let texts = match value {
            // The command line has no other form of a list.
            Value::Text(text) => text.split(',').map(str::trim).collect(),
            Value::List(texts) => texts.iter().map(String::as_str).collect(),
            Value::Boolean(_) | Value::Number(_) | Value::Other(_) | Value::Group => Vec::new(),
        };
        let known = names();
        let unknown = texts.into_iter().find(|text| !known.contains(text))?;
        let meant = nearest(unknown, known)?;
        Some(format!("; for \"{unknown}\" did you mean \"{meant}\"?"))
    }
}
