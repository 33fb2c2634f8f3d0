//! The rollups of each desktop, looked up by the names of workspaces.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::error::Result;
use crate::model::Metric;
use crate::model::identity::folded;
use crate::model::row::rounded;
use crate::store::fleet::workspaces::{self, EntryRef};
use crate::store::rollup::latest::SessionEvent;
use crate::store::rollup::{DayRef, Histogram, LatestRef, Summary, latest, scan_window, unstored};
use crate::store::table::{ALL_KEYS, Snapshot, Step};
use crate::timestamp::Timestamp;
use crate::view::{Reader, activity};

use super::health::Use;
use super::sessions::Sessions;

/// The figures of a desktop in its newest Stats record.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Figures {
    pub(super) last_seen: Option<Timestamp>,
    pub(super) clock_ahead_seconds: Option<i64>,
    pub(super) cpu: Option<f64>,
    pub(super) memory: Option<f64>,
    pub(super) root_volume: Option<f64>,
    pub(super) user_volume: Option<f64>,
    pub(super) uptime_seconds: Option<i64>,
    pub(super) window: WindowFigures,
}

/// The figures of a desktop in some days.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct WindowFigures {
    pub(super) cpu_avg: Option<f64>,
    pub(super) cpu_p95: Option<f64>,
    pub(super) memory_p95: Option<f64>,
    pub(super) health_score: Option<f64>,
}

/// A figure of a desktop in some days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowFigure {
    CpuAvg,
    CpuP95,
    MemoryP95,
    HealthScore,
}

impl WindowFigure {
    pub(super) const ALL: [Self; 4] = [
        Self::CpuAvg,
        Self::CpuP95,
        Self::MemoryP95,
        Self::HealthScore,
    ];
}

/// Days, and the wanted figures.
#[derive(Debug, Clone)]
pub(super) struct Window {
    pub(super) days: RangeInclusive<u32>,
    pub(super) wanted: Vec<WindowFigure>,
}

