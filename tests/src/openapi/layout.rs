//! JSON that keeps the order of its members: a document is read by people too.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::schemas::declared_order;

/// A JSON value whose objects keep their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Json {
    Object(IndexMap<String, Json>),
    Array(Vec<Json>),
    Other(Value),
}

/// The members of JSON Schemas and of OpenAPI objects that come first.
const FIRST: [&str; 10] = [
    "$ref",
    "name",
    "in",
    "operationId",
    "tags",
    "summary",
    "description",
    "type",
    "format",
    "required",
];

impl Json {
    /// The text of a JSON body, its members in their order.
    pub(super) fn parse(text: &str) -> Self {
        serde_json::from_str(text).expect("JSON")
    }

    /// An object of these members.
    pub(super) fn object<K: Into<String>>(members: impl IntoIterator<Item = (K, Self)>) -> Self {
        let members = members
            .into_iter()
            .map(|(name, member)| (name.into(), member));
        Self::Object(members.collect())
    }

    /// The members of an object.
    pub(super) fn members_mut(&mut self) -> &mut IndexMap<String, Self> {
        match self {
            Self::Object(members) => members,
            Self::Array(_) | Self::Other(_) => panic!("not an object: {self:?}"),
        }
    }

    /// As text, with line breaks and a last line feed.
    pub(super) fn pretty(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("JSON");
        text.push('\n');
        text
    }
}

impl From<Value> for Json {
    /// Puts what says most first, and properties into the order of `required`; the others stay in the order of their names.
    fn from(value: Value) -> Self {
        match value {
            Value::Object(members) => {
                let mut properties = IndexMap::new();
                if let Some(Value::Object(unordered)) = members.get("properties") {
                    properties = in_order(unordered.clone(), members.get("required"));
                }
                let mut object: IndexMap<String, Self> = IndexMap::new();
                for (name, member) in members {
                    object.insert(name, Self::from(member));
                }
                if !properties.is_empty() {
                    object.insert("properties".to_owned(), Self::Object(properties));
                }
                let rank = |name: &str| FIRST.iter().position(|first| *first == name);
                object.sort_by_key(|name, _| rank(name).unwrap_or(FIRST.len()));
                Self::Object(object)
            }
            Value::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                Self::Other(value)
            }
        }
    }
}

/// The properties of a schema: the required ones in the order in which they are named, then the order of the records' tables.
fn in_order(
    properties: serde_json::Map<String, Value>,
    required: Option<&Value>,
) -> IndexMap<String, Json> {
    let required = required.and_then(Value::as_array).into_iter().flatten();
    let required: Vec<&str> = required.filter_map(Value::as_str).collect();
    let declared = declared_order(|name| properties.contains_key(name));
    let rank = |name: &String| {
        let first = required.iter().position(|each| each == name);
        let second = declared.iter().position(|each| each == name);
        (first.unwrap_or(usize::MAX), second.unwrap_or(usize::MAX))
    };
    let mut properties: Vec<_> = properties.into_iter().collect();
    properties.sort_by_key(|(name, _)| rank(name));
    properties
        .into_iter()
        .map(|(name, schema)| (name, Json::from(schema)))
        .collect()
}
