//! Crashes: at every operation of the disk, with every fate of unsynced writes.
//!
//! `DESKFLEET_CRASH_SEEDS` sets how many images of each seeded kind are made of every cut; CI takes the default, a long
//! run 200. `DESKFLEET_CRASH_REPLAY=profile/cut/fate` judges one image alone, as a failure names it.

#![allow(clippy::print_stdout, reason = "tests")]

use deskfleet::{Engine, ManualClock};
use deskfleet_tests::crash::image::{Fate, Fates, Platter};
use deskfleet_tests::crash::judge::{judge, judge_disk};
use deskfleet_tests::crash::overlapping::{record_after, record_pairs};
use deskfleet_tests::crash::recording::{Io, Recorder};
use deskfleet_tests::crash::workload::{Recording, Scene, long_steps, record, steps};
use deskfleet_tests::crash::{Setup, Tally, cut_everywhere, image_at, platter_at, setups};
use deskfleet_tests::disk::Disk;
use deskfleet_tests::files::{Contents, FileId, Part, Queue};
use redb::{ReadableDatabase as _, ReadableTable as _, TableDefinition};

/// Images of each kind with a seed.
const SEEDS: u64 = 2;
/// Minimum of images of the default in all profiles: each has at least a sixth of them.
const IMAGES_MIN: usize = 12_000;

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

fn recorded(setup: &Setup) -> Recording {
    match setup.queue {
        Queue::Table => record(&steps(), setup),
        Queue::Folder => record(&long_steps(), setup),
    }
}

fn all_setups() -> impl Iterator<Item = Setup> {
    Queue::ALL.into_iter().flat_map(setups)
}

/// For mutants: what detects them does not depend on how the engine commits.
fn one_setup_of_each() -> impl Iterator<Item = Setup> {
    let first = |queue| setups(queue).swap_remove(0);
    Queue::ALL.into_iter().map(first)
}

fn every_cut_of(queue: Queue, profile: usize) {
    let setup = setups(queue).swap_remove(profile);
    let recording = recorded(&setup);
    if queue == Queue::Folder {
        demand_reuse(&recording.log);
    }
    cut_or_replay(&setup, &recording, seeds(), IMAGES_MIN / 6);
}

/// Segments were filled, used again and removed.
fn demand_reuse(log: &[Io]) {
    let count = |what: fn(&Io) -> bool| log.iter().filter(|io| what(io)).count();
    let made = count(|io| matches!(io, Io::Make(_)));
    let removed = count(|io| matches!(io, Io::Remove(_)));
    let begun = count(
        |io| matches!(io, Io::Write(file, 0, data) if file.part() == Part::Queue && data[0] != 0),
    );
    assert!(
        made > 3 && removed > 3 && begun > made + 5,
        "{made} made, {removed} removed, {begun} begun"
    );
}

fn cut_or_replay(setup: &Setup, recording: &Recording, seeds: u64, images_min: usize) {
    if let Ok(replay) = std::env::var("DESKFLEET_CRASH_REPLAY") {
        return replayed(&replay, setup, recording);
    }
    let tally = cut_everywhere(setup, recording, seeds);
    println!(
        "{}: {} images, {} operations",
        setup.name,
        tally.images,
        recording.log.len()
    );
    demand(&tally, images_min);
}

fn replayed(replay: &str, setup: &Setup, recording: &Recording) {
    let mut parts = replay.split('/');
    if parts.next() != Some(&setup.name) {
        return;
    }
    let cut = parts.next().and_then(|cut| cut.parse().ok());
    let cut = cut.expect("profile/cut/fate");
    let fates: Fates = parts.next().expect("profile/cut/fate").parse().unwrap();
    let scene = recording.scene(cut);
    println!(
        "{}, disk operations {} to {}",
        scene.step, scene.start, scene.end
    );
    judge(image_at(recording, cut, fates), scene, setup).unwrap();
}

#[test]
fn crash_with_one_phase_keeps_acknowledged_writes() {
    every_cut_of(Queue::Table, 0);
}

#[test]
fn crash_with_one_phase_and_segments_keeps_acknowledged_writes() {
    every_cut_of(Queue::Folder, 0);
}

#[test]
fn crash_with_two_phases_keeps_acknowledged_writes() {
    every_cut_of(Queue::Table, 1);
}

#[test]
fn crash_with_two_phases_and_segments_keeps_acknowledged_writes() {
    every_cut_of(Queue::Folder, 1);
}

#[test]
fn crash_with_quick_repair_keeps_acknowledged_writes() {
    every_cut_of(Queue::Table, 2);
}

#[test]
fn crash_with_quick_repair_and_segments_keeps_acknowledged_writes() {
    every_cut_of(Queue::Folder, 2);
}

/// Filing and appending at once: each sync of one is interrupted by the other.
#[test]
fn crash_while_filing_and_appending_overlap_keeps_acknowledged_writes() {
    for setup in setups(Queue::Folder) {
        // Each fate of one part with each of the other.
        let seeds = seeds() / 2;
        cut_or_replay(&setup, &record_pairs(&setup), seeds, 500);
    }
}

