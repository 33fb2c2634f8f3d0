//! Crashes: at every operation of the disk, with every fate of unsynced writes.
//!
//! `DESKFLEET_CRASH_SEEDS` sets how many images of each seeded kind are made of every cut; CI takes the default, a long
//! run 200. `DESKFLEET_CRASH_REPLAY=profile/cut/fate` judges one image alone, as a failure names it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests"
)]

use deskfleet::Config;
use deskfleet_tests::crash::image::{Fate, Platter};
use deskfleet_tests::crash::judge::{judge, judge_backend};
use deskfleet_tests::crash::recording::{Io, Recorder};
use deskfleet_tests::crash::workload::{Recording, Scene, record, steps};
use deskfleet_tests::crash::{Tally, cut_everywhere, image_at, profiles};
use deskfleet_tests::disk::Disk;
use redb::{ReadableDatabase as _, ReadableTable as _, TableDefinition};

/// Images of each kind with a seed.
const SEEDS: u64 = 6;
/// Minimum of images of the default in all profiles: each has at least a third of them.
const IMAGES_MIN: usize = 10_000;

fn seeds() -> u64 {
    let asked = std::env::var("DESKFLEET_CRASH_SEEDS").ok();
    asked.map_or(SEEDS, |seeds| seeds.parse().expect("a number"))
}

fn demand(tally: &Tally, images_min: usize) {
    let wrong = tally.wrong.len();
    assert!(
        tally.wrong.is_empty(),
        "{wrong} of {} images are wrong, the first ones:\n{}",
        tally.images,
        tally.wrong[..wrong.min(3)].join("\n\n")
    );
    assert!(tally.images >= images_min, "only {} images", tally.images);
}

fn every_cut_of(profile: usize) {
    let (name, config) = profiles().swap_remove(profile);
    let recording = record(&steps(), &config);
    if let Ok(replay) = std::env::var("DESKFLEET_CRASH_REPLAY") {
        return replayed(&replay, name, &recording, &config);
    }
    let tally = cut_everywhere(name, &recording, &config, seeds());
    println!(
        "{name}: {} images, {} operations",
        tally.images,
        recording.log.len()
    );
    demand(&tally, IMAGES_MIN / 3);
}

fn replayed(replay: &str, name: &str, recording: &Recording, config: &Config) {
    let mut parts = replay.split('/');
    if parts.next() != Some(name) {
        return;
    }
    let cut = parts.next().and_then(|cut| cut.parse().ok());
    let cut = cut.expect("profile/cut/fate");
    let fate: Fate = parts.next().expect("profile/cut/fate").parse().unwrap();
    let scene = recording.scene(cut);
    println!(
        "{}, disk operations {} to {}",
        scene.step, scene.start, scene.end
    );
    judge(image_at(recording, cut, fate), scene, config).unwrap();
}

#[test]
fn crash_with_one_phase_keeps_acknowledged_writes() {
    every_cut_of(0);
}

#[test]
fn crash_with_two_phases_keeps_acknowledged_writes() {
    every_cut_of(1);
}

#[test]
fn crash_with_quick_repair_keeps_acknowledged_writes() {
    every_cut_of(2);
}

/// The same number of operations as before, none of which makes anything durable.
fn forget_syncs(log: &mut [Io]) {
    for io in log {
        if *io == Io::Sync {
            *io = Io::Write(0, [].into());
        }
    }
}

/// A mutant: a disk whose sync does nothing. The suite must detect it.
#[test]
fn mutant_with_empty_sync_is_detected() {
    for (name, config) in profiles() {
        let mut recording = record(&steps(), &config);
        forget_syncs(&mut recording.log);
        let tally = cut_everywhere(name, &recording, &config, 0);
        assert!(
            tally.wrong.len() > 20,
            "{name}: {} noticed",
            tally.wrong.len()
        );
    }
}

/// A mutant: commits that are acknowledged without a sync, as with redb's `Durability::None`. The suite must detect it.
#[test]
fn mutant_with_unsynced_commits_is_detected() {
    for (name, config) in profiles() {
        let mut recording = record(&steps(), &config);
        for scene in recording.scenes.iter().skip(1).step_by(2) {
            forget_syncs(&mut recording.log[scene.start..scene.end]);
        }
        let tally = cut_everywhere(name, &recording, &config, 0);
        assert!(
            tally.wrong.len() > 5,
            "{name}: {} noticed",
            tally.wrong.len()
        );
    }
}

