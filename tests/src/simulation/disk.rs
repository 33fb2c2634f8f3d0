//! A disk in memory that fails on request and loses unsynced writes, all or some of them, at a power cut.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::files::{FileId, Files, Part, Tree, set_length};

use super::fault::{Act, Fault};

/// A sector: bytes that reach the platter together or not at all.
const SECTOR: usize = 512;

/// What a power cut does with a write that was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
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
struct File {
    bytes: Vec<u8>,
    /// Since the last sync, oldest first.
    unsynced: Vec<Change>,
}

#[derive(Debug, Default)]
struct State {
    files: Tree<File>,
    fault: Fault,
    /// The part that a fault is of; both where there is none.
    failing: Option<Part>,
    /// Whether a fault stays once it was met.
    lasting: bool,
    /// How often a fault was met.
    met: u64,
    /// The part whose syncs do nothing.
    unsynced: Option<Part>,
}

/// The disk. Clones are handles to the same bytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk(Arc<Mutex<State>>);

impl Disk {
    /// A mutant: syncs of this part do nothing.
    pub(super) fn without_syncs(part: Option<Part>) -> Self {
        let disk = Self::default();
        disk.state().unsynced = part;
        disk
    }

    /// Sets what fails from now on, of one part or of both. A permanent fault stays once it was met, a transient one
    /// passes. [`Fault::None`] repairs it.
    pub(crate) fn fail(&self, part: Option<Part>, fault: Fault, lasting: bool) {
        let mut state = self.state();
        state.fault = fault;
        state.failing = part;
        state.lasting = lasting;
    }

    /// The number of faults met since the disk was made.
    pub(super) fn met(&self) -> u64 {
        self.state().met
    }

    /// Cuts the power: what was not synced is lost as `cut` says of its part, and the disk works again.
    pub(crate) fn cut(&self, cut: impl Fn(Part) -> Cut) {
        let mut state = self.state();
        for (id, file) in state.files.named() {
            let cut = match cut(id.part()) {
                Cut::Mixed(seed) => Cut::Mixed(seed ^ spread(id.0.into())),
                whole @ (Cut::Lost | Cut::Kept) => whole,
            };
            let changes = std::mem::take(&mut file.unsynced);
            for change in changes.iter().rev() {
                file.undo(change);
            }
            for change in &changes {
                file.redo(change, cut);
            }
        }
        state.fault = Fault::None;
    }

