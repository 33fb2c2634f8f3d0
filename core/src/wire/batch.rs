//! Reading the lines of a telemetry batch.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use crate::model::{Record, RecordRef, Stream};

use super::canonical;
use super::record::{JsonError, ObjectSeed, Place, Tracker, read};

/// Reads one line, `{"stats":{…}}`, and hands the record to `take`.
pub(crate) fn read_line<R>(
    text: &[u8],
    take: impl FnOnce(&RecordRef<'_>) -> R,
) -> Result<R, JsonError> {
    if let Some(record) = read_canonical_line(text) {
        return Ok(take(&record));
    }
    let record = read(text, |tracker| LineSeed { tracker })?;
    Ok(take(&RecordRef::of(&record)))
}

/// A line without spaces around the one member, which holds a record in the form agents send.
fn read_canonical_line(text: &[u8]) -> Option<RecordRef<'_>> {
    let text = text.strip_prefix(b"{\"")?.strip_suffix(b"}")?;
    Stream::ALL.into_iter().find_map(|stream| {
        let object = text
            .strip_prefix(stream.name().as_bytes())?
            .strip_prefix(b"\":")?;
        let mut record = RecordRef::empty(stream);
        canonical::read(object, &mut record)?;
        Some(record)
    })
}

/// One line of a batch.
struct LineSeed {
    tracker: Tracker,
}

impl<'de> DeserializeSeed<'de> for LineSeed {
    type Value = Record;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Record, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for LineSeed {
    type Value = Record;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with one of stats, activity, startup, processes")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record, A::Error> {
        let mut found: Option<Record> = None;
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            let stream = Stream::named(&name.to_ascii_lowercase());
            let Some(stream) = stream.filter(|_| found.is_none()) else {
                return Err(A::Error::custom(
                    "a line holds exactly one of stats, activity, startup, processes",
                ));
            };
            let mut record = stream.empty_record();
            self.tracker.within(Place::Member(stream.name()), || {
                map.next_value_seed(ObjectSeed {
                    fields: record.fields_mut(),
                    tracker: self.tracker.clone(),
                    depth: 2,
                })
            })?;
            found = Some(record);
        }
        found.ok_or_else(|| A::Error::invalid_length(0, &self))
    }
}
