//! Reading JSON into records, by their tables: documented types only, names without regard to case, nothing twice.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::limits::PROCESS_ITEMS_MAX;
use crate::model::{FieldKind, FieldSpec, FieldValue, Fields, ProcessItem, RecordRef, Stream};

use super::canonical;
use super::ignored::Ignored;

/// What is wrong with a JSON text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonError {
    /// `$`, `$.id`, `$.processes[3].processName`
    pub(crate) path: String,
    /// What was expected, at which line and byte.
    pub(crate) message: String,
}

/// Reads the JSON object `text` as a record of `stream` and hands it to `take`.
pub(crate) fn read_record<R>(
    text: &[u8],
    stream: Stream,
    take: impl FnOnce(&RecordRef<'_>) -> R,
) -> Result<R, JsonError> {
    let mut record = RecordRef::empty(stream);
    if canonical::read(text, &mut record).is_some() {
        return Ok(take(&record));
    }
    let mut record = stream.empty_record();
    read_exactly(text, record.fields_mut())?;
    Ok(take(&RecordRef::of(&record)))
}

/// Reads the JSON object `text` into `fields`, whatever form it has.
pub(crate) fn read_exactly(text: &[u8], fields: &mut dyn Fields) -> Result<(), JsonError> {
    read(text, |tracker| ObjectSeed {
        fields,
        tracker,
        depth: 1,
    })
}

pub(super) fn read<'t, 'de: 't, S: DeserializeSeed<'de>>(
    text: &'de [u8],
    seed: impl FnOnce(Tracker) -> S,
) -> Result<S::Value, JsonError> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let tracker = Tracker::default();
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let read = seed(tracker.clone()).deserialize(&mut deserializer);
    let read = read.and_then(|value| deserializer.end().map(|()| value));
    read.map_err(|error| JsonError {
        path: tracker.path(),
        message: located(&error),
    })
}

/// What `serde_json` says, and where, in the words of every message.
pub(super) fn located(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let said = error.to_string();
    let said = said
        .strip_suffix(&format!(" at line {line} column {column}"))
        .unwrap_or(&said);
    format!("{said}, at line {line}, byte {column}.")
}

/// Where in the text the reader is; what fails leaves its place behind.
#[derive(Debug, Clone, Default)]
pub(super) struct Tracker(std::rc::Rc<RefCell<Vec<Place>>>);

#[derive(Debug)]
pub(super) enum Place {
    Member(&'static str),
    Unknown(String),
    Item(usize),
}

impl Tracker {
    pub(super) fn within<T, E>(
        &self,
        place: Place,
        read: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.0.borrow_mut().push(place);
        let value = read()?;
        self.0.borrow_mut().pop();
        Ok(value)
    }

    fn path(&self) -> String {
        let mut path = String::from("$");
        for place in self.0.borrow().iter() {
            match place {
                Place::Member(name) => path.extend([".", name]),
                Place::Unknown(name) => path.extend([".", name]),
                Place::Item(index) => path.extend(["[", &index.to_string(), "]"]),
            }
        }
        path
    }
}

pub(super) struct ObjectSeed<'f> {
    pub(super) fields: &'f mut dyn Fields,
    pub(super) tracker: Tracker,
    pub(super) depth: usize,
}

impl<'de> DeserializeSeed<'de> for ObjectSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ObjectSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let specs = self.fields.specs();
        let mut seen = 0_u64;
        let mut unknown = BTreeSet::new();
        let mut expected = 0;
        while let Some(name) = map.next_key_seed(NameSeed { specs, expected })? {
            match name {
                Name::Known(index, spec) => {
                    let value = self.tracker.within(Place::Member(spec.name), || {
                        if seen & 1 << index != 0 {
                            return Err(twice());
                        }
                        let seed = ValueSeed {
                            spec,
                            tracker: &self.tracker,
                            depth: self.depth + 1,
                        };
                        let value = map.next_value_seed(seed)?;
                        if self.fields.set(index, value) {
                            Ok(())
                        } else {
                            Err(out_of_range(spec.kind))
                        }
                    });
                    value?;
                    seen |= 1 << index;
                    expected = index + 1;
                }
                Name::Unknown(name) => {
                    self.tracker.within(Place::Unknown(name.clone()), || {
                        if !unknown.insert(name) {
                            return Err(twice());
                        }
                        map.next_value_seed(Ignored {
                            depth: self.depth + 1,
                        })
                    })?;
                }
            }
        }
        Ok(())
    }
}

fn twice<E: Error>() -> E {
    E::custom("the property is given twice")
}

fn out_of_range<E: Error>(kind: FieldKind) -> E {
    E::custom(format_args!(
        "the number is out of range for {}",
        kind_name(kind)
    ))
}

