//! Writes JSON: members in the given order, no white space.

use std::io::Write as _;

use serde::Serialize;

use crate::model::{FieldSpec, FieldValue, Fields};
use crate::timestamp::Timestamp;

/// A JSON text being written.
#[derive(Debug, Default)]
pub(crate) struct Json(Vec<u8>);

impl Json {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn null(&mut self) {
        self.0.extend_from_slice(b"null");
    }

    pub(crate) fn text(&mut self, value: &str) {
        self.value(value);
    }

    /// Writes a text that needs no escape.
    pub(crate) fn plain_text(&mut self, value: &str) {
        self.0.push(b'"');
        self.0.extend_from_slice(value.as_bytes());
        self.0.push(b'"');
    }

    /// Writes a time, which needs no escape.
    pub(crate) fn time(&mut self, value: Timestamp) {
        // Writing to memory cannot fail.
        let _ = write!(self.0, "\"{value}\"");
    }

    /// Writes any value, as its `Serialize` does.
    pub(crate) fn value<T: Serialize + ?Sized>(&mut self, value: &T) {
        let start = self.0.len();
        // Writing to memory cannot fail; if `Serialize` does, the value becomes null and the text stays valid.
        if serde_json::to_writer(&mut self.0, value).is_err() {
            self.0.truncate(start);
            self.null();
        }
    }

    pub(crate) fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match value {
            Some(value) => write(self, value),
            None => self.null(),
        }
    }

    pub(crate) fn object(&mut self, members: impl FnOnce(&mut Object<'_>)) {
        self.0.push(b'{');
        members(&mut Object {
            json: self,
            first: true,
        });
        self.0.push(b'}');
    }

    pub(crate) fn array<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.0.push(b'[');
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.0.push(b',');
            }
            write(self, item);
        }
        self.0.push(b']');
    }

    /// Writes text that is already JSON.
    pub(crate) fn raw(&mut self, text: &[u8]) {
        self.0.extend_from_slice(text);
    }
}

/// The members of an object being written.
pub(crate) struct Object<'j> {
    json: &'j mut Json,
    first: bool,
}

impl Object<'_> {
    pub(crate) fn member(&mut self, name: &str, write: impl FnOnce(&mut Json)) {
        if !std::mem::take(&mut self.first) {
            self.json.0.push(b',');
        }
        self.json.text(name);
        self.json.0.push(b':');
        write(self.json);
    }

    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.member(name, |json| json.text(value));
    }

    pub(crate) fn time(&mut self, name: &str, value: Timestamp) {
        self.member(name, |json| json.time(value));
    }

    pub(crate) fn value<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        self.member(name, |json| json.value(value));
    }

    /// Writes the present fields of a record.
    pub(crate) fn fields(&mut self, fields: &dyn Fields) {
        for (index, spec) in fields.specs().iter().enumerate() {
            if let Some(value) = fields.get(index) {
                self.field(spec, &value);
            }
        }
    }

    /// Writes a field of a record.
    pub(crate) fn field(&mut self, spec: &FieldSpec, value: &FieldValue<'_>) {
        self.json.raw(if std::mem::take(&mut self.first) {
            spec.key()
        } else {
            spec.comma_and_key
        });
        field(self.json, value);
    }
}

fn field(json: &mut Json, value: &FieldValue<'_>) {
    match value {
        FieldValue::Null => json.null(),
        FieldValue::Int(value) => json.value(value),
        FieldValue::Float(value) => json.value(value),
        FieldValue::Double(value) => json.value(value),
        FieldValue::Text(text) => json.text(text),
        FieldValue::Time(time) => json.time(*time),
        FieldValue::Items(items) => json.array(items.iter(), |json, item| {
            json.object(|object| object.fields(item));
        }),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::StatsRecord;

    use super::*;

    #[test]
    fn object_keeps_member_order_and_escapes_text() {
        let mut json = Json::default();
        json.object(|object| {
            object.text("b", "\"\\\n\u{1}ä</script>");
            object.value("a", &None::<&str>);
            object.value("list", &[1, -2]);
            object.time("t", Timestamp::UNIX_EPOCH);
        });
        assert_eq!(
            String::from_utf8(json.finish()).unwrap(),
            r#"{"b":"\"\\\n\u0001ä</script>","a":null,"list":[1,-2],"t":"1970-01-01T00:00:00Z"}"#
        );
    }

    #[test]
    fn absent_field_is_omitted_and_null_field_is_null() {
        let record = StatsRecord {
            id: Some(0),
            disk_reads: Some(0.1),
            uptime: crate::model::Nullable::Null,
            ..StatsRecord::default()
        };
        let mut json = Json::default();
        json.object(|object| object.fields(&record));
        assert_eq!(json.finish(), br#"{"id":0,"diskReads":0.1,"uptime":null}"#);
    }
}
