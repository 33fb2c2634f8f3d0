//! How the posted records describe their fields.
//!
//! Each record type is one table of (field, type, wire name, bound), with the documentation of each field for its JSON Schema.
//! Code that treats all fields alike (the JSON reader and writer, the block codec) walks that table.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use crate::timestamp::Timestamp;

/// The JSON type of a field, as the interface document names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// `integer, int32`
    Int32,
    /// `integer, int64`
    Int64,
    /// `number, float`
    Float,
    /// `number, double`
    Double,
    /// `string`
    Text,
    /// `string, date-time`
    Time,
    /// `array of process items`
    Items,
}

/// One row of a record's table.
#[derive(Debug, Clone, Copy)]
pub struct FieldSpec {
    /// Wire name, camelCase.
    pub name: &'static str,
    /// JSON type.
    pub kind: FieldKind,
    /// Whether `null` is allowed.
    pub nullable: bool,
    /// Longest text, in Unicode code points.
    pub length_max: Option<usize>,
    /// The documentation of the field: meaning and unit.
    #[cfg(feature = "schema")]
    pub doc: &'static str,
    /// The name as compact JSON writes it after another member: a comma, the name in quotes, a colon.
    pub(crate) comma_and_key: &'static [u8],
}

impl FieldSpec {
    /// The name as compact JSON writes it: in quotes, with the colon.
    pub(crate) fn key(&self) -> &'static [u8] {
        self.comma_and_key.get(1..).unwrap_or_default()
    }
}

/// The value of one present field.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldValue<'a> {
    /// An explicit `null`.
    Null,
    /// [`FieldKind::Int32`] and [`FieldKind::Int64`].
    Int(i64),
    /// [`FieldKind::Float`].
    Float(f32),
    /// [`FieldKind::Double`].
    Double(f64),
    /// [`FieldKind::Text`].
    Text(Cow<'a, str>),
    /// [`FieldKind::Time`].
    Time(Timestamp),
    /// [`FieldKind::Items`].
    Items(Cow<'a, [ProcessItem]>),
}

/// A nullable field: not sent, sent as `null`, or sent with a value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Nullable<T> {
    /// The field was not sent.
    #[default]
    Absent,
    /// The field was sent as `null`.
    Null,
    /// The field was sent with a value.
    Value(T),
}

impl<T> Nullable<T> {
    /// The value, if one was sent.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Absent | Self::Null => None,
            Self::Value(value) => Some(value),
        }
    }
}

impl<T> From<T> for Nullable<T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}

impl From<&str> for Nullable<String> {
    fn from(value: &str) -> Self {
        Self::Value(value.to_owned())
    }
}

/// A record whose fields are accessed by their index in its table.
pub trait Fields {
    /// The record's table, in the order of the interface document.
    fn specs(&self) -> &'static [FieldSpec];
    /// The field at `index`; `None` when it was not sent or there is no such field.
    fn get(&self, index: usize) -> Option<FieldValue<'_>>;
    /// Stores a field; returns `false` and stores nothing when the value is not of the field's type or out of its
    /// range.
    fn set(&mut self, index: usize, value: FieldValue<'_>) -> bool;
}

/// A Rust type that can stand in a record's table.
pub(crate) trait FieldType {
    const KIND: FieldKind;
    const NULLABLE: bool = false;
    fn get(&self) -> Option<FieldValue<'_>>;
    fn set(&mut self, value: FieldValue<'_>) -> bool;
}

macro_rules! field_type {
    ($type:ty, $kind:ident, $variant:ident, $read:expr, $write:expr) => {
        impl FieldType for Option<$type> {
            const KIND: FieldKind = FieldKind::$kind;

            fn get(&self) -> Option<FieldValue<'_>> {
                self.as_ref()
                    .map(|value| FieldValue::$variant($read(value)))
            }

            fn set(&mut self, value: FieldValue<'_>) -> bool {
                if let FieldValue::$variant(value) = value
                    && let Some(value) = $write(value)
                {
                    *self = Some(value);
                    return true;
                }
                false
            }
        }
    };
}

field_type!(i32, Int32, Int, |v: &i32| i64::from(*v), |v: i64| {
    i32::try_from(v).ok()
});
field_type!(i64, Int64, Int, |v: &i64| *v, Some);
field_type!(f32, Float, Float, |v: &f32| *v, Some);
field_type!(f64, Double, Double, |v: &f64| *v, Some);
field_type!(Timestamp, Time, Time, |v: &Timestamp| *v, Some);
field_type!(
    String,
    Text,
    Text,
    |v| Cow::Borrowed(String::as_str(v)),
    |v: Cow<'_, str>| { Some(v.into_owned()) }
);
field_type!(
    Vec<ProcessItem>,
    Items,
    Items,
    |v| Cow::Borrowed(Vec::as_slice(v)),
    |v: Cow<'_, [ProcessItem]>| Some(v.into_owned())
);

impl<T> FieldType for Nullable<T>
where
    Option<T>: FieldType,
    T: Clone,
    for<'a> &'a T: Into<FieldValue<'a>>,
{
    const KIND: FieldKind = <Option<T> as FieldType>::KIND;
    const NULLABLE: bool = true;

    fn get(&self) -> Option<FieldValue<'_>> {
        match self {
            Self::Absent => None,
            Self::Null => Some(FieldValue::Null),
            Self::Value(value) => Some(value.into()),
        }
    }

