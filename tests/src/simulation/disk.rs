//! A disk in memory that fails on request and loses unsynced writes, all or some of them, at a power cut.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use deskfleet::StorageBackend;

/// A sector: bytes that reach the platter together or not at all.
const SECTOR: usize = 512;

/// What a disk refuses. A count of 0 means the very next operation of that kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Fault {
    /// Nothing.
    #[default]
    None,
    /// The read after this many more.
    Read(u64),
    /// The write after this many more.
    Write(u64),
    /// The sync after this many more.
    Sync(u64),
    /// The change of length after this many more.
    Length(u64),
    /// To grow: the disk is full, and what is on it can still be overwritten.
    Growth,
    /// Every write, sync and change of length: it is full, and overwriting takes room as well.
    Writes,
    /// Everything: it was pulled out.
    All,
}

impl Fault {
    /// Every kind of fault, `n` operations from now.
    pub(super) fn kinds(after: u64) -> [Self; 7] {
        [
            Self::Read(after),
            Self::Write(after),
            Self::Sync(after),
            Self::Length(after),
            Self::Growth,
            Self::Writes,
            Self::All,
        ]
    }
}

/// What a power cut does with a write that was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// Every one is lost.
    Lost,
    /// Every one is kept.
    Kept,
    /// Each is lost, kept, or kept in some sectors, as a number derived from this one and its place says.
    Mixed(u64),
}

#[derive(Debug)]
enum Change {
    Write {
        offset: usize,
        old: Vec<u8>,
        new: Vec<u8>,
    },
    Length {
        tail: Vec<u8>,
        old: usize,
        new: usize,
    },
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    /// Since the last sync, oldest first.
    unsynced: Vec<Change>,
    fault: Fault,
    /// Whether a fault stays once it was met.
    lasting: bool,
    /// How often a fault was met.
    met: u64,
}

/// The disk. Clones are handles to the same bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct Disk(Arc<Mutex<State>>);

impl Disk {
    /// Sets what fails from now on. A permanent fault stays once it was met, a transient one passes. [`Fault::None`]
    /// repairs it.
    pub(super) fn fail(&self, fault: Fault, lasting: bool) {
        let mut state = self.state();
        state.fault = fault;
        state.lasting = lasting;
    }

    /// The number of faults met since the disk was made.
    pub(super) fn met(&self) -> u64 {
        self.state().met
    }

    /// Cuts the power: what was not synced is lost as `cut` says, and the disk works again.
    pub(super) fn cut(&self, cut: Cut) {
        let mut state = self.state();
        let changes = std::mem::take(&mut state.unsynced);
        for change in changes.iter().rev() {
            state.undo(change);
        }
        for change in &changes {
            state.redo(change, cut);
        }
        state.fault = Fault::None;
    }

    /// Whether the bytes on the disk hold this text.
    pub(super) fn holds(&self, text: &str) -> bool {
        String::from_utf8_lossy(&self.state().bytes).contains(text)
    }

