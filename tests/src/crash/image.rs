//! What a disk can hold after a power cut: all that was synced, and any part of the rest.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::files::{Contents, FileId, Part, Tree, set_length};

use super::recording::Io;
use super::seed::Seed;

/// Bytes that a disk writes atomically.
const SECTOR: usize = 512;

/// The fate of unsynced writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// All are lost.
    Lost,
    /// All are stored.
    Kept,
    /// Some operations are stored, whole: later ones possibly without earlier ones.
    Mixed(u64),
    /// Some sectors of some writes are there.
    Torn(u64),
    /// The first ones are stored, and the last of these up to any byte.
    Inside(u64),
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost => f.write_str("lost"),
            Self::Kept => f.write_str("kept"),
            Self::Mixed(seed) => write!(f, "mixed-{seed}"),
            Self::Torn(seed) => write!(f, "torn-{seed}"),
            Self::Inside(seed) => write!(f, "inside-{seed}"),
        }
    }
}

impl FromStr for Fate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, seed) = text.split_once('-').unwrap_or((text, "0"));
        let seed = seed.parse().map_err(|_| format!("no seed: {text}"))?;
        match name {
            "lost" => Ok(Self::Lost),
            "kept" => Ok(Self::Kept),
            "mixed" => Ok(Self::Mixed(seed)),
            "torn" => Ok(Self::Torn(seed)),
            "inside" => Ok(Self::Inside(seed)),
            _ => Err(format!("no such fate: {text}")),
        }
    }
}

/// The fates of the unsynced writes of each part. Segments share a fate, and each has its own numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fates {
    store: Fate,
    queue: Fate,
}

impl Fates {
    /// Different ones.
    pub fn from_parts(store: Fate, queue: Fate) -> Self {
        Self { store, queue }
    }
}

impl From<Fate> for Fates {
    fn from(fate: Fate) -> Self {
        Self::from_parts(fate, fate)
    }
}

impl fmt::Display for Fates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.store, self.queue)
    }
}

impl FromStr for Fates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (store, queue) = text.split_once('+').unwrap_or((text, text));
        Ok(Self::from_parts(store.parse()?, queue.parse()?))
    }
}

/// A change of a file.
#[derive(Debug, Clone)]
enum Change {
    Write(u64, Arc<[u8]>),
    SetLen(u64),
}

/// A file with unsynced changes.
#[derive(Debug, Clone, Default)]
struct File {
    durable: Vec<u8>,
    pending: Vec<Change>,
}

/// A disk with unsynced writes.
#[derive(Debug, Clone, Default)]
pub struct Platter(Tree<File>);

impl Platter {
    /// A disk with this content.
    pub fn holding(contents: impl Into<Contents>) -> Self {
        Self(Tree::holding(contents.into(), |durable| File {
            durable,
            pending: Vec::new(),
        }))
    }

    /// After the process was killed: the cache of the system has all that was written, synced or not.
    #[must_use]
    pub fn killed(&self) -> Self {
        Self(self.0.renumbered())
    }

    /// Applies one more operation.
    pub fn take(&mut self, io: &Io) {
        let files = &mut self.0;
        match io {
            Io::Write(file, offset, data) => files
                .file(*file)
                .pending
                .push(Change::Write(*offset, Arc::clone(data))),
            Io::SetLen(file, length) => files.file(*file).pending.push(Change::SetLen(*length)),
            Io::Sync(file) => files.file(*file).settle(Fate::Kept),
            Io::FailedSync(_) => {}
            Io::Create => files.create(),
            Io::Make(number) => drop(files.open(*number).expect("a folder")),
            Io::Remove(number) => files.remove(*number).expect("a segment"),
            Io::RemoveFolder => files.remove_folder().expect("an empty folder"),
        }
    }

    /// Applies a whole log. Writes covered by a failed sync get their final fate here.
    pub fn take_all(&mut self, log: &[Io], of_failed_syncs: Fate) {
        for io in log {
            if let Io::FailedSync(file) = io {
                self.0.file(*file).settle(of_failed_syncs);
            } else {
                self.take(io);
            }
        }
    }

    /// Whether every write of this part is synced.
    pub fn is_settled(&mut self, part: Part) -> bool {
        let mut files = self.0.named();
        files.all(|(id, file)| id.part() != part || file.pending.is_empty())
    }

    /// The content after a power cut.
    pub fn image(&self, fates: impl Into<Fates>) -> Contents {
        let fates = fates.into();
        self.0.contents(|id, file| match id.part() {
            Part::Store => file.image(fates.store),
            Part::Queue => file.image(fates.queue.of_file(id)),
        })
    }
}

impl Fate {
    /// With the numbers of this file.
    fn of_file(self, id: FileId) -> Self {
        let own = |seed: u64| seed ^ u64::from(id.0) << 48;
        match self {
            Self::Lost | Self::Kept => self,
            Self::Mixed(seed) => Self::Mixed(own(seed)),
            Self::Torn(seed) => Self::Torn(own(seed)),
            Self::Inside(seed) => Self::Inside(own(seed)),
        }
    }
}

impl File {
    fn settle(&mut self, fate: Fate) {
        self.durable = self.image(fate);
        self.pending.clear();
    }

    fn image(&self, fate: Fate) -> Vec<u8> {
        let mut image = self.durable.clone();
        match fate {
            Fate::Lost => {}
            Fate::Kept => self
                .pending
                .iter()
                .for_each(|change| apply(&mut image, change)),
            Fate::Mixed(seed) => {
                let mut seed = Seed::new(seed);
                let chance = seed.choose(&[20, 50, 90]);
                for change in &self.pending {
                    if seed.percent(chance) {
                        apply(&mut image, change);
                    }
                }
            }
            Fate::Torn(seed) => {
                let mut seed = Seed::new(seed);
                let chance = seed.choose(&[20, 50, 90, 98]);
                for change in &self.pending {
                    tear(&mut image, change, || seed.percent(chance));
                }
            }
            Fate::Inside(seed) => self.cut_inside(&mut image, &mut Seed::new(seed)),
        }
        image
    }

    fn cut_inside(&self, image: &mut Vec<u8>, seed: &mut Seed) {
        let Some(last) = seed.below(self.pending.len()) else {
            return;
        };
        for change in &self.pending[..last] {
            apply(image, change);
        }
        match &self.pending[last] {
            Change::Write(offset, data) => {
                let length = seed.below(data.len()).unwrap_or(0);
                write(image, *offset, &data[..length]);
            }
            change @ Change::SetLen(_) => apply(image, change),
        }
    }
}

fn apply(image: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write(offset, data) => write(image, *offset, data),
        Change::SetLen(len) => set_length(image, usize::try_from(*len).expect("in memory")),
    }
}

fn tear(image: &mut Vec<u8>, change: &Change, mut keeps: impl FnMut() -> bool) {
    let Change::Write(offset, data) = change else {
        if keeps() {
            apply(image, change);
        }
        return;
    };
    // Writes begin at sectors, except those that fit into one.
    for (number, sector) in data.chunks(SECTOR).enumerate() {
        if keeps() {
            write(image, offset + (number * SECTOR) as u64, sector);
        }
    }
}

/// Bytes beyond the end are lost if the growth of the file is.
fn write(image: &mut [u8], offset: u64, data: &[u8]) {
    let start = usize::try_from(offset).expect("in memory");
    let end = (start + data.len()).min(image.len());
    if let Some(target) = image.get_mut(start..end) {
        target.copy_from_slice(&data[..end - start]);
    }
}
