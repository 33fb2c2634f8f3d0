//! Telemetry that was acknowledged.

use std::collections::{BTreeMap, BTreeSet};

use deskfleet::{Received, Record, RetentionDays, Stream, Timestamp};

use crate::demand;
use crate::simulation::fact::{Ending, Fact, Intent, Mark, Observer, Reading, Verdict};

/// Where copies of a record may stand. A record with a time stands once on each day under which it was accepted, a record
/// without one once for each time it was accepted.
#[derive(Debug, Default)]
struct Copies {
    /// By day: accepted for certain, and those of which nobody knows.
    days: BTreeMap<u32, (usize, usize)>,
    timed: bool,
}

impl Copies {
    fn allowed(&self, day: u32) -> (usize, usize) {
        let (certain, unknown) = self.days.get(&day).copied().unwrap_or_default();
        if self.timed {
            (certain.min(1), (certain + unknown).min(1))
        } else {
            (certain, certain + unknown)
        }
    }
}

/// Every acknowledged record is there exactly once, and one that was refused is not; a retry changes nothing. A clock that
/// jumps does not make records too old, and nothing does those of a held workspace.
#[derive(Debug, Default)]
pub struct Records {
    copies: BTreeMap<Mark, Copies>,
    /// Sent and not answered.
    open: BTreeMap<u64, Vec<Mark>>,
    /// The latest moment as of which retention may have been applied.
    retained: Option<Timestamp>,
    /// Instances whose workspace is held, since when nobody tried to release it.
    held: BTreeSet<&'static str>,
}

/// What tells a record from others, apart from the day under which it is filed.
fn key(mark: &Mark) -> Mark {
    Mark {
        filed_day: 0,
        ..mark.clone()
    }
}

/// The number of a record of the simulation.
fn number(record: &Record) -> Option<i32> {
    match record {
        Record::Stats(record) => record.id,
        Record::Activity(record) => record.id,
        Record::Startup(record) => record.id,
        Record::Processes(report) => {
            let item = report.processes.as_ref()?.first()?;
            item.process_count
                .and_then(|count| i32::try_from(count).ok())
        }
    }
}

impl Records {
    fn note(&mut self, marks: &[Mark], certain: bool) {
        for mark in marks {
            let copies = self.copies.entry(key(mark)).or_default();
            copies.timed = mark.sent.is_some();
            let (known, unknown) = copies.days.entry(mark.filed_day).or_default();
            *(if certain { known } else { unknown }) += 1;
        }
    }

    fn ended(&mut self, call: u64, ending: &Ending) {
        if let Some(marks) = self.open.remove(&call) {
            match ending {
                Ending::Done => self.note(&marks, true),
                Ending::Unknown => self.note(&marks, false),
                Ending::Refused(_) => {}
            }
        }
    }

    fn too_old(&self, mark: &Mark, day: u32) -> bool {
        let days = i64::from(RetentionDays::default().of(mark.stream));
        self.retained.is_some_and(|at| {
            day < at.plus_seconds(-days * 86_400).day() && !self.held.contains(mark.instance)
        })
    }

    fn compare(&mut self, reading: &Reading) -> Verdict {
        let mut found: BTreeMap<(Mark, u32), usize> = BTreeMap::new();
        for ((stream, instance), records) in &reading.records {
            let places: Vec<_> = records.iter().map(place).collect();
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
            for day in copies.days.keys() {
                let count = found.remove(&(mark.clone(), *day)).unwrap_or(0);
                let (least, most) = copies.allowed(*day);
                let gone = count <= most && self.too_old(mark, *day);
                demand!(
                    gone || (least..=most).contains(&count),
                    "{mark:?} stands {count} times on day {day}, at least {least} and at most {most} were accepted"
                );
            }
        }
        if let Some(((mark, day), count)) = found.first_key_value() {
            return Err(format!(
                "{mark:?} stands {count} times on day {day}, where nobody sent it"
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
        let number = number(&held.record).ok_or("a record without a number")?;
        let sent = held.record.sent_time();
        let mark = Mark {
            number,
            stream,
            instance,
            sent,
            filed_day: 0,
        };
        demand!(
            self.copies.contains_key(&mark),
            "{mark:?} is there, but was never accepted"
        );
        Ok(mark)
    }

    /// After a reading that sees only what is durable, nothing is unknown.
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
            copies.days.retain(|day, (certain, unknown)| {
                *certain = counts.get(&(mark.clone(), *day)).copied().unwrap_or(0);
                *unknown = 0;
                *certain > 0
            });
        }
    }
}

fn place(held: &Received) -> (Timestamp, Timestamp) {
    (held.filed_at, held.received_at)
}

impl Observer for Records {
    fn promise(&self) -> &'static str {
        "acknowledged records are there exactly once"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        match fact {
            Fact::Sent(call, Intent::Telemetry(marks), _) => {
                self.open.insert(*call, marks.clone());
            }
            Fact::Answered(call, Intent::Telemetry(_), ending, _) => self.ended(*call, ending),
            Fact::Lost(call, Intent::Telemetry(_)) => self.ended(*call, &Ending::Unknown),
            Fact::Sent(_, Intent::Release(desk) | Intent::Hold(desk), _) => {
                self.held.remove(desk);
            }
            Fact::Retained(at) => self.retained = self.retained.max(Some(*at)),
            Fact::Read(reading) => {
                self.compare(reading)?;
                self.settle(reading);
                let held = reading.desks.iter();
                let held = held.filter(|(_, desk)| desk.litigation_hold.is_some());
                self.held = held.map(|(id, _)| *id).collect();
            }
            _ => {}
        }
        Ok(())
    }
}
