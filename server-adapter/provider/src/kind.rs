//! What makes actions happen.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use deskfleet::{Action, State};
use serde_json::Value;

use super::aws::desktop::MergeRecord;
use deskfleet_server::RepeatedToken;

/// An action to make happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    /// Number of the action.
    pub(super) id: u64,
    pub(super) action: Action,
    /// `workSpId` of the desktop.
    pub(super) workspace_id: String,
    /// The new compute type, of a `ChangeComputeType`.
    pub(super) compute_type: Option<String>,
    /// From 1.
    pub(super) attempt: u32,
    pub(super) stage: Stage,
}

/// Which call of an action: a recovery reboot takes several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    First,
    /// The desktop has stopped, and is started.
    Start,
    /// The desktop was always on, and is so again; then the action ends, as failed or not.
    AlwaysOn {
        is_failed: bool,
    },
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            id,
            action,
            workspace_id,
            ..
        } = self;
        write!(f, "action {id}, {action} of {workspace_id}")
    }
}

/// How an attempt went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// The action has happened.
    Done,
    /// It is under way, under this request id where there is one.
    Accepted(Option<String>),
    /// It was not begun; another attempt may succeed, after that time where it is known.
    Later {
        after: Option<Duration>,
        why: String,
    },
    /// It was not begun, and another attempt would not succeed.
    Failed(String),
    /// Nothing can be begun before a person has done something.
    Denied(String),
    /// Whether it was begun is unknown.
    Lost(String),
}

/// A desktop as its cloud shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) state: Option<State>,
    pub(super) compute_type: Option<String>,
    /// Its record, for the inventory.
    pub(super) record: MergeRecord,
}

/// Why a cloud shows nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Ask again, after that time where it is known.
    Later {
        after: Option<Duration>,
        why: String,
    },
    /// Nothing can be asked before a person has done something.
    Denied(String),
}

impl From<RepeatedToken> for Trouble {
    fn from(repeated: RepeatedToken) -> Self {
        Self::Later {
            after: None,
            why: repeated.to_string(),
        }
    }
}

/// What makes actions happen: a cloud, a program, a web service.
pub(super) trait Kind: fmt::Debug + Send + Sync {
    /// Most orders of one call.
    fn orders_max(&self, _: Action) -> usize {
        1
    }

    /// Blocks until it is the turn of a call of that action, which the next [`Self::send`] on this thread makes.
    fn wait(&self, _: Action) {}

    /// Begins the orders, all of one action; one answer for each, in their order. Blocks. `keep` merges a record into the inventory, and
    /// returns whether it is there.
    fn send(&self, orders: &[Order], keep: &dyn Fn(&Value) -> bool) -> Vec<Answer>;

    /// The longest time from the note of an attempt to the answer to its call.
    fn answers_within(&self) -> Duration;

    /// Whether a recovery reboot switches the running mode of a desktop that is always on.
    fn switches_mode(&self) -> bool {
        false
    }

    /// Whether it can show a desktop.
    fn shows(&self) -> bool {
        false
    }

    /// The desktops of these ids that there are. Blocks.
    ///
    /// # Errors
    ///
    /// Why it cannot show them now.
    fn show(&self, _: &[String]) -> Result<HashMap<String, Shown>, Trouble> {
        Ok(HashMap::new())
    }
}
