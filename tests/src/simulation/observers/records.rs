//! Acknowledged telemetry.

use std::collections::BTreeMap;

use deskfleet::{Received, Record, RetentionDays, Stream, Timestamp};

use crate::demand;
use crate::simulation::fact::{Ending, Fact, Intent, Mark, Observer, Reading, Verdict};
use crate::simulation::fleet::{USERS, same_name};

use super::held::Held;

/// Where copies of a record may be. A record with a time is filed once under each day on which it was accepted; a
/// record without one, once for each time it was accepted.
#[derive(Debug, Default)]
struct Copies {
    days: BTreeMap<u32, Copy>,
    timed: bool,
}

/// Copies of a record on one day.
#[derive(Debug, Default)]
struct Copy {
    /// Accepted for certain.
    certain: usize,
    /// May have been accepted.
    unknown: usize,
    /// Whether a sweep may have removed them.
    old: bool,
}

impl Copy {
    fn allowed(&self, timed: bool) -> (usize, usize) {
        let most = if timed { 1 } else { usize::MAX };
        let least = if self.old { 0 } else { self.certain.min(most) };
        (least, (self.certain + self.unknown).min(most))
    }
}

/// Every acknowledged record is there exactly once, and no refused one is; a retry changes nothing. A sweep removes
/// only what is too old by the later of filed and sent time, and nothing that could belong to a held workspace.
#[derive(Debug, Default)]
pub struct Records {
    copies: BTreeMap<Mark, Copies>,
    /// Sent and not answered.
    open: BTreeMap<u64, Vec<Mark>>,
    held: Held,
}

/// What identifies a record, apart from the day under which it is filed.
pub(super) fn key(mark: &Mark) -> Mark {
    Mark {
        filed_day: 0,
        ..mark.clone()
    }
}

/// The mark of a record that was read, apart from the day.
pub(super) fn seen(
    stream: Stream,
    instance: &'static str,
    record: &Record,
) -> Result<Mark, String> {
    let user = USERS.iter().find(|user| **user == record.username());
    let items = match record {
        Record::Processes(report) => report.processes.as_ref().map_or(0, Vec::len),
        Record::Stats(_) | Record::Activity(_) | Record::Startup(_) => 1,
    };
    Ok(Mark {
        number: record_number(record).ok_or("a record without a number")?,
        stream,
        instance,
        user: user.ok_or("a record of another user")?,
        items: u16::try_from(items).unwrap_or(0),
        sent: record.sent_time(),
        filed_day: 0,
    })
}

/// The number of a record of the simulation.
pub(in crate::simulation) fn record_number(record: &Record) -> Option<i32> {
    match record {
        Record::Stats(record) => record.id,
        Record::Activity(record) => record.id,
        Record::Startup(record) => record.id,
        Record::Processes(report) => {
            let item = report.processes.as_ref()?.last()?;
            item.process_count
                .and_then(|count| i32::try_from(count).ok())
        }
    }
}

impl Records {
    fn record_marks(&mut self, marks: &[Mark], certain: bool) {
        for mark in marks {
            let copies = self.copies.entry(key(mark)).or_default();
            copies.timed = mark.sent.is_some();
            let copy = copies.days.entry(mark.filed_day).or_default();
            *(if certain {
                &mut copy.certain
            } else {
                &mut copy.unknown
            }) += 1;
            // It was stored again, or still is.
            copy.old &= !(certain && copies.timed);
        }
    }

    fn ended(&mut self, call: u64, ending: &Ending) {
        if let Some(marks) = self.open.remove(&call) {
            match ending {
                Ending::Done => self.record_marks(&marks, true),
                Ending::Unknown => self.record_marks(&marks, false),
                Ending::Refused(_) => {}
            }
        }
    }

    /// Retention was applied as of `at`, by a clock that showed `now`.
    fn retained(&mut self, at: Timestamp, now: Timestamp) {
        let held = self.held.names();
        let newest = at.max(now).plus_seconds(300);
        for (mark, copies) in &mut self.copies {
            let days = i64::from(RetentionDays::default().for_stream(mark.stream));
            let first_kept = at.plus_seconds(-days * 86_400).day();
            let is_recent = |sent: Timestamp| sent.day() >= first_kept && sent <= newest;
            let is_held =
                held.contains(same_name(mark.instance)) || held.contains(same_name(mark.user));
            if is_held || mark.sent.is_some_and(is_recent) {
                continue;
            }
            for (_, copy) in copies.days.range_mut(..first_kept) {
                copy.old = true;
            }
        }
    }

    fn compare(&mut self, reading: &Reading) -> Verdict {
        let mut found: BTreeMap<(Mark, u32), usize> = BTreeMap::new();
        for ((stream, instance), records) in &reading.records {
            let places: Vec<_> = records.iter().map(sort_key).collect();
            demand!(
                places.is_sorted(),
                "{stream:?} of {instance:?} out of order"
            );
            for held in records {
                let mark = self.mark(*stream, instance, held)?;
                *found.entry((mark, held.filed_at.day())).or_default() += 1;
            }
        }
        for (mark, copies) in &self.copies {
            for (day, copy) in &copies.days {
                let count = found.remove(&(mark.clone(), *day)).unwrap_or(0);
                let (least, most) = copy.allowed(copies.timed);
                demand!(
                    (least..=most).contains(&count),
                    "{mark:?} is there {count} times on day {day}, at least {least} and at most {most} were accepted"
                );
            }
        }
        if let Some(((mark, day), count)) = found.first_key_value() {
            return Err(format!(
                "{mark:?} is there {count} times on day {day}, for which it was not sent"
            ));
        }
        Ok(())
    }

    /// The record's mark, if such a record was ever sent.
    fn mark(
        &self,
        stream: Stream,
        instance: &'static str,
        held: &Received,
    ) -> Result<Mark, String> {
        let mark = seen(stream, instance, &held.record)?;
        demand!(
            self.copies.contains_key(&mark),
            "{mark:?} is there, but was never accepted"
        );
        Ok(mark)
    }

    /// After a reading of durable data only, nothing is indeterminate.
    fn settle(&mut self, reading: &Reading) {
        let mut counts: BTreeMap<(Mark, u32), usize> = BTreeMap::new();
        for ((stream, instance), records) in &reading.records {
            for held in records {
                if let Ok(mark) = self.mark(*stream, instance, held) {
                    *counts.entry((mark, held.filed_at.day())).or_default() += 1;
                }
            }
        }
        for (mark, copies) in &mut self.copies {
            copies.days.retain(|day, copy| {
                copy.certain = counts.get(&(mark.clone(), *day)).copied().unwrap_or(0);
                copy.unknown = 0;
                copy.certain > 0
            });
        }
    }
}

fn sort_key(held: &Received) -> (Timestamp, Timestamp) {
    (held.filed_at, held.received_at)
}

impl Observer for Records {
    fn promise(&self) -> &'static str {
        "acknowledged records are there exactly once"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        self.held.see(fact);
        match fact {
            Fact::Sent(call, Intent::Telemetry(marks), _) => {
                self.open.insert(*call, marks.clone());
            }
            Fact::Answered(call, Intent::Telemetry(_), ending, _) => self.ended(*call, ending),
            Fact::Lost(call, Intent::Telemetry(_)) => self.ended(*call, &Ending::Unknown),
            Fact::Retained(at, now) => self.retained(*at, *now),
            Fact::Read(reading) => {
                self.compare(reading)?;
                self.settle(reading);
            }
            _ => {}
        }
        Ok(())
    }
}