/// Rewrites an image with redb.
fn rewritten(image: Vec<u8>, change: impl FnOnce(&redb::WriteTransaction)) -> Vec<u8> {
    let disk = Disk::holding(image);
    let database = redb::Builder::new()
        .create_with_backend(disk.backend())
        .unwrap();
    let transaction = database.begin_write().unwrap();
    change(&transaction);
    transaction.commit().unwrap();
    drop(database);
    disk.bytes()
}

fn rows(image: Vec<u8>, table: TableDefinition<'_, &[u8], &[u8]>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let disk = Disk::holding(image);
    let database = redb::Builder::new()
        .create_with_backend(disk.backend())
        .unwrap();
    let table = database.begin_read().unwrap().open_table(table).unwrap();
    let mut rows = Vec::new();
    for row in table.iter().unwrap() {
        let (key, value) = row.unwrap();
        rows.push((key.value().to_vec(), value.value().to_vec()));
    }
    rows
}

const QUEUE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("queue");
const HISTORY: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("history");
const AUDIT: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("audit");
const PENDING: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("pending");

/// Mutants: a mutation that was written in parts (blocks removed and nothing filed, the reverse, an action without its
/// audit row, and one without its place in the outbox). The suite must detect them.
#[test]
fn mutant_with_split_mutations_is_detected() {
    let (_, config) = profiles().swap_remove(0);
    let recording = record(&steps(), &config);
    let scene = |step: &str| {
        let found = recording
            .scenes
            .iter()
            .find(|scene| scene.step.starts_with(step));
        found.unwrap()
    };
    let filing = scene("Op(File");
    let before = || image_at(&recording, filing.start, Fate::Kept);
    let after = || image_at(&recording, filing.end, Fate::Kept);
    assert_eq!(judge(before(), filing, &config), Ok(()));
    assert_eq!(judge(after(), filing, &config), Ok(()));
    let emptied = rewritten(before(), |transaction| {
        let mut queue = transaction.open_table(QUEUE).unwrap();
        while queue.pop_first().unwrap().is_some() {}
    });
    assert!(
        judge(emptied, filing, &config).is_err(),
        "records in neither"
    );
    let doubled = rewritten(before(), |transaction| {
        let mut history = transaction.open_table(HISTORY).unwrap();
        for (key, value) in rows(after(), HISTORY) {
            history.insert(key.as_slice(), value.as_slice()).unwrap();
        }
    });
    assert!(judge(doubled, filing, &config).is_err(), "records in both");
    let action = scene("Op(Act(");
    for table in [AUDIT, PENDING] {
        let image = image_at(&recording, action.end, Fate::Kept);
        let halved = rewritten(image, |transaction| {
            transaction.open_table(table).unwrap().pop_last().unwrap();
        });
        assert!(judge(halved, action, &config).is_err(), "half an action");
    }
}

/// A second crash during the recovery of the first: the images of some cuts, cut again at every operation of their
/// opening.
#[test]
fn crash_during_recovery_keeps_acknowledged_writes() {
    for (name, config) in profiles() {
        let recording = record(&steps(), &config);
        let mut tally = Tally::default();
        for cut in (0..recording.log.len()).step_by(23) {
            for fate in [Fate::Kept, Fate::Torn(cut as u64)] {
                let image = image_at(&recording, cut, fate);
                let disk = Recorder::holding(image.clone());
                let scene = recording.scene(cut);
                judge_backend(disk.backend(), scene, &config).unwrap();
                again(&image, &disk.log(), scene, &config, &mut tally);
            }
        }
        println!("{name}: {} images of a second crash", tally.images);
        demand(&tally, 500);
    }
}

/// Cuts the writes of a second opening, up to the first write of its own, which changes the image.
fn again(image: &[u8], log: &[Io], scene: &Scene, config: &Config, tally: &mut Tally) {
    let syncs = log.iter().enumerate().filter(|(_, io)| **io == Io::Sync);
    let opened = syncs.map(|(at, _)| at).nth(1).unwrap_or(log.len());
    let mut platter = Platter::holding(image.to_vec());
    for (at, io) in log.iter().take(opened).enumerate() {
        platter.take(io);
        for fate in [Fate::Lost, Fate::Kept, Fate::Torn(at as u64)] {
            tally.images += 1;
            if let Err(wrong) = judge(platter.image(fate), scene, config) {
                let step = &scene.step;
                tally.wrong.push(format!(
                    "{step}, operation {at} of its recovery, {fate}: {wrong}"
                ));
            }
        }
    }
}
