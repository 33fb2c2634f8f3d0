//! The four telemetry streams and what is common to their records.

use crate::timestamp::Timestamp;

use super::{
    ActivityRecord, FieldSpec, Fields, Nullable, ProcessReport, StartupRecord, StatsRecord,
};

/// One of the four kinds of telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Stream {
    /// Resource statistics.
    Stats = 1,
    /// User activity.
    Activity = 2,
    /// Startup timings.
    Startup = 3,
    /// Per-process usage.
    Processes = 4,
}

impl Stream {
    /// Every stream, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Stats, Self::Activity, Self::Startup, Self::Processes];

    /// The name in operator paths and batch lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stats => "stats",
            Self::Activity => "activity",
            Self::Startup => "startup",
            Self::Processes => "processes",
        }
    }

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

    /// The table of the stream's records.
    #[must_use]
    pub const fn fields(self) -> &'static [FieldSpec] {
        match self {
            Self::Stats => StatsRecord::FIELDS,
            Self::Activity => ActivityRecord::FIELDS,
            Self::Startup => StartupRecord::FIELDS,
            Self::Processes => ProcessReport::FIELDS,
        }
    }

    /// A record of the stream in which nothing was sent.
    #[must_use]
    pub fn empty_record(self) -> Record {
        match self {
            Self::Stats => Record::Stats(Box::default()),
            Self::Activity => Record::Activity(Box::default()),
            Self::Startup => Record::Startup(Box::default()),
            Self::Processes => Record::Processes(Box::default()),
        }
    }
}

/// A telemetry record of any stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// Resource statistics.
    Stats(Box<StatsRecord>),
    /// User activity.
    Activity(Box<ActivityRecord>),
    /// Startup timings.
    Startup(Box<StartupRecord>),
    /// Per-process usage.
    Processes(Box<ProcessReport>),
}

impl From<StatsRecord> for Record {
    fn from(record: StatsRecord) -> Self {
        Self::Stats(Box::new(record))
    }
}

impl From<ActivityRecord> for Record {
    fn from(record: ActivityRecord) -> Self {
        Self::Activity(Box::new(record))
    }
}

impl From<StartupRecord> for Record {
    fn from(record: StartupRecord) -> Self {
        Self::Startup(Box::new(record))
    }
}

impl From<ProcessReport> for Record {
    fn from(record: ProcessReport) -> Self {
        Self::Processes(Box::new(record))
    }
}

impl Record {
    /// The stream the record belongs to.
    #[must_use]
    pub fn stream(&self) -> Stream {
        match self {
            Self::Stats(_) => Stream::Stats,
            Self::Activity(_) => Stream::Activity,
            Self::Startup(_) => Stream::Startup,
            Self::Processes(_) => Stream::Processes,
        }
    }

    /// The fields, to read.
    #[must_use]
    pub fn fields(&self) -> &dyn Fields {
        match self {
            Self::Stats(record) => record.as_ref(),
            Self::Activity(record) => record.as_ref(),
            Self::Startup(record) => record.as_ref(),
            Self::Processes(record) => record.as_ref(),
        }
    }

    /// The fields, to fill.
    pub fn fields_mut(&mut self) -> &mut dyn Fields {
        match self {
            Self::Stats(record) => record.as_mut(),
            Self::Activity(record) => record.as_mut(),
            Self::Startup(record) => record.as_mut(),
            Self::Processes(record) => record.as_mut(),
        }
    }

    /// The time the agent put into the record.
    #[must_use]
    pub fn sent_time(&self) -> Option<Timestamp> {
        match self {
            Self::Stats(record) => record.update_time,
            Self::Activity(record) => record.activity_time,
            Self::Startup(record) => record.baseline_utc,
            Self::Processes(record) => record.created_date,
        }
    }

    /// The instance that posted; empty when the record has none.
    #[must_use]
    pub fn instance_id(&self) -> &str {
        let id = match self {
            Self::Stats(record) => &record.instance_id,
            Self::Activity(record) => &record.instance_id,
            Self::Startup(record) => &record.instance_id,
            Self::Processes(record) => &record.instance_id,
        };
        text_or_empty(id)
    }

    /// The user of the record; empty when the record has none.
    #[must_use]
    pub fn username(&self) -> &str {
        let name = match self {
            Self::Stats(record) => &record.username,
            Self::Activity(record) => &record.username,
            Self::Startup(record) => &record.username,
            Self::Processes(record) => &record.username,
        };
        text_or_empty(name)
    }
}

fn text_or_empty(text: &Nullable<String>) -> &str {
    text.value().map_or("", String::as_str)
}

/// A record with the times the engine gave it.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    /// The record as posted.
    pub record: Record,
    /// When the engine accepted it.
    pub received_at: Timestamp,
    /// Its time in history: the sent time, or the time of receipt if the sent time is absent or not believable.
    pub filed_at: Timestamp,
}

/// The order of a history: filed time, then receipt.
pub(crate) fn history_order(received: &Received) -> (Timestamp, Timestamp) {
    (received.filed_at, received.received_at)
}