    /// Whether the bytes on the disk hold this text.
    pub(super) fn holds(&self, text: &str) -> bool {
        let mut state = self.state();
        let mut files = state.files.named();
        files.any(|(_, file)| String::from_utf8_lossy(&file.bytes).contains(text))
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

impl File {
    fn undo(&mut self, change: &Change) {
        match change {
            Change::Write { offset, old, .. } => {
                self.bytes[*offset..offset + old.len()].copy_from_slice(old);
            }
            Change::Length { tail, old, .. } => {
                self.bytes.truncate(old - tail.len());
                self.bytes.extend_from_slice(tail);
                set_length(&mut self.bytes, *old);
            }
        }
    }

    /// A file system stores a new length before the data beyond the old one, so lengths are kept unless everything is
    /// lost.
    fn redo(&mut self, change: &Change, cut: Cut) {
        match (change, cut) {
            (_, Cut::Lost) => {}
            (Change::Length { new, .. }, Cut::Kept | Cut::Mixed(_)) => {
                set_length(&mut self.bytes, *new);
            }
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
}

impl State {
    /// Lets an operation through, or not.
    fn pass(&mut self, part: Part, act: Act) -> io::Result<()> {
        if self.failing.is_some_and(|failing| failing != part) {
            return Ok(());
        }
        if self.fault.is_met(act) {
            self.met += 1;
            if !self.lasting {
                self.fault = Fault::None;
            }
            return Err(io::Error::other("the disk fails, as the seed wants it"));
        }
        Ok(())
    }
}

impl Files for Disk {
    fn len(&self, file: FileId) -> io::Result<u64> {
        let mut state = self.state();
        state.pass(file.part(), Act::Look)?;
        Ok(state.files.file(file).bytes.len() as u64)
    }

    fn read(&self, file: FileId, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut state = self.state();
        state.pass(file.part(), Act::Read)?;
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let bytes = &state.files.file(file).bytes;
        let source = bytes.get(start..start.saturating_add(out.len()));
        out.copy_from_slice(source.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, file: FileId, len: u64) -> io::Result<()> {
        let mut state = self.state();
        let new = usize::try_from(len).map_err(io::Error::other)?;
        let old = state.files.file(file).bytes.len();
        state.pass(file.part(), Act::Length { grows: new > old })?;
        let file = state.files.file(file);
        let tail = file.bytes.get(new..).unwrap_or_default().to_vec();
        set_length(&mut file.bytes, new);
        file.unsynced.push(Change::Length { tail, old, new });
        Ok(())
    }

    fn sync(&self, file: FileId) -> io::Result<()> {
        let mut state = self.state();
        state.pass(file.part(), Act::Sync)?;
        if state.unsynced != Some(file.part()) {
            state.files.file(file).unsynced.clear();
        }
        Ok(())
    }

    fn write(&self, file: FileId, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        state.pass(file.part(), Act::Write)?;
        let file = state.files.file(file);
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        let target = file.bytes.get(offset..offset.saturating_add(data.len()));
        let old = target.ok_or(io::ErrorKind::UnexpectedEof)?.to_vec();
        file.put(offset, data);
        let new = data.to_vec();
        file.unsynced.push(Change::Write { offset, old, new });
        Ok(())
    }

    fn create(&self) -> io::Result<()> {
        let mut state = self.state();
        if state.files.list().is_none() {
            state.pass(Part::Queue, Act::Name)?;
        }
        state.files.create();
        Ok(())
    }

    fn list(&self) -> io::Result<Option<Vec<u32>>> {
        let mut state = self.state();
        state.pass(Part::Queue, Act::Look)?;
        Ok(state.files.list())
    }

    fn open_segment(&self, number: u32) -> io::Result<FileId> {
        let mut state = self.state();
        if state.files.segment(number).is_none() {
            state.pass(Part::Queue, Act::Name)?;
        }
        state.files.open(number)
    }

    fn remove(&self, number: u32) -> io::Result<()> {
        let mut state = self.state();
        state.pass(Part::Queue, Act::Name)?;
        state.files.remove(number)
    }

    fn remove_folder(&self) -> io::Result<()> {
        let mut state = self.state();
        state.pass(Part::Queue, Act::Name)?;
        state.files.remove_folder()
    }
}

#[cfg(test)]
mod tests {
    use deskfleet::StorageBackend as _;

    use super::*;

    fn content(disk: &Disk) -> Vec<u8> {
        disk.state().files.file(FileId::STORE).bytes.clone()
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
        disk.cut(|_| Cut::Lost);
        assert_eq!(content(&disk), b"abcd");
        let disk = written();
        disk.cut(|_| Cut::Kept);
        assert_eq!(content(&disk), b"aX\0\0Z\0");
        disk.backend().sync_data().unwrap();
        disk.cut(|_| Cut::Lost);
        assert_eq!(content(&disk), b"aX\0\0Z\0");
    }

    #[test]
    fn mixed_power_cuts_with_other_seeds_differ() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..64 {
            let disk = written();
            disk.cut(|_| Cut::Mixed(seed));
            seen.insert(content(&disk));
        }
        assert!(seen.len() >= 3, "{seen:?}");
    }

    #[test]
    fn fault_is_transient_or_permanent() {
        let disk = written();
        let backend = disk.backend();
        disk.fail(None, Fault::Sync(1), false);
        assert!(backend.sync_data().is_ok());
        assert!(backend.sync_data().is_err());
        assert!(backend.sync_data().is_ok());
        disk.fail(None, Fault::Growth, true);
        assert!(backend.set_len(9).is_err());
        assert!(backend.write(0, b"q").is_ok());
        assert!(backend.set_len(9).is_err());
        assert!(backend.set_len(3).is_ok());
        assert_eq!(disk.met(), 3);
    }
}
