//! Writes CSV (RFC 4180): CRLF after each line, quotes only where they are needed.

use crate::model::{Cell, FieldValue};

use super::json::Json;

/// Writes a line.
pub(super) fn line<'c>(out: &mut Json, cells: impl Iterator<Item = Cell<'c>>) {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            out.raw(b",");
        }
        match cell {
            Cell::Null => {}
            Cell::Text(text) => self::text(out, text),
            Cell::Int(value) => out.value(&value),
            Cell::Number(value) => out.value(&value),
            Cell::Bool(value) => out.value(&value),
            Cell::Time(time) => out.raw(time.to_string().as_bytes()),
            Cell::Texts(texts) => text(out, &texts.join(" ")),
        }
    }
    out.raw(b"\r\n");
}

/// Writes the cell of a field of a record, empty where it has no value.
pub(super) fn field(out: &mut Json, value: Option<&FieldValue<'_>>) {
    match value {
        // A list has no cell.
        None | Some(FieldValue::Null | FieldValue::Items(_)) => {}
        Some(FieldValue::Int(value)) => out.value(value),
        Some(FieldValue::Float(value)) => out.value(value),
        Some(FieldValue::Double(value)) => out.value(value),
        Some(FieldValue::Text(text)) => self::text(out, text),
        Some(FieldValue::Time(time)) => out.raw(time.to_string().as_bytes()),
    }
}

/// A spreadsheet takes a text that begins with one of these for a formula; an apostrophe before it makes it a text.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

fn text(out: &mut Json, text: &str) {
    // An empty text differs from null.
    let quoted = text.is_empty() || text.contains(['"', ',', '\r', '\n']);
    if quoted {
        out.raw(b"\"");
    }
    if text.starts_with(FORMULA) {
        out.raw(b"'");
    }
    for (index, part) in text.split('"').enumerate() {
        if index > 0 {
            out.raw(b"\"\"");
        }
        out.raw(part.as_bytes());
    }
    if quoted {
        out.raw(b"\"");
    }
}

#[cfg(test)]
mod tests {
    use crate::timestamp::Timestamp;

    use super::*;

    fn written(cells: &[Cell<'_>]) -> String {
        let mut out = Json::default();
        line(&mut out, cells.iter().copied());
        String::from_utf8(out.finish()).unwrap()
    }

    #[test]
    fn cell_is_quoted_where_rfc_4180_asks_for_it() {
        for (text, expected) in [
            ("plain ä", "plain ä"),
            ("", "\"\""),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\r\nlines", "\"two\r\nlines\""),
            (" space", " space"),
        ] {
            assert_eq!(written(&[Cell::Text(text)]), format!("{expected}\r\n"));
        }
    }

    #[test]
    fn text_that_a_spreadsheet_would_compute_gets_an_apostrophe() {
        for (text, expected) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "\"'\r=1\""),
            ("=\"a\",1", "\"'=\"\"a\"\",1\""),
            ("a=1", "a=1"),
        ] {
            assert_eq!(written(&[Cell::Text(text)]), format!("{expected}\r\n"));
        }
    }

    #[test]
    fn values_that_are_no_texts_are_written_as_in_json() {
        let cells = [
            Cell::Null,
            Cell::Int(-7),
            Cell::Number(-12.5),
            Cell::Bool(true),
            Cell::Time(Timestamp::UNIX_EPOCH),
            Cell::Null,
        ];
        assert_eq!(written(&cells), ",-7,-12.5,true,1970-01-01T00:00:00Z,\r\n");
    }
}
