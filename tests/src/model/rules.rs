//! The rules of the actions, written again from the contract's section 4.

use deskfleet::{Action, Attempt, ErrorKind, Timestamp, Workspace};

/// The actions that the host ends, in runs in which it ends some.
pub(crate) const HOSTED: [Action; 3] = [Action::RecoveryReboot, Action::Rebuild, Action::Terminate];

const MINUTES_20: i64 = 20 * 60;
const DAYS_7: i64 = 7 * 86_400;

/// A workspace and its running action.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) workspace: Workspace,
    /// When its state began.
    pub(crate) since: Timestamp,
    pub(crate) running: Option<Running>,
    pub(crate) held: bool,
}

/// An action that runs.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    pub(crate) action: Action,
    /// Its row in the audit.
    pub(crate) row: usize,
    pub(crate) requested: Timestamp,
    /// `None` where the host ends it.
    pub(crate) due: Option<Timestamp>,
    pub(crate) kind: Option<String>,
    pub(crate) dispatched: Option<Dispatched>,
}

/// The last attempt of a provider at an action.
#[derive(Debug, Clone)]
pub(crate) struct Dispatched {
    pub(crate) attempt: Attempt,
    pub(crate) at: Timestamp,
    pub(crate) note: Option<String>,
}

impl Dispatched {
    /// What the audit says of it when the action has ended.
    fn message(&self) -> String {
        let Attempt {
            number, provider, ..
        } = &self.attempt;
        let plural = if *number > 1 { "attempts" } else { "attempt" };
        let note = self.note.as_ref();
        let note = note.map_or(String::new(), |note| format!(", request {note}"));
        format!("{provider}, {number} {plural}{note}")
    }
}

impl Running {
    /// The detail of its audit row when it ends with this one.
    pub(super) fn detail(&self, detail: Option<&str>) -> Option<String> {
        let message = self.dispatched.as_ref().map(Dispatched::message);
        match (detail, message) {
            (Some(detail), Some(message)) => Some(format!("{detail} ({message})")),
            (detail, message) => detail.map(str::to_owned).or(message),
        }
    }
}

/// The parameters of an action.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) action: Action,
    pub(crate) desk: Option<&'a str>,
    pub(crate) person: Option<&'a str>,
    pub(crate) kind: Option<&'a str>,
}

/// The form of a user's name that is compared.
pub(crate) fn normal(name: &str) -> String {
    let name = name.rsplit('\\').next().unwrap_or_default();
    name.split('@').next().unwrap_or_default().to_lowercase()
}

/// From which states, through which, to which, and for how many seconds.
pub(crate) fn table(action: Action) -> (&'static [&'static str], &'static str, &'static str, i64) {
    match action {
        Action::Reboot => (
            &["AVAILABLE", "UNHEALTHY", "IMPAIRED"],
            "REBOOTING",
            "AVAILABLE",
            120,
        ),
        Action::RecoveryReboot => (
            &[
                "AVAILABLE",
                "UNHEALTHY",
                "IMPAIRED",
                "ERROR",
                "STOPPED",
                "REBOOTING",
                "STARTING",
            ],
            "REBOOTING",
            "AVAILABLE",
            300,
        ),
        Action::Rebuild => (
            &[
                "AVAILABLE",
                "ERROR",
                "UNHEALTHY",
                "IMPAIRED",
                "STOPPED",
                "REBOOTING",
            ],
            "REBUILDING",
            "AVAILABLE",
            1800,
        ),
        Action::Restore => (
            &["AVAILABLE", "ERROR", "UNHEALTHY", "IMPAIRED", "STOPPED"],
            "RESTORING",
            "AVAILABLE",
            1800,
        ),
        Action::Terminate => (&[], "TERMINATING", "TERMINATED", 300),
        Action::Start => (&["STOPPED"], "STARTING", "AVAILABLE", 60),
        Action::ChangeComputeType => (&["AVAILABLE", "STOPPED"], "UPDATING", "AVAILABLE", 1200),
    }
}

fn supported(from: Option<&str>, to: &str) -> bool {
    match from {
        Some("GRAPHICS" | "GRAPHICSPRO") => false,
        Some("GRAPHICS_G4DN" | "GRAPHICSPRO_G4DN") => {
            matches!(to, "GRAPHICS_G4DN" | "GRAPHICSPRO_G4DN")
        }
        _ => true,
    }
}

impl Entry {
    pub(crate) fn state(&self) -> Option<&str> {
        self.workspace.state.as_deref()
    }

    /// For seven days after it became TERMINATED, or as long as it is held.
    pub(super) fn is_listed(&self, now: Timestamp) -> bool {
        self.held || self.state() != Some("TERMINATED") || self.since.plus_seconds(DAYS_7) > now
    }

    /// Whether a hold forbids the action.
    pub(super) fn keeps_from(&self, action: Action) -> bool {
        let destroys = matches!(
            action,
            Action::Rebuild | Action::Restore | Action::Terminate
        );
        self.held && destroys
    }

    fn stuck(&self, now: Timestamp) -> bool {
        let long = now > self.since.plus_seconds(MINUTES_20) || now < self.since;
        self.state() == Some("REBOOTING") && long
    }

    pub(crate) fn owned_by(&self, person: &str) -> bool {
        self.workspace
            .username
            .as_deref()
            .is_some_and(|name| normal(name) == normal(person))
    }

    /// Whether the action would change something, or why it is refused.
    pub(crate) fn judge(&self, asked: &Asked<'_>, now: Timestamp) -> Result<bool, ErrorKind> {
        let action = asked.action;
        let (from, ..) = table(action);
        let terminate = action == Action::Terminate;
        if terminate && matches!(self.state(), Some("TERMINATING" | "TERMINATED")) {
            return Ok(false);
        }
        if self.keeps_from(action) {
            return Err(ErrorKind::LitigationHold);
        }
        let again = action == Action::Reboot && self.stuck(now);
        if self.running.is_some() && !terminate && !again {
            return Err(ErrorKind::OperationInProgress);
        }
        let mode = self.workspace.running_mode.as_deref();
        let good = match action {
            Action::Terminate => self.state() != Some("SUSPENDED"),
            Action::Start => {
                self.state() == Some("STOPPED") && matches!(mode, Some("AUTO_STOP" | "MANUAL"))
            }
            Action::Reboot
            | Action::RecoveryReboot
            | Action::Rebuild
            | Action::Restore
            | Action::ChangeComputeType => {
                again || self.state().is_some_and(|state| from.contains(&state))
            }
        };
        if !good {
            return Err(ErrorKind::InvalidResourceState);
        }
        let (has, wants) = (
            self.workspace.compute_type_name.as_deref(),
            asked.kind.unwrap_or_default(),
        );
        let changes = action == Action::ChangeComputeType;
        if changes && has == Some(wants) {
            return Ok(false);
        }
        if changes && !supported(has, wants) {
            return Err(ErrorKind::UnsupportedConfiguration);
        }
        Ok(true)
    }
}
