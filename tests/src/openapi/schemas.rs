//! The schemas of the engine as OpenAPI wants them.

use deskfleet::{ProcessItem, Stream, Workspace};
use serde_json::Value;

/// Joins the lines of each paragraph of a description, and keeps what says nothing to a client out.
pub(super) fn cleaned(mut schema: Value) -> Value {
    clean(&mut schema);
    schema
}

fn clean(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(description)) = members.get_mut("description") {
                *description = joined(description);
            }
            // No registered formats; `minimum` says the same.
            match members.get("format").and_then(Value::as_str) {
                Some("uint32" | "uint64") => {
                    drop(members.insert("format".to_owned(), "int64".into()));
                }
                Some("uint16") => drop(members.insert("format".to_owned(), "int32".into())),
                _ => {}
            }
            members.remove("default");
            members.values_mut().for_each(clean);
        }
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The prose of a documentation, without links and Rust examples. A line break in the source is none in the text, but before an item
/// of a list and between paragraphs.
fn joined(text: &str) -> String {
    let prose = text.split("```").step_by(2).collect::<String>();
    let prose = prose.replace("[`", "`").replace("`]", "`");
    let mut joined = String::new();
    for line in prose.lines().map(str::trim) {
        let starts = line.is_empty() || line.starts_with("- ");
        if !joined.is_empty() {
            joined.push(if starts || joined.ends_with('\n') {
                '\n'
            } else {
                ' '
            });
        }
        joined.push_str(line);
    }
    joined.trim().to_owned()
}

/// The names of the record that these properties belong to, in their order: of the longest record all of whose fields occur.
pub(super) fn declared_order(is_property: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let records = Stream::ALL
        .map(Stream::fields)
        .into_iter()
        .chain([ProcessItem::FIELDS]);
    let records = records.map(|fields| fields.iter().map(|field| field.name).collect());
    let mut all: Vec<Vec<_>> = records.chain([Workspace::FIELDS.to_vec()]).collect();
    all.retain(|names| names.iter().all(|name| is_property(name)));
    all.into_iter().max_by_key(Vec::len).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_description_keeps_paragraphs_and_lists() {
        let text = " One\n two.\n\n Three:\n - [`a`]: x\n - `b`: y\n\n ```\n let a = 1;\n ```\n";
        assert_eq!(joined(text), "One two.\n\nThree:\n- `a`: x\n- `b`: y");
    }
}
