//! Opens the image that a crash left and compares it with what was acknowledged.

use std::panic::{AssertUnwindSafe, catch_unwind};

use deskfleet::{Engine, ManualClock, NewKey, Nullable, Record, Scope, StatsRecord, error_chain};

use crate::disk::Disk;
use crate::files::{Contents, Files};

use super::Setup;
use super::facts::Facts;
use super::workload::Scene;

/// Judges an image of `scene`.
///
/// # Errors
/// What is wrong with it.
pub fn judge(image: impl Into<Contents>, scene: &Scene, setup: &Setup) -> Result<(), String> {
    judge_disk(&Disk::holding(image), scene, setup)
}

/// The same, on a disk that the caller can inspect.
///
/// # Errors
/// What is wrong with it.
pub fn judge_disk(disk: &impl Files, scene: &Scene, setup: &Setup) -> Result<(), String> {
    let judged = catch_unwind(AssertUnwindSafe(|| check_image(disk, scene, setup)));
    judged.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(format!("a panic: {}", text.unwrap_or_default()))
    })
}

fn check_image(disk: &impl Files, scene: &Scene, setup: &Setup) -> Result<(), String> {
    let open = |what: &str| {
        let builder = Engine::builder().clock(ManualClock::new(scene.now));
        let opened = setup.queue.open(builder.seed(77), &setup.config, disk);
        opened.map_err(|error| format!("{what}: {}", error_chain(&error)))
    };
    let engine = open("it does not open")?;
    let facts =
        Facts::read(&engine).map_err(|error| format!("unreadable: {}", error_chain(&error)))?;
    let allowed = if scene.whole {
        facts == scene.before || facts == scene.after || scene.others.contains(&facts)
    } else {
        facts.is_between(&scene.before, &scene.after)
    };
    if !allowed {
        return Err(format!(
            "neither what was acknowledged nor that and the step under way; from the first it differs in\n{}\nfrom the second in\n{}",
            facts.differences(&scene.before).join("\n"),
            facts.differences(&scene.after).join("\n"),
        ));
    }
    goes_on(&engine, scene)?;
    let facts = Facts::read(&engine).map_err(|error| error_chain(&error))?;
    engine
        .close()
        .map_err(|error| format!("it does not close: {}", error_chain(&error)))?;
    let engine = open("closed, it does not open")?;
    let closed = Facts::read(&engine).map_err(|error| error_chain(&error))?;
    let differences = facts.differences(&closed);
    if differences.is_empty() {
        Ok(())
    } else {
        Err(format!("closing changed\n{}", differences.join("\n")))
    }
}

/// The next record is stored, the next write gets new numbers, and both leave a whole store.
fn goes_on(engine: &Engine, scene: &Scene) -> Result<(), String> {
    let issued = engine.issue_key(NewKey::new("after the crash", [Scope::Read]));
    let issued =
        issued.map_err(|error| format!("it cannot be written: {}", error_chain(&error)))?;
    let rows = engine
        .admin_activity(1)
        .map_err(|error| format!("the audit cannot be read: {error}"))?;
    let row = rows.first().map_or(0, |row| row.id);
    let (key_taken, row_taken) = scene.taken;
    if issued.info.id <= key_taken || row <= row_taken {
        return Err(format!(
            "numbers given out again: key {} after {key_taken}, row {row} after {row_taken}",
            issued.info.id
        ));
    }
    let queued = engine.queue_count();
    engine
        .record(Record::Stats(Box::new(StatsRecord {
            instance_id: Nullable::from("after the crash"),
            ..StatsRecord::default()
        })))
        .map_err(|error| format!("no record can be stored: {}", error_chain(&error)))?;
    if engine.queue_count() != queued + 1 {
        return Err("the next record is not queued".to_owned());
    }
    let report = engine.check().map_err(|error| error_chain(&error))?;
    if report.problems.is_empty() {
        Ok(())
    } else {
        Err(format!("check found {:?}", report.problems))
    }
}
