//! Compares the counts of a fleet with its reference.

use deskfleet::State;

use super::World;

impl World {
    /// The counts, which the engine keeps until a write or the time changes them.
    pub(super) fn compare_counts(&self) {
        let counts = self.engine.fleet_counts().expect("a good disk");
        let desks = &self.fleet.desks;
        let in_state = |state: Option<State>| {
            let named = |text: Option<&str>| text.and_then(State::named);
            let fits = desks
                .values()
                .filter(|entry| named(entry.workspace.state.as_deref()) == state);
            fits.count() as u64
        };
        for state in State::ALL {
            assert_eq!(counts.in_state(*state), in_state(Some(*state)), "{state}");
        }
        assert_eq!(counts.in_other_state, in_state(None), "in no known state");
        assert_eq!(counts.workspaces(), desks.len() as u64);
        let held = desks.values().filter(|entry| entry.held).count();
        assert_eq!(counts.held, held as u64, "held");
        let requested = desks
            .values()
            .filter_map(|entry| Some(entry.running.as_ref()?.requested));
        assert_eq!(counts.actions, requested.clone().count() as u64, "actions");
        assert_eq!(counts.oldest_action, requested.min(), "the oldest action");
    }
}
