//! Records with a correct time.

use std::collections::BTreeMap;

use deskfleet::{RetentionDays, Timestamp};

use crate::demand;
use crate::simulation::fact::{Ending, Fact, Intent, Mark, Observer, Reading, Verdict};

use super::records::{key, seen};

const HOUR: i64 = 3600;
const DAY: i64 = 86_400;
/// A record that is further ahead of the clock is filed at its receipt.
const AHEAD_SECONDS: i64 = 300;
/// A record with a correct time is at most this many days old when it is sent.
const RECENT_DAYS: i64 = 5;
/// A clock that is wrong for this long, since it was right and upkeep was done, is an episode: too short for retention
/// to believe it.
const EPISODE_SECONDS: i64 = 20 * HOUR;

/// What is known of a record.
#[derive(Debug, Default)]
struct Dated {
    /// Acknowledged, with a correct time.
    accepted: bool,
    /// Sent in a way that leaves the day of filing open.
    elsewhere: bool,
    /// Too old, or the clock was ahead for so long that retention may take it for that.
    old: bool,
}

/// A record with a correct time is filed once, under its own day, however often it is sent while the clock is wrong for
/// less than a day, unless the clock makes the record one of the future. It is kept for its days, less a day for each hour that the clock was ahead.
#[derive(Debug, Default)]
pub struct RightTimes {
    records: BTreeMap<Mark, Dated>,
    /// Sent and not answered, each with whether it must be filed under its own day.
    open: BTreeMap<u64, Vec<(Mark, bool)>>,
    /// What the clock shows and what it should show.
    clock: Option<(Timestamp, Timestamp)>,
    /// When the clock was last right and a sweep was done, in correct time.
    trusted: Option<Timestamp>,
    /// The time of the last sweep.
    swept: Option<Timestamp>,
    /// Days by which retention may be ahead since then.
    lead_days: i64,
    /// Seconds by which the clock was ahead for a part of an hour.
    ahead_seconds: i64,
}

impl RightTimes {
    fn right(&self) -> Option<Timestamp> {
        self.clock.map(|(_, right)| right)
    }

    fn is_ahead(&self) -> bool {
        self.clock
            .is_some_and(|(shown, right)| shown > right.plus_seconds(DAY))
    }

    fn moved(&mut self, shown: Timestamp, right: Timestamp) {
        let before = self.right().unwrap_or(right);
        let was_ahead = self.is_ahead();
        self.clock = Some((shown, right));
        if !self.is_ahead() {
            return;
        }
        if was_ahead {
            self.ahead_seconds += (right.ticks() - before.ticks()) / 10_000_000;
            self.lead_days += self.ahead_seconds / HOUR;
            self.ahead_seconds %= HOUR;
        } else {
            // The advance before that counts for the first sweep.
            self.lead_days += 1;
        }
    }

    fn swept(&mut self, swept: Timestamp) {
        self.swept = Some(swept);
        let Some((shown, right)) = self.clock else {
            return;
        };
        if shown == right && swept <= right && swept >= right.plus_seconds(-HOUR) {
            self.trusted = Some(right);
            (self.lead_days, self.ahead_seconds) = (0, 0);
        }
    }

    fn sent(&mut self, call: u64, marks: &[Mark]) {
        let Some(right) = self.right() else { return };
        let trusted = self.trusted.map(|at| at.plus_seconds(EPISODE_SECONDS));
        let is_episode = trusted.is_some_and(|end| right <= end);
        let oldest = right.plus_seconds(-RECENT_DAYS * DAY);
        // By a clock that is behind, which nothing reveals, the record is of the future.
        let is_behind = |shown: Timestamp| self.swept.is_some_and(|swept| shown < swept);
        let newest = self.clock.map_or(right, |(shown, _)| match shown {
            shown if is_behind(shown) => right,
            shown => right.min(shown.plus_seconds(AHEAD_SECONDS)),
        });
        let is_right = |sent: Timestamp| sent <= newest && sent >= oldest;
        let marks = marks.iter().map(|mark| {
            let stands = is_episode && mark.sent.is_some_and(is_right);
            (key(mark), stands)
        });
        self.open.insert(call, marks.collect());
    }

    fn ended(&mut self, call: u64, ending: &Ending) {
        let marks = self.open.remove(&call).unwrap_or_default();
        if matches!(ending, Ending::Refused(_)) {
            return;
        }
        for (mark, stands) in marks {
            let record = self.records.entry(mark).or_default();
            record.elsewhere |= !stands;
            record.accepted |= stands && *ending == Ending::Done;
        }
    }

    fn retained(&mut self) {
        let Some(right) = self.right() else { return };
        let latest = right.plus_seconds((self.lead_days + 1) * DAY);
        for (mark, record) in &mut self.records {
            let days = i64::from(RetentionDays::default().for_stream(mark.stream));
            let first_kept = latest.plus_seconds(-days * DAY).day();
            record.old |= mark.sent.is_none_or(|sent| sent.day() < first_kept);
        }
    }

    fn compare(&mut self, reading: &Reading) -> Verdict {
        let mut found: BTreeMap<Mark, Vec<u32>> = BTreeMap::new();
        for ((stream, instance), records) in &reading.records {
            for held in records {
                let mark = seen(*stream, instance, &held.record)?;
                found.entry(mark).or_default().push(held.filed_at.day());
            }
        }
        for (mark, record) in &self.records {
            let days = found.get(mark).map_or(&[][..], Vec::as_slice);
            let own = mark.sent.map(Timestamp::day);
            let stands = days.iter().all(|day| Some(*day) == own) && days.len() <= 1;
            demand!(
                record.elsewhere || stands,
                "{mark:?} is filed under the days {days:?}"
            );
            let is_kept = !record.accepted || record.old || !days.is_empty();
            demand!(is_kept, "{mark:?} is gone before its time");
        }
        // A removed record may be sent again, as another one.
        self.records.retain(|mark, _| found.contains_key(mark));
        for record in self.records.values_mut() {
            record.accepted |= !record.elsewhere;
        }
        Ok(())
    }
}

impl Observer for RightTimes {
    fn promise(&self) -> &'static str {
        "a record with a correct time is filed once, under its own day, and kept for its days, whatever the clock shows"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        match fact {
            Fact::Clock(shown, right) => self.moved(*shown, *right),
            Fact::Swept(_, _, swept) => self.swept(*swept),
            Fact::Retained(..) => self.retained(),
            Fact::Sent(call, Intent::Telemetry(marks), _) => self.sent(*call, marks),
            Fact::Answered(call, Intent::Telemetry(_), ending, _) => self.ended(*call, ending),
            Fact::Lost(call, Intent::Telemetry(_)) => self.ended(*call, &Ending::Unknown),
            Fact::Read(reading) => return self.compare(reading),
            _ => {}
        }
        Ok(())
    }
}
