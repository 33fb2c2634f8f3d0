//! Threads that append to a log, and one that reads it, while a test does something to its servers.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use deskfleet::cluster::{EntryId, Log, LogEntry, LogErrorKind};

/// The id of an entry.
pub fn id(thread: u64, number: u64) -> EntryId {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&thread.to_be_bytes());
    bytes[8..].copy_from_slice(&number.to_be_bytes());
    EntryId(bytes)
}

/// Adds what was read, but for the entry ahead of it.
pub fn add(entries: &mut Vec<LogEntry>, read: Vec<LogEntry>) {
    for entry in read {
        match entries.last() {
            Some(last) if last.position == entry.position => assert_eq!(*last, entry),
            _ => entries.push(entry),
        }
    }
}

/// All entries up to the last one there is.
pub fn all(log: &dyn Log) -> Vec<LogEntry> {
    let last = log.bounds(0).unwrap().last;
    let mut entries: Vec<LogEntry> = Vec::new();
    while (entries.len() as u64) < last {
        let from = entries.len() as u64 + 1;
        let read = log.read(from, 1 << 20, Duration::ZERO).unwrap();
        add(&mut entries, read);
    }
    entries
}

/// The position of an entry that is appended until that succeeds: as while another server takes over.
pub fn append_until_it_succeeds(log: &dyn Log, id: EntryId, body: &[u8]) -> u64 {
    let attempts = || log.append(id, body).inspect_err(|_| resume(log)).ok();
    let appended = (0..20).find_map(|_| attempts());
    appended.expect("an append").position
}

/// Goes on after a takeover that lost nothing.
fn resume(log: &dyn Log) {
    let takeover = log.bounds(0).ok().and_then(|bounds| bounds.takeover);
    // The next append shows whether it did.
    let _ = takeover.map(|takeover| log.resume(takeover));
}

/// A log that is opened until that succeeds: as while another server takes over.
pub fn open_until_it_succeeds<L>(open: impl Fn() -> Option<L>) -> L {
    (0..20).find_map(|_| open()).expect("a log")
}

/// What the threads share.
#[derive(Debug, Default)]
pub struct Appending {
    acknowledged: AtomicU64,
    ends: AtomicBool,
}

impl Appending {
    /// Appends one entry after the other, each until it is acknowledged; returns the positions.
    fn append(&self, log: &dyn Log, thread: u64) -> Vec<u64> {
        let mut positions = Vec::new();
        while !self.ends.load(Ordering::Relaxed) {
            let id = id(thread, positions.len() as u64);
            loop {
                match log.append(id, &id.0.repeat(100)) {
                    Ok(appended) => break positions.push(appended.position),
                    Err(error) => assert_ne!(error.kind, LogErrorKind::Unsafe, "{error}"),
                }
                resume(log);
            }
            self.acknowledged.fetch_add(1, Ordering::Relaxed);
        }
        positions
    }

    /// Reads what is appended, from the first entry on.
    fn follow(&self, log: &dyn Log) -> Vec<LogEntry> {
        let mut entries: Vec<LogEntry> = Vec::new();
        while !self.ends.load(Ordering::Relaxed) {
            let from = entries.len() as u64 + 1;
            match log.read(from, 1 << 20, Duration::from_millis(100)) {
                Ok(read) => add(&mut entries, read),
                Err(error) => assert_eq!(error.kind, LogErrorKind::Unavailable, "{error}"),
            }
        }
        entries
    }

    /// Returns once `more` further entries are acknowledged.
    pub fn wait_for_more(&self, more: u64) {
        let before = self.acknowledged.load(Ordering::Relaxed);
        while self.acknowledged.load(Ordering::Relaxed) < before + more {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Runs `faults` while four threads append and one reads, and checks that each entry that was acknowledged is there, once.
///
/// # Panics
/// Where an entry is lost or doubled.
pub fn check(open: &dyn Fn() -> Box<dyn Log>, faults: impl FnOnce(&Appending)) {
    let logs = [open(), open()];
    let appending = Appending::default();
    let (acknowledged, followed) = std::thread::scope(|scope| {
        let appending = &appending;
        let threads = [0, 1, 2, 3].map(|thread| {
            let log = logs[thread % 2].as_ref();
            scope.spawn(move || appending.append(log, thread as u64))
        });
        let follower = scope.spawn(|| appending.follow(logs[0].as_ref()));
        faults(appending);
        appending.wait_for_more(40);
        appending.ends.store(true, Ordering::Relaxed);
        let acknowledged = threads.map(|thread| thread.join().unwrap());
        (acknowledged, follower.join().unwrap())
    });
    let entries = all(open().as_ref());
    let ids: BTreeSet<_> = entries.iter().map(|entry| entry.id).collect();
    assert_eq!(ids.len(), entries.len(), "an entry is doubled");
    let mut count = 0;
    for (thread, positions) in (0..).zip(&acknowledged) {
        for (number, position) in (0..).zip(positions) {
            let entry = &entries[usize::try_from(*position).unwrap() - 1];
            assert_eq!((entry.position, entry.id), (*position, id(thread, number)));
            assert_eq!(entry.body, entry.id.0.repeat(100));
            count += 1;
        }
    }
    assert_eq!(entries.len(), count, "each one was acknowledged");
    assert_eq!(followed, entries[..followed.len()], "what was read is lost");
}