/// The same number of operations as before, none of which makes anything of this part durable.
fn forget_syncs(log: &mut [Io], part: Part) {
    for io in log {
        if let Io::Sync(file) = *io
            && file.part() == part
        {
            *io = Io::Write(file, 0, [].into());
        }
    }
}

/// The parts that hold something.
fn parts(setup: &Setup) -> &'static [Part] {
    match setup.queue {
        Queue::Table => &[Part::Store],
        Queue::Folder => &Part::ALL,
    }
}

/// A mutant: a disk whose sync does nothing. The suite must detect it.
#[test]
fn mutant_with_empty_sync_is_detected() {
    for setup in one_setup_of_each() {
        for part in parts(&setup) {
            let mut recording = recorded(&setup);
            forget_syncs(&mut recording.log, *part);
            let tally = cut_everywhere(&setup, &recording, 0);
            let noticed = tally.wrong.len();
            assert!(noticed > 20, "{} {part:?}: {noticed} noticed", setup.name);
        }
    }
}

/// A mutant: commits that are acknowledged without a sync, as with redb's `Durability::None`. The suite must detect it.
#[test]
fn mutant_with_unsynced_commits_is_detected() {
    for setup in one_setup_of_each() {
        for part in parts(&setup) {
            let mut recording = recorded(&setup);
            for scene in recording.scenes.iter().skip(1).step_by(2) {
                forget_syncs(&mut recording.log[scene.start..scene.end], *part);
            }
            let tally = cut_everywhere(&setup, &recording, 0);
            let noticed = tally.wrong.len();
            assert!(noticed > 5, "{} {part:?}: {noticed} noticed", setup.name);
        }
    }
}

/// Rewrites the store of an image with redb.
fn rewritten(image: Contents, change: impl FnOnce(&redb::WriteTransaction)) -> Contents {
    let disk = Disk::holding(image);
    let database = redb::Builder::new()
        .create_with_backend(disk.backend())
        .unwrap();
    let transaction = database.begin_write().unwrap();
    change(&transaction);
    transaction.commit().unwrap();
    drop(database);
    disk.contents()
}

