//! A record that borrows its texts: from the body it came in, or from an owned record.

use crate::timestamp::Timestamp;

use super::field::{FieldSpec, FieldValue};
use super::{Places, Record, Stream};

/// At least the number of fields of the longest table.
pub(crate) const FIELDS_MAX: usize = 24;

const _: () = {
    let mut streams: &[Stream] = &Stream::ALL;
    while let [stream, rest @ ..] = streams {
        assert!(stream.fields().len() <= FIELDS_MAX);
        streams = rest;
    }
};

/// A telemetry record before it is stored.
#[derive(Debug, Clone)]
pub(crate) struct RecordRef<'a> {
    stream: Stream,
    values: [Option<FieldValue<'a>>; FIELDS_MAX],
}

impl<'a> RecordRef<'a> {
    /// A record of the stream in which nothing was sent.
    pub(crate) fn empty(stream: Stream) -> Self {
        Self {
            stream,
            values: [const { None }; FIELDS_MAX],
        }
    }

    /// Borrows `record`.
    pub(crate) fn from_record(record: &'a Record) -> Self {
        let fields = record.fields();
        let mut borrowed = Self::empty(record.stream());
        for (index, value) in borrowed.values.iter_mut().enumerate() {
            *value = fields.get(index);
        }
        borrowed
    }

    pub(crate) fn stream(&self) -> Stream {
        self.stream
    }

    /// The field at `index` of the record's table; `None` when it was not sent.
    pub(crate) fn get(&self, index: usize) -> Option<&FieldValue<'a>> {
        self.values.get(index)?.as_ref()
    }

    /// Stores a field whose value is of the kind its table says.
    pub(crate) fn set(&mut self, index: usize, value: FieldValue<'a>) {
        if let Some(place) = self.values.get_mut(index) {
            *place = Some(value);
        }
    }

    /// The record's table, and the values in its order; the slice is longer than the table.
    pub(crate) fn table_mut(&mut self) -> (&'static [FieldSpec], &mut [Option<FieldValue<'a>>]) {
        (self.stream.fields(), &mut self.values)
    }

    /// Every field of the table with its value, in the order of the table.
    pub(crate) fn fields(
        &self,
    ) -> impl Iterator<Item = (&'static FieldSpec, Option<&FieldValue<'a>>)> {
        let values = self.values.iter().map(Option::as_ref);
        self.stream.fields().iter().zip(values)
    }

    /// The time the agent put into the record.
    pub(crate) fn sent_time(&self) -> Option<Timestamp> {
        match self.get(self.places().time) {
            Some(FieldValue::Time(time)) => Some(*time),
            _ => None,
        }
    }

    /// The instance that posted; empty when the record has none.
    pub(crate) fn instance_id(&self) -> &str {
        self.text(self.places().instance)
    }

    /// The user of the record; empty when the record has none.
    pub(crate) fn username(&self) -> &str {
        self.text(self.places().username)
    }

    fn text(&self, index: usize) -> &str {
        match self.get(index) {
            Some(FieldValue::Text(text)) => text,
            _ => "",
        }
    }

    fn places(&self) -> &'static Places {
        Places::of_stream(self.stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ProcessReport, StatsRecord};

    #[test]
    fn borrowed_record_has_the_fields_of_the_owned_one() {
        let time = Timestamp::from_unix_seconds(1_790_000_000);
        let stats = StatsRecord {
            id: Some(-7),
            update_time: Some(time),
            username: "jdoe".into(),
            instance_id: "ws-1".into(),
            ..StatsRecord::default()
        };
        let processes = ProcessReport {
            created_date: Some(time),
            instance_id: "ws-2".into(),
            ..ProcessReport::default()
        };
        for record in [
            Record::Stats(Box::new(stats)),
            Record::Processes(Box::new(processes)),
            Stream::Activity.empty_record(),
            Stream::Startup.empty_record(),
        ] {
            let borrowed = RecordRef::from_record(&record);
            assert_eq!(borrowed.stream(), record.stream());
            assert_eq!(borrowed.instance_id(), record.instance_id());
            assert_eq!(borrowed.username(), record.username());
            assert_eq!(borrowed.sent_time(), record.sent_time());
            for (index, (_, value)) in borrowed.fields().enumerate() {
                assert_eq!(value, record.fields().get(index).as_ref());
            }
        }
    }
}
