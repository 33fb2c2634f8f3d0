//! What a disk can hold after a power cut: all that was synced, and any part of the rest.

use std::fmt;
use std::str::FromStr;

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

/// A disk with unsynced writes.
#[derive(Debug, Clone, Default)]
pub struct Platter {
    durable: Vec<u8>,
    pending: Vec<Io>,
}

impl Platter {
    /// A disk with this content.
    pub fn holding(durable: Vec<u8>) -> Self {
        Self {
            durable,
            pending: Vec::new(),
        }
    }

    /// Applies one more operation.
    pub fn take(&mut self, io: &Io) {
        if *io == Io::Sync {
            for io in self.pending.drain(..) {
                apply(&mut self.durable, &io);
            }
        } else {
            self.pending.push(io.clone());
        }
    }

    /// Applies a whole log. Writes covered by a failed sync get their final fate here.
    pub fn take_all(&mut self, log: &[Io], of_failed_syncs: Fate) {
        for io in log {
            if *io == Io::FailedSync {
                self.durable = self.image(of_failed_syncs);
                self.pending.clear();
            } else {
                self.take(io);
            }
        }
    }

    /// Whether every write is synced.
    pub fn is_settled(&self) -> bool {
        self.pending.is_empty()
    }

    /// The content after a power cut.
    pub fn image(&self, fate: Fate) -> Vec<u8> {
        let mut image = self.durable.clone();
        match fate {
            Fate::Lost => {}
            Fate::Kept => self.pending.iter().for_each(|io| apply(&mut image, io)),
            Fate::Mixed(seed) => {
                let mut seed = Seed::new(seed);
                let chance = seed.of(&[20, 50, 90]);
                for io in &self.pending {
                    if seed.percent(chance) {
                        apply(&mut image, io);
                    }
                }
            }
            Fate::Torn(seed) => {
                let mut seed = Seed::new(seed);
                let chance = seed.of(&[20, 50, 90, 98]);
                for io in &self.pending {
                    tear(&mut image, io, || seed.percent(chance));
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
        for io in &self.pending[..last] {
            apply(image, io);
        }
        match &self.pending[last] {
            Io::Write(offset, data) => {
                let length = seed.below(data.len()).unwrap_or(0);
                write(image, *offset, &data[..length]);
            }
            io @ (Io::SetLen(_) | Io::Sync | Io::FailedSync) => apply(image, io),
        }
    }
}

fn apply(image: &mut Vec<u8>, io: &Io) {
    match io {
        Io::Write(offset, data) => write(image, *offset, data),
        Io::SetLen(len) => image.resize(usize::try_from(*len).expect("in memory"), 0),
        Io::Sync | Io::FailedSync => {}
    }
}

fn tear(image: &mut Vec<u8>, io: &Io, mut keeps: impl FnMut() -> bool) {
    let Io::Write(offset, data) = io else {
        if keeps() {
            apply(image, io);
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
