//! Opens the image that a crash left and compares it with what was acknowledged.

use std::panic::{AssertUnwindSafe, catch_unwind};

use deskfleet::{Config, Engine, ManualClock, NewKey, Scope, StorageBackend, error_chain};

use crate::disk::Disk;

use super::facts::Facts;
use super::workload::Scene;

/// Judges an image of `scene`.
///
/// # Errors
/// What is wrong with it.
pub fn judge(image: Vec<u8>, scene: &Scene, config: &Config) -> Result<(), String> {
    let disk = Disk::holding(image);
    judge_backend(disk.backend(), scene, config)
}

/// The same, on a backend that the caller can inspect.
///
/// # Errors
/// What is wrong with it.
pub fn judge_backend(
    backend: impl StorageBackend,
    scene: &Scene,
    config: &Config,
) -> Result<(), String> {
    let judged = catch_unwind(AssertUnwindSafe(|| look(backend, scene, config)));
    judged.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(format!("a panic: {}", text.unwrap_or_default()))
    })
}

fn look(backend: impl StorageBackend, scene: &Scene, config: &Config) -> Result<(), String> {
    let engine = Engine::builder()
        .clock(ManualClock::new(scene.now))
        .seed(77)
        .config(config.clone())
        .open_backend(backend)
        .map_err(|error| format!("it does not open: {}", error_chain(&error)))?;
    let facts =
        Facts::of(&engine).map_err(|error| format!("unreadable: {}", error_chain(&error)))?;
    let allowed = if scene.whole {
        facts == scene.before || facts == scene.after
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
    goes_on(&engine, scene)
}

/// The next write gets new numbers, and leaves a whole store.
fn goes_on(engine: &Engine, scene: &Scene) -> Result<(), String> {
    let issued = engine.issue_key(NewKey {
        name: "after the crash".to_owned(),
        scopes: [Scope::Read].into_iter().collect(),
        expires: None,
    });
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
    let report = engine.check().map_err(|error| error_chain(&error))?;
    if report.problems.is_empty() {
        Ok(())
    } else {
        Err(format!("check found {:?}", report.problems))
    }
}
