//! An engine and what is put into it: for the suites about the event log.

use deskfleet::{Config, Engine, ManualClock, NewKey, Scope, Workspace};

/// When the clock of [`engine`] stands.
pub const NOW: &str = "2026-11-20T08:00:00Z";

/// An engine in memory, and its clock.
pub fn engine() -> (Engine, ManualClock) {
    engine_with(Config::default())
}

/// The same with a configuration.
pub fn engine_with(config: Config) -> (Engine, ManualClock) {
    let clock = ManualClock::new(NOW.parse().expect("a time"));
    let builder = Engine::builder()
        .clock(clock.clone())
        .seed(7)
        .config(config);
    (builder.open_in_memory().expect("an engine opens"), clock)
}

/// A workspace of jdoe that is available.
pub fn workspace(id: &str) -> Workspace {
    Workspace {
        id: id.into(),
        username: Some("jdoe".into()),
        state: Some("AVAILABLE".into()),
        ..Workspace::default()
    }
}

/// A key with scope `admin`.
pub fn admin(name: &str) -> NewKey {
    NewKey::new(name, [Scope::Admin])
}
