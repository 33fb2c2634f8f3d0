//! The crash suite: a disk is recorded under a mixed run and cut off after every operation, with unsynced writes lost,
//! kept, torn or mixed. Each image is opened, checked, and compared with what was acknowledged.

pub mod facts;
pub mod image;
pub mod judge;
pub mod overlapping;
pub mod recording;
pub mod seed;
pub mod workload;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use deskfleet::{CommitPhases, Config};
use twox_hash::xxhash3_64::Hasher as XxHash;

use crate::files::{Contents, Part, Queue};

use image::{Fate, Fates, Platter};
use judge::judge;
use workload::Recording;

/// An engine that the suite opens.
#[derive(Debug, Clone)]
pub struct Setup {
    /// To replay by.
    pub name: String,
    /// Its configuration.
    pub config: Config,
    /// Where its queue is.
    pub queue: Queue,
}

/// Each profile with its queue here.
pub fn setups(queue: Queue) -> Vec<Setup> {
    let setup = |(name, config): (&str, Config)| Setup {
        name: format!("{name}-{queue:?}").to_lowercase(),
        config,
        queue,
    };
    profiles().into_iter().map(setup).collect()
}

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

/// The fates tried at a cut, `seeds` of each that has a seed: every one of each part with every one of the other.
fn fates(platter: &mut Platter, cut: usize, seeds: u64) -> Vec<Fates> {
    let mut each = vec![Fate::Lost, Fate::Kept];
    for number in 0..seeds {
        let seed = (cut as u64) << 20 | number;
        each.extend([Fate::Mixed(seed), Fate::Torn(seed), Fate::Inside(seed)]);
    }
    let [of_store, of_queue] = Part::ALL.map(|part| {
        if platter.is_settled(part) {
            &each[..1]
        } else {
            &each[..]
        }
    });
    let pairs = of_store.iter().flat_map(|store| {
        of_queue
            .iter()
            .map(|queue| Fates::from_parts(*store, *queue))
    });
    pairs.collect()
}

/// Cuts a recording after every operation and judges each image.
pub fn cut_everywhere(setup: &Setup, recording: &Recording, seeds: u64) -> Tally {
    let mut tally = Tally::default();
    let mut seen = HashSet::new();
    let mut platter = recording.base.clone();
    for cut in 0..=recording.log.len() {
        let scene = recording.scene(cut);
        for fates in fates(&mut platter, cut, seeds) {
            let image = platter.image(fates);
            if !seen.insert((fingerprint(&image), scene.end)) {
                continue;
            }
            tally.images += 1;
            if let Err(wrong) = judge(image, scene, setup) {
                tally.wrong.push(format!(
                    "DESKFLEET_CRASH_REPLAY={}/{cut}/{fates}, in {}: {wrong}",
                    setup.name, scene.step
                ));
            }
        }
        if let Some(io) = recording.log.get(cut) {
            platter.take(io);
        }
    }
    tally
}

/// The disk at one cut.
pub fn platter_at(recording: &Recording, cut: usize) -> Platter {
    let mut platter = recording.base.clone();
    recording.log[..cut].iter().for_each(|io| platter.take(io));
    platter
}

/// The image of one cut.
pub fn image_at(recording: &Recording, cut: usize, fates: impl Into<Fates>) -> Contents {
    platter_at(recording, cut).image(fates)
}

/// Images are of megabytes: hashing them with the hasher of the standard library takes a third of the suite.
fn fingerprint(image: &Contents) -> u64 {
    let mut hasher = DefaultHasher::new();
    XxHash::oneshot(&image.store).hash(&mut hasher);
    for (number, segment) in image.queue.iter().flatten() {
        (number, XxHash::oneshot(segment)).hash(&mut hasher);
    }
    image.queue.is_some().hash(&mut hasher);
    hasher.finish()
}