    fn set(&mut self, value: FieldValue<'_>) -> bool {
        if value == FieldValue::Null {
            *self = Self::Null;
            return true;
        }
        let mut inner: Option<T> = None;
        let stored = inner.set(value);
        if let Some(value) = inner {
            *self = Self::Value(value);
        }
        stored
    }
}

impl<'a> From<&'a String> for FieldValue<'a> {
    fn from(value: &'a String) -> Self {
        Self::Text(Cow::Borrowed(value))
    }
}

impl From<&Timestamp> for FieldValue<'_> {
    fn from(value: &Timestamp) -> Self {
        Self::Time(*value)
    }
}

impl From<&i64> for FieldValue<'_> {
    fn from(value: &i64) -> Self {
        Self::Int(*value)
    }
}

impl From<&f64> for FieldValue<'_> {
    fn from(value: &f64) -> Self {
        Self::Double(*value)
    }
}

/// Writes a record for `serde`: the fields that were sent, by their wire names.
pub(crate) fn serialize<S: Serializer>(
    record: &impl Fields,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let fields = || {
        let fields = record.specs().iter().enumerate();
        fields.filter_map(|(index, spec)| Some((spec.name, record.get(index)?)))
    };
    let mut map = serializer.serialize_map(Some(fields().count()))?;
    for (name, value) in fields() {
        map.serialize_entry(name, &value)?;
    }
    map.end()
}

impl Serialize for FieldValue<'_> {
    /// Null as none and everything else as some value, so that formats without names of types read it back.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Int(value) => serializer.serialize_some(value),
            Self::Float(value) => serializer.serialize_some(value),
            Self::Double(value) => serializer.serialize_some(value),
            Self::Text(value) => serializer.serialize_some(value),
            Self::Time(value) => serializer.serialize_some(value),
            Self::Items(value) => serializer.serialize_some(value),
        }
    }
}

/// Reads a record that [`serialize`] has written; unknown names are ignored.
pub(crate) fn deserialize<'de, R, D>(deserializer: D) -> Result<R, D::Error>
where
    R: Fields + Default,
    D: Deserializer<'de>,
{
    deserializer.deserialize_map(OfRecord(PhantomData))
}

struct OfRecord<R>(PhantomData<R>);

impl<'de, R: Fields + Default> Visitor<'de> for OfRecord<R> {
    type Value = R;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a telemetry record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<R, A::Error> {
        let mut record = R::default();
        let specs = record.specs();
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            let Some(index) = specs.iter().position(|spec| spec.name == name) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let Some(spec) = specs.get(index) else {
                continue;
            };
            let value = map.next_value_seed(OfField(spec.kind))?;
            if !record.set(index, value) {
                return Err(A::Error::custom(unfit(spec)));
            }
        }
        Ok(record)
    }
}