fn kind_name(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Int32 => "an integer (int32)",
        FieldKind::Int64 => "an integer (int64)",
        FieldKind::Float => "a number (float)",
        FieldKind::Double => "a number (double)",
        FieldKind::Text => "a string",
        FieldKind::Time => "a date-time such as 2026-11-20T08:00:00Z",
        FieldKind::Items => "an array of process items",
    }
}

enum Name {
    Known(usize, &'static FieldSpec),
    /// In lower case.
    Unknown(String),
}

/// Finds a property name in the table; agents send them in its order, so the next one is tried first.
struct NameSeed {
    specs: &'static [FieldSpec],
    expected: usize,
}

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = Name;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Name, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NameSeed {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a property name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Name, E> {
        if let Some(spec) = self
            .specs
            .get(self.expected)
            .filter(|spec| spec.name == name)
        {
            return Ok(Name::Known(self.expected, spec));
        }
        let mut known = self.specs.iter().enumerate();
        Ok(
            match known.find(|(_, spec)| spec.name.eq_ignore_ascii_case(name)) {
                Some((index, spec)) => Name::Known(index, spec),
                None => Name::Unknown(name.to_ascii_lowercase()),
            },
        )
    }
}

struct ValueSeed<'t> {
    spec: &'static FieldSpec,
    tracker: &'t Tracker,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = FieldValue<'static>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = FieldValue<'static>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(kind_name(self.spec.kind))?;
        if self.spec.nullable {
            f.write_str(" or null")
        } else {
            Ok(())
        }
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        if self.spec.nullable {
            return Ok(FieldValue::Null);
        }
        Err(E::invalid_type(serde::de::Unexpected::Other("null"), &self))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a number field takes integers, rounded to its type"
    )]
    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        match self.spec.kind {
            FieldKind::Int32 | FieldKind::Int64 => Ok(FieldValue::Int(value)),
            FieldKind::Float | FieldKind::Double => self.visit_f64(value as f64),
            FieldKind::Text | FieldKind::Time | FieldKind::Items => {
                Err(E::invalid_type(serde::de::Unexpected::Signed(value), &self))
            }
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a number field takes integers, rounded to its type"
    )]
    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        match (i64::try_from(value), self.spec.kind) {
            (Ok(value), _) => self.visit_i64(value),
            (Err(_), FieldKind::Float | FieldKind::Double) => self.visit_f64(value as f64),
            (Err(_), FieldKind::Int32 | FieldKind::Int64) => Err(out_of_range(self.spec.kind)),
            (Err(_), FieldKind::Text | FieldKind::Time | FieldKind::Items) => Err(E::invalid_type(
                serde::de::Unexpected::Unsigned(value),
                &self,
            )),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float field keeps the nearest float; too large is refused"
    )]
    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        let float = value as f32;
        match self.spec.kind {
            FieldKind::Double => Ok(FieldValue::Double(value)),
            FieldKind::Float if float.is_finite() => Ok(FieldValue::Float(float)),
            FieldKind::Float => Err(out_of_range(self.spec.kind)),
            FieldKind::Int32
            | FieldKind::Int64
            | FieldKind::Text
            | FieldKind::Time
            | FieldKind::Items => Err(E::invalid_type(serde::de::Unexpected::Float(value), &self)),
        }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        let wrong = |this: &Self| E::invalid_type(serde::de::Unexpected::Other("a string"), this);
        match self.spec.kind {
            FieldKind::Text => Ok(FieldValue::Text(Cow::Owned(value.to_owned()))),
            FieldKind::Time => match value.parse() {
                Ok(time) => Ok(FieldValue::Time(time)),
                Err(_) => Err(E::invalid_value(
                    serde::de::Unexpected::Other("a string"),
                    &self,
                )),
            },
            FieldKind::Int32
            | FieldKind::Int64
            | FieldKind::Float
            | FieldKind::Double
            | FieldKind::Items => Err(wrong(&self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        if self.spec.kind != FieldKind::Items {
            return Err(A::Error::invalid_type(serde::de::Unexpected::Seq, &self));
        }
        let mut items: Vec<ProcessItem> = Vec::new();
        loop {
            let mut item = ProcessItem::default();
            let read = self.tracker.within(Place::Item(items.len()), || {
                seq.next_element_seed(ObjectSeed {
                    fields: &mut item,
                    tracker: self.tracker.clone(),
                    depth: self.depth + 1,
                })
            })?;
            if read.is_none() {
                return Ok(FieldValue::Items(Cow::Owned(items)));
            }
            if items.len() == PROCESS_ITEMS_MAX {
                let said = format_args!("more than {PROCESS_ITEMS_MAX} process items");
                return Err(A::Error::custom(said));
            }
            items.push(item);
        }
    }
}
