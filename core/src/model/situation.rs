//! A workspace as the rules of the actions see it.

use crate::timestamp::Timestamp;

/// The facts about a workspace that the rules of the actions need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Situation<'a> {
    /// The state as stored; `None` when it was never sent.
    pub(crate) state: Option<&'a str>,
    /// Since when it holds.
    pub(crate) state_since: Timestamp,
    pub(crate) running_mode: Option<&'a str>,
    pub(crate) compute_type: Option<&'a str>,
    pub(crate) held: bool,
    /// Whether an action is running.
    pub(crate) in_transition: bool,
}
