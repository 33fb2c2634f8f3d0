//! The four telemetry streams and what is common to their records.

use std::borrow::Cow;

use crate::timestamp::Timestamp;

use super::{
    ActivityRecord, FieldSpec, FieldValue, Fields, Places, ProcessReport, StartupRecord,
    StatsRecord,
};

/// Declares the streams: the number in the file, the name, the record, and the field of the time that the agent puts into it.
macro_rules! streams {
    ($($(#[$meta:meta])* $stream:ident = $number:literal, $name:literal, $record:ident, $time:literal;)+) => {
        /// One of the four kinds of telemetry.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Stream { $($(#[$meta])* $stream = $number,)+ }

        impl Stream {
            /// Every stream, in the order of their numbers.
            pub const ALL: [Self; [$($number),+].len()] = [$(Self::$stream),+];

            /// The name in operator paths and batch lines.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$stream => $name,)+ }
            }

            /// The table of the stream's records.
            #[must_use]
            pub const fn fields(self) -> &'static [FieldSpec] {
                match self { $(Self::$stream => $record::FIELDS,)+ }
            }

            /// A record of the stream in which nothing was sent.
            #[must_use]
            pub fn empty_record(self) -> Record {
                match self { $(Self::$stream => Record::$stream(Box::default()),)+ }
            }
        }

        impl Places {
            /// The places in the records of a stream.
            pub(crate) const fn of_stream(stream: Stream) -> &'static Self {
                match stream {
                    $(Stream::$stream => const { &Self::from_fields($record::FIELDS, $time) },)+
                }
            }
        }

        /// A telemetry record of any stream. With `serde` it is an object with the name of the stream, as a line of a batch is:
        /// `{"stats":{"instanceId":"ws-1"}}`.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub enum Record { $($(#[$meta])* $stream(Box<$record>),)+ }

        $(impl From<$record> for Record {
            fn from(record: $record) -> Self {
                Self::$stream(Box::new(record))
            }
        })+

        impl Record {
            /// The stream the record belongs to.
            #[must_use]
            pub fn stream(&self) -> Stream {
                match self { $(Self::$stream(_) => Stream::$stream,)+ }
            }

            /// The fields, to read.
            #[must_use]
            pub fn fields(&self) -> &dyn Fields {
                match self { $(Self::$stream(record) => record.as_ref(),)+ }
            }

            /// The fields, to fill.
            pub fn fields_mut(&mut self) -> &mut dyn Fields {
                match self { $(Self::$stream(record) => record.as_mut(),)+ }
            }
        }
    };
}

streams! {
    /// Resource statistics.
    Stats = 1, "stats", StatsRecord, "updatetime";
    /// User activity.
    Activity = 2, "activity", ActivityRecord, "activityTime";
    /// Startup timings.
    Startup = 3, "startup", StartupRecord, "baselineUtc";
    /// Per-process usage.
    Processes = 4, "processes", ProcessReport, "createdDate";
}

impl Stream {
    /// The stream of that [`name`](Self::name).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stream| stream.name() == name)
    }

    /// The stream's number in the file.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The stream of a [`number`](Self::number).
    pub(crate) fn numbered(number: u8) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|stream| stream.number() == number)
    }
}

impl Record {
    fn places(&self) -> &'static Places {
        Places::of_stream(self.stream())
    }

    /// The time the agent put into the record.
    #[must_use]
    pub fn sent_time(&self) -> Option<Timestamp> {
        match self.fields().get(self.places().time) {
            Some(FieldValue::Time(time)) => Some(time),
            _ => None,
        }
    }

    /// The instance that posted; empty when the record has none.
    #[must_use]
    pub fn instance_id(&self) -> &str {
        self.text(self.places().instance)
    }

    /// The user of the record; empty when the record has none.
    #[must_use]
    pub fn username(&self) -> &str {
        self.text(self.places().username)
    }

    fn text(&self, index: usize) -> &str {
        match self.fields().get(index) {
            Some(FieldValue::Text(Cow::Borrowed(text))) => text,
            _ => "",
        }
    }
}

/// A record with the times the engine gave it.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    /// The record as posted.
    pub record: Record,
    /// When the engine received it; of a batch, when it was put in. It is durable a moment later, so of two records the one received
    /// first may be accepted last: [`Engine::accepted`](crate::Engine::accepted) has the order of acceptance.
    pub received_at: Timestamp,
    /// Its time in history: the sent time, or the time of receipt if the sent time is absent or more than five minutes ahead. However old it is, it
    /// is accepted, and retention goes by it.
    pub filed_at: Timestamp,
}

/// The order of a history: filed time, then receipt.
pub(crate) fn history_order(received: &Received) -> (Timestamp, Timestamp) {
    (received.filed_at, received.received_at)
}