fn unfit(spec: &FieldSpec) -> String {
    let name = spec.name;
    format!("the field {name} is out of its range, or null where that is not allowed")
}

struct OfField(FieldKind);

impl<'de> DeserializeSeed<'de> for OfField {
    type Value = FieldValue<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        fn read<'de, T, D>(
            deserializer: D,
            value: fn(T) -> FieldValue<'de>,
        ) -> Result<FieldValue<'de>, D::Error>
        where
            T: serde::Deserialize<'de>,
            D: Deserializer<'de>,
        {
            let read: Option<T> = serde::Deserialize::deserialize(deserializer)?;
            Ok(read.map_or(FieldValue::Null, value))
        }
        match self.0 {
            FieldKind::Int32 | FieldKind::Int64 => read(deserializer, FieldValue::Int),
            FieldKind::Float => read(deserializer, FieldValue::Float),
            FieldKind::Double => read(deserializer, FieldValue::Double),
            FieldKind::Text => read(deserializer, |text: String| FieldValue::Text(text.into())),
            FieldKind::Time => read(deserializer, |time: Timestamp| FieldValue::Time(time)),
            FieldKind::Items => read(deserializer, |items| FieldValue::Items(Cow::Owned(items))),
        }
    }
}

/// Declares a record type together with its table, and with its JSON Schema.
macro_rules! record {
    (
        $(#[doc = $doc:literal])*
        $visibility:vis struct $name:ident {
            $($(#[doc = $field_doc:literal])* $field:ident: $type:ty = $wire:literal $(max $max:expr)?,)*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, Default)]
        $visibility struct $name {
            $($(#[doc = $field_doc])* $visibility $field: $type,)*
        }

        impl $name {
            /// The record's table: the fields in the order of the interface document.
            $visibility const FIELDS: &'static [$crate::model::FieldSpec] = &[
                $($crate::model::FieldSpec {
                    name: $wire,
                    kind: <$type as $crate::model::field::FieldType>::KIND,
                    nullable: <$type as $crate::model::field::FieldType>::NULLABLE,
                    length_max: $crate::model::field::length_max!($($max)?),
                    #[cfg(feature = "schema")]
                    doc: concat!($($field_doc, "\n"),*),
                    comma_and_key: concat!(",\"", $wire, "\":").as_bytes(),
                },)*
            ];
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::model::field::schema(concat!($($doc, "\n"),*), Self::FIELDS, generator)
            }
        }

        /// The fields that were sent, by their wire names.
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::model::field::serialize(self, serializer)
            }
        }

        /// Unknown names are ignored. How long texts may be is checked when the record is accepted.
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::model::field::deserialize(deserializer)
            }
        }

        impl $crate::model::Fields for $name {
            fn specs(&self) -> &'static [$crate::model::FieldSpec] {
                Self::FIELDS
            }

            fn get(&self, index: usize) -> Option<$crate::model::FieldValue<'_>> {
                let mut at = 0;
                $(
                    if index == at {
                        return $crate::model::field::FieldType::get(&self.$field);
                    }
                    at += 1;
                )*
                debug_assert!(index >= at, "the chain above covers the table");
                None
            }

            fn set(&mut self, index: usize, value: $crate::model::FieldValue<'_>) -> bool {
                let mut at = 0;
                $(
                    if index == at {
                        return $crate::model::field::FieldType::set(&mut self.$field, value);
                    }
                    at += 1;
                )*
                debug_assert!(index >= at, "the chain above covers the table");
                false
            }
        }
    };
}

/// The JSON Schema of a record: every field optional, unknown ones ignored.
#[cfg(feature = "schema")]
pub(crate) fn schema(
    doc: &str,
    fields: &[FieldSpec],
    generator: &mut schemars::SchemaGenerator,
) -> schemars::Schema {
    let mut properties = schemars::Schema::default();
    for spec in fields {
        let schema = field_schema(spec, generator);
        properties.insert(spec.name.to_owned(), schema.to_value());
    }
    schemars::json_schema!({"description": doc, "type": "object", "properties": properties})
}

