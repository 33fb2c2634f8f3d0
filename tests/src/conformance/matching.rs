//! Compares a response body with an expected one.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::case::{Message, TRACE};
use super::documents::{PROBLEM_TYPE_BASE, problem};

/// Texts known by name.
pub(super) type Names = BTreeMap<String, String>;

/// `template` with every known `«name»` replaced.
pub(super) fn filled(template: &str, names: &Names) -> String {
    let mut text = template.to_owned();
    for (name, value) in names {
        text = text.replace(&format!("«{name}»"), value);
    }
    text
}

/// Whether `actual` is exactly `pattern`; an unbound name is bound to what it matches.
pub(super) fn text_matches(pattern: &str, actual: &str, names: &mut Names) -> Result<(), String> {
    let mut rest = actual;
    let mut pieces = pattern.split('«');
    rest = after(rest, pieces.next().unwrap_or_default())?;
    for piece in pieces {
        let (name, literal) = piece.split_once('»').ok_or("an open « in the case")?;
        let (value, tail) = rest.split_at(value_length(rest));
        learn(name, value, names)?;
        rest = after(tail, literal)?;
    }
    if rest.is_empty() {
        return Ok(());
    }
    Err(format!("more than expected: {}", clipped(rest)))
}

fn after<'a>(text: &'a str, literal: &str) -> Result<&'a str, String> {
    text.strip_prefix(literal).ok_or_else(|| {
        let common = text.bytes().zip(literal.bytes());
        let same = common.take_while(|(left, right)| left == right).count();
        let expected = String::from_utf8_lossy(&literal.as_bytes()[same..]);
        let found = String::from_utf8_lossy(&text.as_bytes()[same..]);
        format!(
            "expected …{}… where …{}… is",
            clipped(&expected),
            clipped(&found)
        )
    })
}

/// The length of the value at the start of `text`: a JSON string with its quotes, or all up to the next delimiter.
fn value_length(text: &str) -> usize {
    if let Some(inner) = text.strip_prefix('"') {
        let mut escaped = false;
        let end = inner.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        return end.map_or(text.len(), |end| end + 2);
    }
    text.find(['"', ',', '}', ']']).unwrap_or(text.len())
}

fn learn(name: &str, value: &str, names: &mut Names) -> Result<(), String> {
    if value.is_empty() {
        return Err(format!("nothing where «{name}» should be"));
    }
    if name == "_" {
        return Ok(());
    }
    let known = names
        .entry(name.to_owned())
        .or_insert_with(|| value.to_owned());
    if known == value {
        return Ok(());
    }
    Err(format!("«{name}» was {known} and is {value}"))
}

/// Whether `actual` is the JSON value `pattern`.
pub(super) fn json_matches(pattern: &str, actual: &str, names: &mut Names) -> Result<(), String> {
    let expected: Value = serde_json::from_str(pattern).map_err(|e| format!("the case: {e}"))?;
    let found: Value = serde_json::from_str(actual).map_err(|e| format!("the answer: {e}"))?;
    value_matches("$", &expected, &found, names)
}

fn value_matches(
    at: &str,
    expected: &Value,
    found: &Value,
    names: &mut Names,
) -> Result<(), String> {
    match (expected, found) {
        (Value::Object(left), Value::Object(right)) => {
            if !left.keys().eq(right.keys()) {
                return Err(format!(
                    "{at}: members {:?}",
                    right.keys().collect::<Vec<_>>()
                ));
            }
            left.iter()
                .zip(right.values())
                .try_for_each(|((name, left), right)| {
                    value_matches(&format!("{at}.{name}"), left, right, names)
                })
        }
        (Value::Array(left), Value::Array(right)) => {
            if left.len() != right.len() {
                return Err(format!(
                    "{at}: {} items, expected {}",
                    right.len(),
                    left.len()
                ));
            }
            left.iter()
                .zip(right)
                .enumerate()
                .try_for_each(|(index, (left, right))| {
                    value_matches(&format!("{at}[{index}]"), left, right, names)
                })
        }
        (Value::String(text), found) if text.starts_with('«') && text.ends_with('»') => {
            let value = found
                .as_str()
                .map_or_else(|| found.to_string(), str::to_owned);
            learn(text.trim_matches(['«', '»']), &value, names)
        }
        (Value::Number(left), Value::Number(right)) if same_number(left, right) => Ok(()),
        (left, right) if left == right => Ok(()),
        (left, right) => Err(format!("{at}: {right}, expected {left}")),
    }
}

/// Integers must be equal digit by digit; other numbers as numbers.
fn same_number(left: &serde_json::Number, right: &serde_json::Number) -> bool {
    if left.is_i64() && right.is_i64() {
        return left == right;
    }
    left.as_f64() == right.as_f64()
}