    /// A backend of this disk, to open an engine on.
    pub(super) fn backend(&self) -> DiskBackend {
        DiskBackend(self.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Spreads the bits of a number (`SplitMix64`'s finish).
fn spread(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl State {
    fn undo(&mut self, change: &Change) {
        match change {
            Change::Write { offset, old, .. } => {
                self.bytes[*offset..offset + old.len()].copy_from_slice(old);
            }
            Change::Length { tail, old, .. } => {
                self.bytes.truncate(old - tail.len());
                self.bytes.extend_from_slice(tail);
                self.bytes.resize(*old, 0);
            }
        }
    }

    /// A file system stores a new length before the data beyond the old one, so lengths are kept unless everything is
    /// lost.
    fn redo(&mut self, change: &Change, cut: Cut) {
        match (change, cut) {
            (_, Cut::Lost) => {}
            (Change::Length { new, .. }, Cut::Kept | Cut::Mixed(_)) => self.bytes.resize(*new, 0),
            (Change::Write { offset, new, .. }, Cut::Kept) => self.put(*offset, new),
            (Change::Write { offset, new, .. }, Cut::Mixed(seed)) => {
                let place = spread(seed ^ spread(*offset as u64));
                match place % 3 {
                    0 => {}
                    1 => self.put(*offset, new),
                    _ => {
                        for (index, sector) in new.chunks(SECTOR).enumerate() {
                            if spread(place ^ index as u64).is_multiple_of(2) {
                                self.put(offset + index * SECTOR, sector);
                            }
                        }
                    }
                }
            }
        }
    }

    fn put(&mut self, offset: usize, data: &[u8]) {
        if let Some(target) = self.bytes.get_mut(offset..offset + data.len()) {
            target.copy_from_slice(data);
        }
    }

    /// Lets an operation through, or not.
    fn pass(&mut self, hit: impl FnOnce(&mut Fault) -> bool) -> io::Result<()> {
        if self.fault == Fault::All || hit(&mut self.fault) {
            self.met += 1;
            if !self.lasting {
                self.fault = Fault::None;
            }
            return Err(io::Error::other("the disk fails, as the seed wants it"));
        }
        Ok(())
    }
}

fn counted_down(left: &mut u64) -> bool {
    let now = *left == 0;
    *left = left.saturating_sub(1);
    now
}

/// A redb backend on a [`Disk`].
#[derive(Debug)]
pub(super) struct DiskBackend(Disk);

impl StorageBackend for DiskBackend {
    fn len(&self) -> io::Result<u64> {
        let mut state = self.0.state();
        state.pass(|_| false)?;
        Ok(state.bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut state = self.0.state();
        state.pass(|fault| match fault {
            Fault::Read(left) => counted_down(left),
            Fault::None
            | Fault::Write(_)
            | Fault::Sync(_)
            | Fault::Length(_)
            | Fault::Growth
            | Fault::Writes
            | Fault::All => false,
        })?;
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let source = state.bytes.get(start..start.saturating_add(out.len()));
        out.copy_from_slice(source.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.0.state();
        let new = usize::try_from(len).map_err(io::Error::other)?;
        let old = state.bytes.len();
        state.pass(|fault| match fault {
            Fault::Length(left) => counted_down(left),
            Fault::Growth => new > old,
            Fault::Writes => true,
            Fault::None | Fault::Read(_) | Fault::Write(_) | Fault::Sync(_) | Fault::All => false,
        })?;
        let tail = state.bytes.get(new..).unwrap_or_default().to_vec();
        state.bytes.resize(new, 0);
        state.unsynced.push(Change::Length { tail, old, new });
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.0.state();
        state.pass(|fault| match fault {
            Fault::Sync(left) => counted_down(left),
            Fault::Writes => true,
            Fault::None
            | Fault::Read(_)
            | Fault::Write(_)
            | Fault::Length(_)
            | Fault::Growth
            | Fault::All => false,
        })?;
        state.unsynced.clear();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.0.state();
        state.pass(|fault| match fault {
            Fault::Write(left) => counted_down(left),
            Fault::Writes => true,
            Fault::None
            | Fault::Read(_)
            | Fault::Sync(_)
            | Fault::Length(_)
            | Fault::Growth
            | Fault::All => false,
        })?;
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        let target = state.bytes.get(offset..offset.saturating_add(data.len()));
        let old = target.ok_or(io::ErrorKind::UnexpectedEof)?.to_vec();
        state.put(offset, data);
        let new = data.to_vec();
        state.unsynced.push(Change::Write { offset, old, new });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(disk: &Disk) -> Vec<u8> {
        disk.state().bytes.clone()
    }

    fn written() -> Disk {
        let disk = Disk::default();
        let backend = disk.backend();
        backend.set_len(4).unwrap();
        backend.write(0, b"abcd").unwrap();
        backend.sync_data().unwrap();
        backend.write(1, b"XY").unwrap();
        backend.set_len(2).unwrap();
        backend.set_len(6).unwrap();
        backend.write(4, b"Z").unwrap();
        assert_eq!(content(&disk), b"aX\0\0Z\0");
        disk
    }

    #[test]
    fn power_cut_loses_or_keeps_unsynced_writes() {
        let disk = written();
        disk.cut(Cut::Lost);
        assert_eq!(content(&disk), b"abcd");
        let disk = written();
        disk.cut(Cut::Kept);
        assert_eq!(content(&disk), b"aX\0\0Z\0");
        disk.backend().sync_data().unwrap();
        disk.cut(Cut::Lost);
        assert_eq!(content(&disk), b"aX\0\0Z\0");
    }

    #[test]
    fn mixed_power_cuts_with_other_seeds_differ() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..64 {
            let disk = written();
            disk.cut(Cut::Mixed(seed));
            seen.insert(content(&disk));
        }
        assert!(seen.len() >= 3, "{seen:?}");
    }

    #[test]
    fn fault_is_transient_or_permanent() {
        let disk = written();
        let backend = disk.backend();
        disk.fail(Fault::Sync(1), false);
        assert!(backend.sync_data().is_ok());
        assert!(backend.sync_data().is_err());
        assert!(backend.sync_data().is_ok());
        disk.fail(Fault::Growth, true);
        assert!(backend.set_len(9).is_err());
        assert!(backend.write(0, b"q").is_ok());
        assert!(backend.set_len(9).is_err());
        assert!(backend.set_len(3).is_ok());
        assert_eq!(disk.met(), 3);
    }
}