#[cfg(feature = "schema")]
fn field_schema(spec: &FieldSpec, generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let (kind, format) = match spec.kind {
        FieldKind::Int32 => ("integer", Some("int32")),
        FieldKind::Int64 => ("integer", Some("int64")),
        FieldKind::Float => ("number", Some("float")),
        FieldKind::Double => ("number", Some("double")),
        FieldKind::Text => ("string", None),
        FieldKind::Time => ("string", Some("date-time")),
        FieldKind::Items => ("array", None),
    };
    let mut schema = schemars::json_schema!({"description": spec.doc, "type": kind});
    if spec.nullable {
        schema.insert("type".to_owned(), [kind, "null"].as_slice().into());
    }
    if let Some(format) = format {
        schema.insert("format".to_owned(), format.into());
    }
    if let Some(length_max) = spec.length_max {
        schema.insert("maxLength".to_owned(), length_max.into());
    }
    if spec.kind == FieldKind::Items {
        let item = generator.subschema_for::<ProcessItem>();
        schema.insert("items".to_owned(), item.to_value());
        let items_max = crate::limits::PROCESS_ITEMS_MAX;
        schema.insert("maxItems".to_owned(), items_max.into());
    }
    schema
}

macro_rules! length_max {
    () => {
        None
    };
    ($max:expr) => {
        Some($max)
    };
}

pub(crate) use {length_max, record};

record! {
    /// The processes of one name in a process report, summed. Every field is optional.
    pub struct ProcessItem {
        /// Name of the executable, for example `outlook.exe`.
        process_name: Option<String> = "processName",
        /// Processor load of these processes together, in percent.
        processor_usage: Option<f64> = "processorUsage",
        /// Memory of these processes together, in bytes.
        memory_usage: Option<f64> = "memoryUsage",
        /// Number of processes of that name.
        process_count: Option<i64> = "processCount",
        /// User who runs them.
        username: Option<String> = "username",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::model::{Nullable, ProcessItem, ProcessReport, Record, StatsRecord, Stream};

    fn stats() -> StatsRecord {
        StatsRecord {
            id: Some(7),
            username: Nullable::Null,
            update_time: "2026-11-20T12:00:00Z".parse().ok(),
            disk_reads: Some(1.5),
            uptime: 0.1.into(),
            instance_id: "ws-1".into(),
            ..StatsRecord::default()
        }
    }

    #[test]
    fn record_in_json_is_the_fields_that_were_sent_and_reads_back() {
        let stored = serde_json::to_value(stats()).unwrap();
        let expected = json!({
            "id": 7, "updatetime": "2026-11-20T12:00:00Z", "username": null, "diskReads": 1.5,
            "uptime": 0.1, "instanceId": "ws-1",
        });
        assert_eq!(stored, expected);
        assert_eq!(
            serde_json::from_value::<StatsRecord>(stored).unwrap(),
            stats()
        );
    }

    #[test]
    fn record_of_each_stream_reads_back_by_the_name_of_its_stream() {
        let item = ProcessItem {
            process_name: Some("a.exe".into()),
            process_count: Some(2),
            ..ProcessItem::default()
        };
        let report = ProcessReport {
            processes: Some(vec![item]),
            ..ProcessReport::default()
        };
        let mut records: Vec<Record> = Stream::ALL.map(Stream::empty_record).into();
        records.extend([Record::from(stats()), report.into()]);
        for record in records {
            let stored = serde_json::to_string(&record).unwrap();
            let tag = format!("{{\"{}\":", record.stream().name());
            assert!(stored.starts_with(&tag), "{stored}");
            assert_eq!(serde_json::from_str::<Record>(&stored).unwrap(), record);
        }
    }

    #[test]
    fn value_that_a_field_does_not_take_is_refused_and_unknown_fields_are_ignored() {
        let read = |text: &str| serde_json::from_str::<StatsRecord>(text);
        assert_eq!(read(r#"{"other":[1]}"#).unwrap(), StatsRecord::default());
        for wrong in [r#"{"id":3000000000}"#, r#"{"id":null}"#, r#"{"id":"7"}"#] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
