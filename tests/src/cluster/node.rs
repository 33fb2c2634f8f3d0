//! Nodes in memory, for tests that lead them by hand.

use std::time::Duration;

use deskfleet::{
    Engine, EngineBuilder, EngineError, ManualClock, State, Timestamp, Workspace,
    cluster::MemoryLog,
};

/// When the clocks begin.
pub fn start() -> Timestamp {
    "2026-11-20T08:00:00Z".parse().unwrap()
}

/// An engine with that clock.
pub fn builder(seed: u64, clock: &ManualClock) -> EngineBuilder {
    Engine::builder().clock(clock.clone()).seed(seed)
}

/// A node of the fleet that shares `log`, in memory.
pub fn node(seed: u64, clock: &ManualClock, log: &MemoryLog) -> Engine {
    let builder = builder(seed, clock).log(log.clone(), format!("node-{seed}"));
    builder.open_in_memory().unwrap()
}

/// Applies all there is.
pub fn follow(engine: &Engine) {
    while engine.follow(Duration::ZERO).unwrap() > 0 {}
}

/// An available workspace.
pub fn workspace(id: &str) -> Workspace {
    Workspace {
        id: id.into(),
        username: Some("jdoe".into()),
        state: Some(State::Available.into()),
        ..Workspace::default()
    }
}

/// The error of what must fail.
pub fn refusal<T>(result: Result<T, EngineError>) -> EngineError {
    result.err().expect("a refusal")
}

/// Why a node applies nothing more.
pub fn stopped(engine: &Engine) -> EngineError {
    refusal(engine.follow(Duration::ZERO))
}
