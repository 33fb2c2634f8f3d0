//! The file with settings: TOML without tables.

use toml::de::DeTable;

/// An entry of the file.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// From 1.
    pub(super) line: usize,
    pub(super) name: String,
    /// A text without its quotes, anything else as it is written.
    pub(super) value: String,
}

/// The entries, in their order.
///
/// # Errors
/// The line of what is no TOML, and what is wrong with it.
pub(super) fn parse(text: &str) -> Result<Vec<Entry>, (usize, String)> {
    let line = |position: usize| {
        let before = text.get(..position).unwrap_or(text);
        1 + before.matches('\n').count()
    };
    let table = DeTable::parse(text).map_err(|error| {
        let position = error.span().map_or(0, |span| span.start);
        (line(position), error.message().to_owned())
    })?;
    let mut entries: Vec<_> = table
        .get_ref()
        .iter()
        .map(|(key, value)| {
            let written = value.get_ref().as_str();
            let written = written.or_else(|| text.get(value.span()));
            Entry {
                line: line(key.span().start),
                name: key.get_ref().to_string(),
                value: written.unwrap_or_default().to_owned(),
            }
        })
        .collect();
    entries.sort();
    Ok(entries)
}