/// Whether `actual` is the problem body of `code`, byte for byte except for the texts that the contract leaves open.
pub(super) fn problem_matches(
    code: &str,
    errors: &[(String, Message)],
    trace: &str,
    actual: &str,
) -> Result<(), String> {
    let found: Value = serde_json::from_str(actual).map_err(|e| format!("the answer: {e}"))?;
    let documented = problem(code);
    let title = if found.get("errors").is_some() {
        "One or more validation errors occurred."
    } else {
        documented.title
    };
    let mut text = format!(
        r#"{{"type":"{}{}","title":"{title}","status":{}"#,
        PROBLEM_TYPE_BASE, documented.section, documented.status
    );
    if let Some(detail) = found.get("detail") {
        let detail = detail.as_str().filter(|detail| !detail.is_empty());
        let detail = Value::from(detail.ok_or("detail is not a text")?);
        write!(text, r#","detail":{detail}"#).expect("a string");
    }
    if let Some(found) = found.get("errors") {
        write!(text, r#","errors":{}"#, errors_match(errors, found)?).expect("a string");
    } else if !errors.is_empty() {
        return Err(format!("no errors in {actual}"));
    }
    write!(text, r#","traceId":"{trace}","code":"{code}"}}"#).expect("a string");
    if text == actual {
        return Ok(());
    }
    Err(format!("expected {text}"))
}

/// The `errors` as they must be written, if the expectation has any.
fn errors_match(expected: &[(String, Message)], found: &Value) -> Result<String, String> {
    let members = found.as_object().ok_or("errors is no object")?;
    if expected.is_empty() {
        return Ok(found.to_string());
    }
    if members.len() != expected.len() {
        return Err(format!("errors are {found}"));
    }
    let mut text = String::new();
    for (field, message) in expected {
        let messages = members.get(field).and_then(Value::as_array);
        let messages = messages.ok_or_else(|| format!("no errors of {field} in {found}"))?;
        let [Value::String(only)] = messages.as_slice() else {
            return Err(format!("messages of {field} are {messages:?}"));
        };
        let good = match message {
            Message::Exact(text) => text == only,
            Message::Holding(words) => words.iter().all(|word| only.contains(word.as_str())),
        };
        if !good {
            return Err(format!(
                "message of {field} is {only:?}, expected {message:?}"
            ));
        }
        let (field, only) = (Value::from(field.as_str()), Value::from(only.as_str()));
        write!(
            text,
            "{}{field}:[{only}]",
            if text.is_empty() { "" } else { "," }
        )
        .expect("a string");
    }
    Ok(format!("{{{text}}}"))
}

/// The trace id that a response must have for a request with this `traceparent`.
pub(super) fn trace_of(traceparent: Option<&str>) -> String {
    let parent = traceparent.unwrap_or(TRACE);
    format!("{}-00", parent.get(..52).unwrap_or(parent))
}

fn clipped(text: &str) -> String {
    text.chars().take(160).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholder_is_bound_by_its_first_match() {
        let mut names = Names::new();
        let pattern = r#"{"id":«a»,"again":«a»}"#;
        assert!(text_matches(pattern, r#"{"id":4,"again":4}"#, &mut names).is_ok());
        assert!(text_matches(pattern, r#"{"id":5,"again":5}"#, &mut names).is_err());
        assert_eq!(filled("/x/«a»", &names), "/x/4");
    }

    #[test]
    fn placeholder_outside_quotes_matches_a_whole_string() {
        let mut names = Names::new();
        assert!(text_matches("[«a»,1]", r#"["x,\"y",1]"#, &mut names).is_ok());
        assert_eq!(names["a"], r#""x,\"y""#);
        assert!(text_matches("[«_»,1]", "[null,1]", &mut names).is_ok());
    }

    #[test]
    fn texts_match_byte_for_byte() {
        let mut names = Names::new();
        assert!(text_matches("[1]", "[1]", &mut names).is_ok());
        assert!(text_matches("[1]", "[1] ", &mut names).is_err());
        assert!(text_matches("[1]", "[1", &mut names).is_err());
        assert!(text_matches("[«_»]", "[]", &mut names).is_err());
    }

    #[test]
    fn json_values_match_by_number_and_member() {
        let mut names = Names::new();
        assert!(json_matches(r#"{"a":1,"b":0.5}"#, r#"{"b":5e-1,"a":1}"#, &mut names).is_ok());
        assert!(json_matches(r#"{"a":1}"#, r#"{"a":1,"b":null}"#, &mut names).is_err());
        assert!(json_matches("9007199254740993", "9007199254740992", &mut names).is_err());
    }

    #[test]
    fn problems_match_byte_for_byte() {
        let good = r#"{"type":"https://tools.ietf.org/html/rfc9110#section-15.5.5","title":"Not Found","status":404,"detail":"x","traceId":"t","code":"NotFound"}"#;
        assert_eq!(problem_matches("NotFound", &[], "t", good), Ok(()));
        assert!(problem_matches("WorkSpaceNotFound", &[], "t", good).is_err());
        assert!(problem_matches("NotFound", &[], "u", good).is_err());
        let swapped = good.replace(
            r#","status":404,"detail":"x""#,
            r#","detail":"x","status":404"#,
        );
        assert!(problem_matches("NotFound", &[], "t", &swapped).is_err());
    }
}