impl Window {
    /// The rollups of its days, and the newest activity that begins or ends a session.
    pub(super) fn figures(
        &self,
        days: &[DayRef<'_>],
        session: Option<SessionEvent>,
    ) -> Result<WindowFigures> {
        let mut figures = WindowFigures::default();
        let p95 = |metric| -> Result<Option<f64>> { Ok(quantile(days, metric, 95)?.map(unstored)) };
        for wanted in &self.wanted {
            match wanted {
                WindowFigure::CpuAvg => {
                    let mean = summary(days, Metric::Cpu)?.mean();
                    figures.cpu_avg = mean.and_then(|mean| rounded(mean / 100.0));
                }
                WindowFigure::CpuP95 => figures.cpu_p95 = p95(Metric::Cpu)?,
                WindowFigure::MemoryP95 => figures.memory_p95 = p95(Metric::Memory)?,
                WindowFigure::HealthScore => figures.health_score = health_score(days, session)?,
            }
        }
        Ok(figures)
    }
}

/// The sum of a metric over the days of a desktop.
pub(super) fn summary(days: &[DayRef<'_>], metric: Metric) -> Result<Summary> {
    let mut all = Summary::default();
    for day in days {
        all.merge(&day.summary(metric)?);
    }
    Ok(all)
}

/// A quantile of a metric in the days of a desktop, in hundredths; within the least and the greatest value.
pub(super) fn quantile(days: &[DayRef<'_>], metric: Metric, percent: u64) -> Result<Option<i64>> {
    let mut all = Histogram::default();
    for day in days {
        if let Some(histogram) = day.histogram(metric)? {
            all.merge(&histogram);
        }
    }
    let Some(value) = all.quantile(percent) else {
        return Ok(None);
    };
    let bounds = summary(days, metric)?;
    Ok(Some(value.clamp(bounds.min, bounds.max)))
}

/// The health score of a desktop in some days, by the newest activity that begins or ends a session; `None` while nobody used it.
pub(super) fn health_score(
    days: &[DayRef<'_>],
    session: Option<SessionEvent>,
) -> Result<Option<f64>> {
    let first = days.last().map_or(0, |day| day.day);
    let mut sessions = Sessions::after_activity(Timestamp::from_day(first), session);
    let mut used = Use::default();
    // The days come newest first.
    for day in days.iter().rev() {
        let slots = day.slots()?;
        used.add(&slots, &sessions.used(&slots));
    }
    Ok(used.health_score().and_then(rounded))
}

/// [`Figures`] in half the memory: anybody who may post invents any number of instances.
#[derive(Debug, Clone, Copy)]
struct Packed {
    last_seen: i64,
    clock_ahead_seconds: i64,
    uptime_seconds: i64,
    /// In the order of the fields; NaN for none.
    numbers: [f64; 8],
}

impl Packed {
    /// The value for no time and for no whole number.
    const NONE: i64 = i64::MIN;

    fn unpack(self) -> Figures {
        let whole = |value: i64| (value != Self::NONE).then_some(value);
        let numbers = self
            .numbers
            .map(|number| (!number.is_nan()).then_some(number));
        let [
            cpu,
            memory,
            root_volume,
            user_volume,
            cpu_avg,
            cpu_p95,
            memory_p95,
            health_score,
        ] = numbers;
        Figures {
            last_seen: whole(self.last_seen).map(Timestamp::from_ticks),
            clock_ahead_seconds: whole(self.clock_ahead_seconds),
            cpu,
            memory,
            root_volume,
            user_volume,
            uptime_seconds: whole(self.uptime_seconds),
            window: WindowFigures {
                cpu_avg,
                cpu_p95,
                memory_p95,
                health_score,
            },
        }
    }
}

impl From<&Figures> for Packed {
    fn from(figures: &Figures) -> Self {
        let window = &figures.window;
        let numbers = [
            figures.cpu,
            figures.memory,
            figures.root_volume,
            figures.user_volume,
            window.cpu_avg,
            window.cpu_p95,
            window.memory_p95,
            window.health_score,
        ];
        Self {
            last_seen: figures.last_seen.map_or(Self::NONE, Timestamp::ticks),
            clock_ahead_seconds: figures.clock_ahead_seconds.unwrap_or(Self::NONE),
            uptime_seconds: figures.uptime_seconds.unwrap_or(Self::NONE),
            numbers: numbers.map(|number| number.unwrap_or(f64::NAN)),
        }
    }
}

/// The figures of all desktops, by the keys of their instances.
#[derive(Debug, Default)]
pub(super) struct Desktops {
    /// All keys, one after the other, in their order.
    keys: Vec<u8>,
    /// Where each key ends, and its figures.
    known: Vec<(usize, Packed)>,
    /// The folded names of computers that several workspaces have.
    shared_computers: BTreeSet<String>,
}

impl Desktops {
    /// Reads the figures, and those of a window if one is given.
    pub(super) fn read(snapshot: &Snapshot, window: Option<&Window>) -> Result<Self> {
        let mut all = Self {
            shared_computers: workspaces::shared_computers(snapshot)?,
            ..Self::default()
        };
        let mut add = |key: &[u8], row: &LatestRef<'_>, days: &[DayRef<'_>]| {
            let window = window
                .map(|window| window.figures(days, row.session))
                .transpose()?;
            all.keys.extend_from_slice(key);
            let figures = Figures {
                window: window.unwrap_or_default(),
                ..figures(row)
            };
            all.known.push((all.keys.len(), Packed::from(&figures)));
            Ok(Step::Continue(()))
        };
        match window {
            Some(window) => scan_window(snapshot, window.days.clone(), &mut add)?,
            None => latest::scan(snapshot, ALL_KEYS, &mut |key, row| add(key, &row, &[]))?,
        }
        Ok(all)
    }

    fn key(&self, place: usize) -> &[u8] {
        let end = |place: usize| self.known.get(place).map_or(0, |(end, _)| *end);
        let start = place.checked_sub(1).map_or(0, end);
        self.keys.get(start..end(place)).unwrap_or_default()
    }

    fn find(&self, name: &str) -> Option<Figures> {
        let key = latest::key(name);
        let (mut low, mut high) = (0, self.known.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.key(middle) < key.as_slice() {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let (_, figures) = self.known.get(low)?;
        (self.key(low) == key).then(|| figures.unpack())
    }

    /// The figures of a workspace, whose agent sends its id or the name of its computer; the newer ones if both exist.
    pub(super) fn find_workspace(&self, entry: &EntryRef<'_>) -> Option<Figures> {
        let named = self.find(entry.id());
        let computer = entry.computer_name().and_then(|name| {
            let found = self.find(name)?;
            (!self.shared_computers.contains(folded(name).as_ref())).then_some(found)
        });
        newer(named, computer)
    }
}

/// The figures of one workspace as [`Desktops::find_workspace`] finds them, by lookups: for those on a page, without reading all.
pub(super) fn figures_of(
    read: &Snapshot,
    id: &str,
    computer: Option<&str>,
) -> Result<Option<Figures>> {
    let find = |name: &str| latest::with_row(read, name, |row| Ok(figures(&row)));
    let named = find(id)?;
    let computer = match computer {
        Some(name) => match find(name)? {
            Some(found) if !workspaces::is_shared_computer(read, name)? => Some(found),
            Some(_) | None => None,
        },
        None => None,
    };
    Ok(newer(named, computer))
}

/// The newer of the figures by the id and those by the name of the computer.
fn newer(named: Option<Figures>, computer: Option<Figures>) -> Option<Figures> {
    match (named, computer) {
        (Some(named), Some(computer)) if named.last_seen > computer.last_seen => Some(named),
        (named, computer) => computer.or(named),
    }
}

/// The instances of a workspace: its id, and the name of its computer if no other workspace has that name.
pub(super) fn instances<'e>(
    reader: &Reader,
    id: &'e str,
    computer: Option<&'e str>,
) -> Result<Vec<&'e str>> {
    let mut names = vec![id];
    if let Some(computer) = computer
        && folded(computer) != folded(id)
        && activity::workspace_of(reader, computer)?.as_deref() == Some(id)
    {
        names.push(computer);
    }
    Ok(names)
}

fn figures(row: &LatestRef<'_>) -> Figures {
    let value = |metric| row.value(metric).map(unstored);
    Figures {
        last_seen: row.stats.as_ref().map(|newest| newest.order.0),
        clock_ahead_seconds: row.stats.as_ref().and_then(|newest| {
            let seconds = i64::try_from(newest.seconds_ahead).ok();
            seconds.filter(|seconds| *seconds > 0)
        }),
        cpu: value(Metric::Cpu),
        memory: value(Metric::Memory),
        root_volume: value(Metric::RootVolume),
        user_volume: value(Metric::UserVolume),
        uptime_seconds: row.value(Metric::Uptime).map(|uptime| uptime / 100),
        window: WindowFigures::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_figures_take_half_the_memory_and_are_the_same() {
        assert!(2 * size_of::<Packed>() <= size_of::<Figures>());
        let none = Figures::default();
        let some = Figures {
            last_seen: Some(Timestamp::UNIX_EPOCH),
            cpu: Some(0.0),
            uptime_seconds: Some(0),
            window: WindowFigures {
                health_score: Some(99.5),
                ..WindowFigures::default()
            },
            ..none
        };
        for figures in [none, some] {
            assert_eq!(Packed::from(&figures).unpack(), figures);
        }
    }
}