fn rows(image: Contents, table: TableDefinition<'_, &[u8], &[u8]>) -> Vec<(Vec<u8>, Vec<u8>)> {
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
const META: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("meta");
const PENDING: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("pending");

/// Mutants: a mutation that was written in parts (blocks removed and nothing filed, the reverse, an action without its
/// audit row, and one without its place in the outbox). The suite must detect them.
#[test]
fn mutant_with_split_mutations_is_detected() {
    for queue in Queue::ALL {
        let setup = setups(queue).swap_remove(0);
        let recording = recorded(&setup);
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
        assert_eq!(judge(before(), filing, &setup), Ok(()));
        assert_eq!(judge(after(), filing, &setup), Ok(()));
        let mut emptied = rewritten(before(), |transaction| {
            let mut queue = transaction.open_table(QUEUE).unwrap();
            while queue.pop_first().unwrap().is_some() {}
        });
        for segment in emptied
            .queue
            .iter_mut()
            .flat_map(|queue| queue.values_mut())
        {
            segment.fill(0);
        }
        assert!(
            judge(emptied, filing, &setup).is_err(),
            "{queue:?}: records in neither"
        );
        let doubled = rewritten(before(), |transaction| {
            let mut history = transaction.open_table(HISTORY).unwrap();
            for (key, value) in rows(after(), HISTORY) {
                history.insert(key.as_slice(), value.as_slice()).unwrap();
            }
        });
        assert!(
            judge(doubled, filing, &setup).is_err(),
            "{queue:?}: records in both"
        );
        let action = scene("Op(Act(");
        for table in [AUDIT, PENDING] {
            let image = image_at(&recording, action.end, Fate::Kept);
            let halved = rewritten(closed(image, action, &setup), |transaction| {
                transaction.open_table(table).unwrap().pop_last().unwrap();
            });
            assert!(judge(halved, action, &setup).is_err(), "half an action");
        }
    }
}

/// Mutants of what the tables say of the log: an entry that is not applied again, one that is applied twice, and one that was trimmed
/// although it was still needed. The suite must detect them.
#[test]
fn mutant_with_a_position_apart_from_the_tables_is_detected() {
    type Change = dyn Fn(&mut u64, &mut u64);
    let setup = setups(Queue::Folder).swap_remove(0);
    let recording = recorded(&setup);
    let changed = |image: Contents, change: &Change| {
        rewritten(image, |transaction| {
            let mut meta = transaction.open_table(META).unwrap();
            let row = meta
                .get(&b"log_position"[..])
                .unwrap()
                .unwrap()
                .value()
                .to_vec();
            let (entries, from) = row.split_at(8);
            let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
            let (mut entries, mut from) = (number(entries), number(from));
            change(&mut entries, &mut from);
            let row = [entries, from].map(u64::to_le_bytes).concat();
            meta.insert(&b"log_position"[..], row.as_slice()).unwrap();
        })
    };
    let (mut images, mut noticed) = (0, [0; 3]);
    for scene in recording
        .scenes
        .iter()
        .filter(|scene| scene.before != scene.after)
    {
        // Nothing of the file was stored since its last sync, and all of the log.
        let image = image_at(
            &recording,
            scene.end,
            Fates::from_parts(Fate::Lost, Fate::Kept),
        );
        let acknowledged = &Scene {
            before: scene.after.clone(),
            others: Vec::new(),
            whole: true,
            ..scene.clone()
        };
        if image.queue.is_none() || judge(image.clone(), acknowledged, &setup).is_err() {
            continue;
        }
        images += 1;
        let mutants: [&Change; 3] = [
            &|entries, _| *entries += 1,
            &|entries, from| (*entries, *from) = (entries.saturating_sub(1), 0),
            &|_, from| *from += 1 << 20,
        ];
        for (mutant, noticed) in mutants.into_iter().zip(&mut noticed) {
            let mutated = changed(image.clone(), mutant);
            *noticed += usize::from(judge(mutated, acknowledged, &setup).is_err());
        }
    }
    assert!(images > 20, "{images} images");
    assert!(
        noticed.iter().all(|noticed| *noticed > 5),
        "{noticed:?} of {images}"
    );
}

/// The image after an engine took it over and closed it: the file has all of it.
fn closed(image: Contents, scene: &Scene, setup: &Setup) -> Contents {
    let disk = Disk::holding(image);
    let builder = Engine::builder()
        .clock(ManualClock::new(scene.now))
        .seed(77);
    let engine = setup.queue.open(builder, &setup.config, &disk).unwrap();
    engine.close().unwrap();
    disk.contents()
}

/// A second crash during the recovery of the first: the images of some cuts, cut again at every operation of their
/// opening.
#[test]
fn crash_during_recovery_keeps_acknowledged_writes() {
    for setup in all_setups() {
        let recording = recorded(&setup);
        let mut tally = Tally::default();
        for cut in (0..recording.log.len()).step_by(23) {
            for fate in [Fate::Kept, Fate::Torn(cut as u64)] {
                let image = image_at(&recording, cut, fate);
                let disk = Recorder::holding(image.clone());
                let scene = recording.scene(cut);
                judge_disk(&disk, scene, &setup).unwrap();
                again(&image, &disk.log(), scene, &setup, &mut tally);
            }
        }
        println!("{}: {} images of a second crash", setup.name, tally.images);
        demand(&tally, 500);
    }
}

/// Cuts the writes of a second opening, up to the first write of its own, which changes the image.
fn again(image: &Contents, log: &[Io], scene: &Scene, setup: &Setup, tally: &mut Tally) {
    let is_commit = |io: &Io| *io == Io::Sync(FileId::STORE);
    let syncs = log.iter().enumerate().filter(|(_, io)| is_commit(io));
    let opened = syncs.map(|(at, _)| at).nth(1).unwrap_or(log.len());
    let mut platter = Platter::holding(image.clone());
    for (at, io) in log.iter().take(opened).enumerate() {
        platter.take(io);
        for fate in [Fate::Lost, Fate::Kept, Fate::Torn(at as u64)] {
            tally.images += 1;
            if let Err(wrong) = judge(platter.image(fate), scene, setup) {
                let step = &scene.step;
                tally.wrong.push(format!(
                    "{step}, operation {at} of its recovery, {fate}: {wrong}"
                ));
            }
        }
    }
}

/// A second crash at any time after the first: the store goes on after some cuts, and is cut again at every operation.
#[test]
fn crash_after_recovery_keeps_acknowledged_writes() {
    for setup in all_setups() {
        let recording = recorded(&setup);
        let mut tally = Tally::default();
        let cuts = (0..recording.log.len()).rev();
        for cut in cuts.step_by(recording.log.len() / 6) {
            let image = image_at(&recording, cut, Fate::Torn(cut as u64));
            let base = Platter::holding(image);
            let after = record_after(base, recording.scene(cut), &setup);
            let cut = cut_everywhere(&setup, &after, 1);
            tally.images += cut.images;
            tally.wrong.extend(cut.wrong);
        }
        println!("{}: {} images after a crash", setup.name, tally.images);
        demand(&tally, 500);
    }
}

/// The power goes some time after the process was killed, whose last writes were in the cache of the system.
#[test]
fn power_cut_after_a_kill_keeps_acknowledged_writes() {
    for setup in all_setups() {
        let recording = recorded(&setup);
        let mut tally = Tally::default();
        for part in parts(&setup) {
            let is_pending = |io: &Io| matches!(io, Io::Sync(file) if file.part() == *part);
            let log = recording.log.iter().enumerate();
            let pending: Vec<_> = log.filter(|(_, io)| is_pending(io)).collect();
            for (cut, _) in pending.iter().step_by(pending.len() / 6) {
                let base = platter_at(&recording, *cut).killed();
                let after = record_after(base, recording.scene(*cut), &setup);
                let cut = cut_everywhere(&setup, &after, 1);
                tally.images += cut.images;
                tally.wrong.extend(cut.wrong);
            }
        }
        println!("{}: {} images after a kill", setup.name, tally.images);
        demand(&tally, 500);
    }
}
