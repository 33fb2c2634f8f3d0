//! The crash suite: a disk is recorded under a mixed run and cut off after every operation, with unsynced writes lost,
//! kept, torn or mixed. Each image is opened, checked, and compared with what was acknowledged.

pub mod facts;
pub mod image;
pub mod judge;
pub mod recording;
pub mod seed;
pub mod workload;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};

use deskfleet::{CommitPhases, Config};

use image::{Fate, Platter};
use judge::judge;
use workload::Recording;

/// How the engine commits, by name.
pub fn profiles() -> Vec<(&'static str, Config)> {
    let mut two = Config::default();
    two.commit_phases = CommitPhases::Two;
    let mut one = Config::default();
    one.commit_phases = CommitPhases::One;
    let mut quick = Config::default();
    quick.quick_repair = true; // two phases as well
    vec![
        ("one-phase", one),
        ("two-phase", two),
        ("quick-repair", quick),
    ]
}

/// The results for a number of images.
#[derive(Debug, Default)]
pub struct Tally {
    /// Images that differ from each other or belong to another moment.
    pub images: usize,
    /// Those that were wrong: how to replay each, and what is wrong.
    pub wrong: Vec<String>,
}

/// The fates tried at each cut, `seeds` of each that has a seed.
pub fn fates(cut: usize, seeds: u64) -> Vec<Fate> {
    let mut fates = vec![Fate::Lost, Fate::Kept];
    for number in 0..seeds {
        let seed = (cut as u64) << 20 | number;
        fates.extend([Fate::Mixed(seed), Fate::Torn(seed), Fate::Inside(seed)]);
    }
    fates
}

/// Cuts a recording after every operation and judges each image.
pub fn cut_everywhere(name: &str, recording: &Recording, config: &Config, seeds: u64) -> Tally {
    let mut tally = Tally::default();
    let mut seen = HashSet::new();
    let mut platter = Platter::default();
    for cut in 0..=recording.log.len() {
        let scene = recording.scene(cut);
        for fate in fates(cut, seeds) {
            if platter.is_settled() && fate != Fate::Lost {
                continue;
            }
            let image = platter.image(fate);
            if !seen.insert((fingerprint(&image), scene.end)) {
                continue;
            }
            tally.images += 1;
            if let Err(wrong) = judge(image, scene, config) {
                tally.wrong.push(format!(
                    "DESKFLEET_CRASH_REPLAY={name}/{cut}/{fate}, in {}: {wrong}",
                    scene.step
                ));
            }
        }
        if let Some(io) = recording.log.get(cut) {
            platter.take(io);
        }
    }
    tally
}

/// The image of one cut.
pub fn image_at(recording: &Recording, cut: usize, fate: Fate) -> Vec<u8> {
    let mut platter = Platter::default();
    recording.log[..cut].iter().for_each(|io| platter.take(io));
    platter.image(fate)
}

fn fingerprint(image: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(image);
    hasher.finish()
}
