//! What is measured of a desktop, under the names by which it is asked for.

use super::places::field_index;
use super::{StartupRecord, StatsRecord};

/// A figure of a desktop. A value of it is null where a field that it needs was not sent, or where it would be divided by zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Metric {
    /// Processor load in percent: `processorInUse`.
    Cpu,
    /// Physical memory in use in percent: 100 × (1 − `availablePhysicalMemory` ÷ `physicalMemory`). Where a record lacks one of the two,
    /// `memoryInUse` stands for it: as the difference of both.
    Memory,
    /// Used space of the root volume in percent, from `rootTotal` and `rootAvailable`.
    RootVolume,
    /// Used space of the user volume in percent, from `userTotal` and `userAvailable`.
    UserVolume,
    /// Disk reads in operations per second.
    DiskReads,
    /// Disk writes in operations per second.
    DiskWrites,
    /// Network traffic received in bytes per second.
    NetworkReceived,
    /// Network traffic sent in bytes per second.
    NetworkSent,
    /// Time since the instance started, in seconds.
    Uptime,
    /// Duration of a startup in milliseconds: `totalMs`.
    StartupTotal,
    /// 100 × (1 − impacted ÷ active minutes), while somebody uses the desktop.
    HealthScore,
}

impl Metric {
    /// Every metric.
    pub const ALL: [Self; 11] = [
        Self::Cpu,
        Self::Memory,
        Self::RootVolume,
        Self::UserVolume,
        Self::DiskReads,
        Self::DiskWrites,
        Self::NetworkReceived,
        Self::NetworkSent,
        Self::Uptime,
        Self::StartupTotal,
        Self::HealthScore,
    ];
    /// Those of a Stats record.
    pub const OF_STATS: [Self; 9] = [
        Self::Cpu,
        Self::Memory,
        Self::RootVolume,
        Self::UserVolume,
        Self::DiskReads,
        Self::DiskWrites,
        Self::NetworkReceived,
        Self::NetworkSent,
        Self::Uptime,
    ];

    /// The name in queries and responses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::RootVolume => "rootVolume",
            Self::UserVolume => "userVolume",
            Self::DiskReads => "diskReads",
            Self::DiskWrites => "diskWrites",
            Self::NetworkReceived => "networkReceived",
            Self::NetworkSent => "networkSent",
            Self::Uptime => "uptime",
            Self::StartupTotal => "startupTotal",
            Self::HealthScore => "healthScore",
        }
    }
}

/// What is made of the samples of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Statistic {
    /// The 95th percentile.
    P95,
    /// The median.
    P50,
    /// The mean.
    Avg,
    /// The greatest.
    Max,
    /// The least.
    Min,
    /// The newest.
    Last,
}

impl Statistic {
    /// Every statistic.
    pub const ALL: [Self; 6] = [
        Self::P95,
        Self::P50,
        Self::Avg,
        Self::Max,
        Self::Min,
        Self::Last,
    ];

    /// The name in queries and responses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::P95 => "p95",
            Self::P50 => "p50",
            Self::Avg => "avg",
            Self::Max => "max",
            Self::Min => "min",
            Self::Last => "last",
        }
    }

    /// Those of a metric; the first is the default.
    #[must_use]
    pub const fn for_metric(metric: Metric) -> &'static [Self] {
        match metric {
            Metric::Cpu | Metric::Memory => &Self::ALL,
            Metric::RootVolume | Metric::UserVolume => {
                &[Self::Last, Self::Avg, Self::Max, Self::Min]
            }
            Metric::DiskReads
            | Metric::DiskWrites
            | Metric::NetworkReceived
            | Metric::NetworkSent => &[Self::Avg, Self::Max, Self::Min, Self::Last],
            Metric::Uptime => &[Self::Last],
            Metric::StartupTotal => &[Self::Max, Self::Avg, Self::Min],
            Metric::HealthScore => &[],
        }
    }
}

/// How a metric of a Stats record is made from its fields, by their places.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    /// The percentage in an integer field.
    Percent(usize),
    /// The value of a `float` field.
    Float(usize),
    /// The value of a `double` field.
    Double(usize),
    /// The percentage in use of two integer fields.
    Used { total: usize, available: usize },
    /// The same, of which one field may be absent where the difference of both is in a third.
    UsedOrDifference {
        total: usize,
        available: usize,
        used: usize,
    },
}

/// How each of [`Metric::OF_STATS`] is made.
pub(crate) const SOURCES: [Source; Metric::OF_STATS.len()] = [
    Source::Percent(field("processorInUse")),
    Source::UsedOrDifference {
        total: field("physicalMemory"),
        available: field("availablePhysicalMemory"),
        used: field("memoryInUse"),
    },
    used("rootTotal", "rootAvailable"),
    used("userTotal", "userAvailable"),
    Source::Float(field("diskReads")),
    Source::Float(field("diskWrites")),
    Source::Float(field("networkReceived")),
    Source::Float(field("networkSent")),
    Source::Double(field("uptime")),
];

/// The place of `totalMs` in a startup record.
pub(crate) const STARTUP_TOTAL: usize = field_index(StartupRecord::FIELDS, "totalMs");

const fn field(name: &str) -> usize {
    field_index(StatsRecord::FIELDS, name)
}

const fn used(total: &str, available: &str) -> Source {
    Source::Used {
        total: field(total),
        available: field(available),
    }
}

/// The percentage of `total` that is not `available`, if it is one.
#[expect(clippy::cast_precision_loss, reason = "a percentage is no more exact")]
pub(crate) fn used_percent(total: i64, available: i64) -> Option<f64> {
    percentage(100.0 * (1.0 - available as f64 / total as f64))
}

/// The value, if it is within 0 to 100: an agent that sends another one has measured something else.
pub(crate) fn percentage(value: f64) -> Option<f64> {
    (0.0..=100.0).contains(&value).then_some(value)
}
