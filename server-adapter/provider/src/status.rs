//! What a provider says of itself: its log, `/metrics`, `/livez`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use deskfleet::locks::lock;
use deskfleet_server::LogQueue;

use super::calls::Called;
use super::fleet::Refusal;
use super::kind::{Order, Trouble};
use super::log_line::say;
use super::trace::Trace;

/// Figures, and what is wrong.
#[derive(Debug, Default)]
pub(super) struct Status {
    /// Calls by action and how they went.
    calls: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    pending: AtomicU64,
    /// Why nothing is begun, if the cloud refuses what is.
    paused: Mutex<Option<String>>,
    /// Why the cloud shows nothing, to whom it does not.
    cloud: Mutex<BTreeMap<Asker, Trouble>>,
    /// Why the server cannot be asked, if it cannot.
    lost: Mutex<Option<String>>,
    /// Whether another process has the lease.
    is_standby: AtomicBool,
}

/// Who asks the cloud: what one finds wrong another's answer does not put right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asker {
    /// Who looks at the desktops of actions.
    Actions,
    /// Who scans the inventory.
    Scan,
}

fn say_paused(why: &str) {
    LogQueue::stderr().line_about(
        "provider-paused",
        &format!("nothing is begun, and nothing fails, until this is put right: {why}"),
    );
}

/// An action was ended at the server, or that was refused.
pub(super) fn ended(id: u64, how: &str, refused: Option<&Refusal>, trace: &Trace) {
    match refused {
        None => say(&format!("action {id}: {how} (trace {trace})")),
        Some(refusal) => say(&format!(
            "action {id}: {how}, but that could not be reported: {refusal} (trace {trace})"
        )),
    }
}

impl Status {
    /// The count of actions in the outbox that the host ends.
    pub(super) fn pending(&self, count: usize) {
        self.pending.store(count as u64, Ordering::Relaxed);
    }

    /// A call ended.
    pub(super) fn called(&self, order: &Order, called: &Called, trace: &Trace) {
        let (name, message) = match called {
            Called::Done => ("done", "done".to_owned()),
            Called::Begun => ("accepted", "accepted".to_owned()),
            Called::Later { why, .. } => ("later", format!("refused for now: {why}")),
            Called::Failed(why) => ("failed", format!("refused: {why}")),
            Called::Denied(why) => ("denied", format!("denied: {why}")),
            Called::Lost(why) => ("lost", format!("it may have been begun: {why}")),
            Called::NotNoted(why) => (
                "not_noted",
                format!("the attempt could not be noted: {why}"),
            ),
            Called::NotTried => return,
            Called::Overtaken => (
                "overtaken",
                "it has ended, or another process has begun it and is left to it".to_owned(),
            ),
            Called::Forbidden(why) => ("forbidden", format!("must not be carried out: {why}")),
        };
        let key = (order.action.as_str(), name);
        *lock(&self.calls).entry(key).or_default() += 1;
        say(&format!(
            "{order}, attempt {}: {message} (trace {trace})",
            order.attempt
        ));
    }

    /// Nothing is begun until a person has done something.
    pub(super) fn paused(&self, why: &str) {
        *lock(&self.paused) = Some(why.to_owned());
        say_paused(why);
    }

    /// The cloud takes calls.
    pub(super) fn resumed(&self) {
        *lock(&self.paused) = None;
    }

    /// The cloud cannot show the desktops now.
    pub(super) fn cloud_lost(&self, asker: Asker, trouble: Trouble) {
        match &trouble {
            Trouble::Denied(why) => say_paused(why),
            Trouble::Later { why, .. } => {
                let message = format!("the cloud cannot be asked: {why}");
                LogQueue::stderr().line_about("provider-cloud", &message);
            }
        }
        lock(&self.cloud).insert(asker, trouble);
    }

    /// The cloud shows the desktops, or need not.
    pub(super) fn cloud_found(&self, asker: Asker) {
        lock(&self.cloud).remove(&asker);
    }

    /// The server cannot be asked now.
    pub(super) fn fleet_lost(&self, refusal: &Refusal) {
        let advice = match refusal {
            Refusal::Problem { status: 401, .. } => "; the key is that of --key-file",
            Refusal::Problem { status: 403, .. } => "; the key needs the scope admin",
            Refusal::Problem { .. } | Refusal::Unreachable(_) => "",
        };
        let message = format!("the fleet cannot be asked: {refusal}{advice}");
        LogQueue::stderr().line_about("provider-fleet", &message);
        *lock(&self.lost) = Some(message);
    }

    /// The server was asked.
    pub(super) fn fleet_found(&self) {
        *lock(&self.lost) = None;
    }

    /// Sets whether another process has the lease.
    pub(super) fn set_standby(&self, is_standby: bool) {
        self.is_standby.store(is_standby, Ordering::Relaxed);
    }

    /// Whether another process has the lease.
    pub(super) fn is_standby(&self) -> bool {
        self.is_standby.load(Ordering::Relaxed)
    }

    /// What is wrong, for people; empty where nothing is.
    pub(super) fn wrong(&self) -> String {
        let mut text = String::new();
        if self.is_standby() {
            text.push_str("standing by: another process of this name has the lease\n");
        }
        if let Some(why) = &*lock(&self.lost) {
            text.push_str(why);
            text.push('\n');
        }
        if let Some(why) = &*lock(&self.paused) {
            let _ = writeln!(text, "paused: {why}");
        }
        for trouble in lock(&self.cloud).values() {
            let _ = match trouble {
                Trouble::Denied(why) => writeln!(text, "paused: {why}"),
                Trouble::Later { why, .. } => writeln!(text, "the cloud cannot be asked: {why}"),
            };
        }
        text
    }

    /// The figures in the text format of Prometheus.
    pub(super) fn metrics(&self) -> String {
        let mut text = String::from(
            "# HELP deskfleet_provider_calls_total Attempts to make an action happen, by how they went.\n\
             # TYPE deskfleet_provider_calls_total counter\n",
        );
        for ((action, result), count) in &*lock(&self.calls) {
            let _ = writeln!(
                text,
                "deskfleet_provider_calls_total{{action=\"{action}\",result=\"{result}\"}} {count}"
            );
        }
        let (is_lost, is_denied) = {
            let cloud = lock(&self.cloud);
            let denied = |of: &Trouble| matches!(of, Trouble::Denied(_));
            (!cloud.is_empty(), cloud.values().any(denied))
        };
        let figures = [
            (
                "deskfleet_provider_standby",
                "1 while nothing is begun, as another process of this name has the lease.",
                u64::from(self.is_standby()),
            ),
            (
                "deskfleet_provider_pending_actions",
                "Actions in the outbox that no clock ends, at the last look.",
                self.pending.load(Ordering::Relaxed),
            ),
            (
                "deskfleet_provider_paused",
                "1 while nothing is begun, as the cloud refuses the credentials.",
                u64::from(is_denied || lock(&self.paused).is_some()),
            ),
            (
                "deskfleet_provider_cloud_up",
                "1 while the cloud can be asked, or need not be.",
                u64::from(!is_lost),
            ),
            (
                "deskfleet_provider_fleet_up",
                "1 while the deskfleet server can be asked.",
                u64::from(lock(&self.lost).is_none()),
            ),
        ];
        for (name, help, value) in figures {
            let _ = write!(
                text,
                "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n"
            );
        }
        text
    }
}
