//! `deskfleet.toml`, as names and values with their lines.

use std::ops::Range;

use deskfleet::settings::{Value, name_in};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A setting of the file, or a table without any.
#[derive(Debug, PartialEq)]
pub(super) struct Entry {
    /// Its line, from 1.
    pub(super) line: usize,
    /// Its whole name.
    pub(super) name: String,
    pub(super) value: Value,
}

/// All entries of `text`, in the order of their lines.
///
/// # Errors
/// The line of what is no TOML, and what is wrong with it.
pub(super) fn parse(text: &str) -> Result<Vec<Entry>, (usize, String)> {
    let file = File {
        text,
        line_ends: text.match_indices('\n').map(|(at, _)| at).collect(),
    };
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| file.line(span.start));
        (line, error.message().to_owned())
    })?;
    let mut entries = Vec::new();
    file.collect("", table.get_ref(), &mut entries);
    entries.sort_by_key(|entry| entry.line);
    Ok(entries)
}

/// The items of a list of tables, such as several `[[webhooks]]`; `None` for any other value.
fn tables<'t>(value: &'t DeValue<'_>) -> Option<Vec<(Range<usize>, &'t DeTable<'t>)>> {
    let DeValue::Array(items) = value else {
        return None;
    };
    let tables = items.iter().map(|item| {
        let DeValue::Table(table) = item.get_ref() else {
            return None;
        };
        Some((item.span(), table))
    });
    tables
        .collect::<Option<Vec<_>>>()
        .filter(|tables| !tables.is_empty())
}

struct File<'a> {
    text: &'a str,
    line_ends: Vec<usize>,
}

impl File<'_> {
    fn line(&self, position: usize) -> usize {
        1 + self.line_ends.partition_point(|end| *end < position)
    }

    fn collect(&self, group: &str, table: &DeTable<'_>, entries: &mut Vec<Entry>) {
        for (key, value) in table {
            let name = name_in(group, key.get_ref());
            if let Some(tables) = tables(value.get_ref()) {
                for (number, (span, table)) in (1..).zip(tables) {
                    let name = name_in(&name, &number.to_string());
                    // It is there even without a setting.
                    entries.push(Entry {
                        line: self.line(span.start),
                        name: name.clone(),
                        value: Value::Group,
                    });
                    self.collect(&name, table, entries);
                }
                continue;
            }
            if let DeValue::Table(inner) = value.get_ref()
                && !inner.is_empty()
            {
                self.collect(&name, inner, entries);
                continue;
            }
            entries.push(Entry {
                line: self.line(key.span().start),
                name,
                value: self.value(value),
            });
        }
    }

    fn value(&self, value: &Spanned<DeValue<'_>>) -> Value {
        let known = match value.get_ref() {
            DeValue::String(text) => Some(Value::Text(text.clone().into_owned())),
            DeValue::Boolean(value) => Some(Value::Boolean(*value)),
            DeValue::Integer(number) => {
                let number = u64::from_str_radix(number.as_str(), number.radix());
                number.ok().map(Value::Number)
            }
            DeValue::Array(items) => {
                let texts = items
                    .iter()
                    .map(|item| item.get_ref().as_str().map(str::to_owned));
                texts.collect::<Option<_>>().map(Value::List)
            }
            DeValue::Table(_) => Some(Value::Group),
            DeValue::Float(_) | DeValue::Datetime(_) => None,
        };
        known.unwrap_or_else(|| {
            let written = self.text.get(value.span()).unwrap_or_default();
            Value::Other(written.to_owned())
        })
    }
}
