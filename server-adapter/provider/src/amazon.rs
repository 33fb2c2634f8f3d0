//! Amazon WorkSpaces as what makes actions happen.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use deskfleet::{Action, State};
use serde_json::{Value, json};

use super::aws::client::{Accepted, BATCH_MAX, BatchCall, Client, SingleCall};
use super::aws::desktop::Desktop;
use super::aws::error::{CallError, Failure};
use super::kind::{Answer, Kind, Order, Shown, Stage, Trouble};

/// Running modes.
pub(super) const ALWAYS_ON: &str = "ALWAYS_ON";
pub(super) const AUTO_STOP: &str = "AUTO_STOP";

/// One account in one region.
#[derive(Debug)]
pub(super) struct Amazon {
    pub(super) client: Client,
    /// What the inventory calls the account, which the cloud does not say.
    pub(super) account: Option<String>,
    /// A description and a call, and the turn of one of them: twice the time after which a description shows a call.
    pub(super) answers_within: Duration,
    /// Whether a recovery reboot switches the running mode of a desktop that is always on.
    pub(super) switches_mode: bool,
}

impl Kind for Amazon {
    fn orders_max(&self, action: Action) -> usize {
        match action {
            // Each takes several calls.
            Action::RecoveryReboot if self.switches_mode => 1,
            Action::Reboot | Action::RecoveryReboot | Action::Start | Action::Terminate => {
                BATCH_MAX
            }
            // A rebuild takes one desktop; the two others are calls about one.
            Action::Rebuild | Action::Restore | Action::ChangeComputeType => 1,
        }
    }

    fn answers_within(&self) -> Duration {
        self.answers_within
    }

    fn switches_mode(&self) -> bool {
        self.switches_mode
    }

    fn wait(&self, _: Action) {
        self.client.wait();
    }

    fn send(&self, orders: &[Order], keep: &dyn Fn(&Value) -> bool) -> Vec<Answer> {
        let Some(first) = orders.first() else {
            return Vec::new();
        };
        let single = |call: &SingleCall| {
            let called = self.client.single(call, &first.workspace_id);
            vec![called.map_or_else(
                |error| answer(first, &error),
                |accepted| Answer::Accepted(accepted.request_id),
            )]
        };
        match first.action {
            Action::Reboot => self.batch(BatchCall::Reboot, orders),
            Action::Start => self.batch(BatchCall::Start, orders),
            Action::Terminate => self.batch(BatchCall::Terminate, orders),
            Action::RecoveryReboot if matches!(first.stage, Stage::AlwaysOn { .. }) => {
                single(&SingleCall::RunningMode(ALWAYS_ON.to_owned()))
            }
            Action::RecoveryReboot if first.stage == Stage::Start => {
                // A description may still show a desktop as stopped that starts already.
                let started = |answer| {
                    if matches!(answer, Answer::Failed(_)) {
                        return Answer::Accepted(None);
                    }
                    answer
                };
                let answers = self.batch(BatchCall::Start, orders);
                answers.into_iter().map(started).collect()
            }
            Action::RecoveryReboot => self.stop(orders, keep),
            Action::Rebuild => single(&SingleCall::Rebuild),
            Action::Restore => single(&SingleCall::Restore),
            Action::ChangeComputeType => {
                let compute_type = first.compute_type.clone().unwrap_or_default();
                single(&SingleCall::ComputeType(compute_type))
            }
        }
    }

    fn shows(&self) -> bool {
        true
    }

    fn show(&self, ids: &[String]) -> Result<HashMap<String, Shown>, Trouble> {
        let shown = self.client.describe(ids).map_err(|error| trouble(&error))?;
        Ok(shown
            .into_iter()
            .map(|desktop| (desktop.workspace_id.clone(), self.shown(desktop)))
            .collect())
    }
}

impl Amazon {
    fn shown(&self, desktop: Desktop) -> Shown {
        Shown {
            state: desktop.state.as_deref().and_then(State::named),
            compute_type: desktop.workspace_properties.compute_type_name.clone(),
            record: desktop.into_record(self.account.as_deref(), self.client.region()),
        }
    }

    fn batch(&self, call: BatchCall, orders: &[Order]) -> Vec<Answer> {
        let ids: Vec<String> = orders.iter().map(|of| of.workspace_id.clone()).collect();
        let called = self.client.batch(call, &ids);
        let answers = orders.iter().map(|order| match &called {
            Ok(Accepted { failed, request_id }) => {
                let failed = failed.iter().find(|(id, _)| *id == order.workspace_id);
                failed.map_or_else(
                    || Answer::Accepted(request_id.clone()),
                    |(_, error)| answer(order, error),
                )
            }
            Err(error) => answer(order, error),
        });
        answers.collect()
    }

    /// The first half of a recovery reboot: the desktops that run are stopped, which AWS does only to those that may stop by themselves.
    fn stop(&self, orders: &[Order], keep: &dyn Fn(&Value) -> bool) -> Vec<Answer> {
        let ids: Vec<String> = orders.iter().map(|of| of.workspace_id.clone()).collect();
        let shown = match self.client.describe(&ids) {
            Ok(shown) => shown,
            // Nothing was begun.
            Err(error) if error.failure == Failure::Denied => {
                return vec![Answer::Denied(error.to_string()); orders.len()];
            }
            Err(error) => {
                let why = error.to_string();
                return vec![Answer::Later { after: None, why }; orders.len()];
            }
        };
        let is_always_on = |desktop: &&Desktop| {
            let mode = desktop.workspace_properties.running_mode.as_deref();
            mode == Some(ALWAYS_ON)
        };
        let mut always_on: HashSet<&str> = shown
            .iter()
            .filter(is_always_on)
            .map(|desktop| desktop.workspace_id.as_str())
            .collect();
        for order in orders.iter().filter(|_| self.switches_mode) {
            let id = order.workspace_id.as_str();
            let desktop = shown.iter().find(|desktop| desktop.workspace_id == id);
            let mode = desktop.and_then(|of| of.workspace_properties.running_mode.as_deref());
            let is_on = always_on.remove(id);
            // What it is set back to. Later attempts may find the mode that an earlier one has switched to.
            let is_new = mode.is_some() && (is_on || order.attempt == 1);
            if is_new && !keep(&json!({"workSpId": id, "runningMode": mode})) {
                let why = "the inventory does not take the running mode".to_owned();
                return vec![Answer::Later { after: None, why }; orders.len()];
            }
            if is_on {
                self.client.wait();
                let mode = SingleCall::RunningMode(AUTO_STOP.to_owned());
                if let Err(error) = self.client.single(&mode, id) {
                    return orders.iter().map(|order| answer(order, &error)).collect();
                }
            }
        }
        let stopped = |order: &Order| {
            let of = |desktop: &&Desktop| desktop.workspace_id == order.workspace_id;
            let desktop = shown.iter().find(of);
            desktop.is_some_and(|desktop| desktop.state.as_deref() == Some("STOPPED"))
        };
        let to_stop: Vec<Order> = orders
            .iter()
            .filter(|order| !always_on.contains(order.workspace_id.as_str()) && !stopped(order))
            .cloned()
            .collect();
        let mut answers = if to_stop.is_empty() {
            Vec::new()
        } else {
            self.batch(BatchCall::Stop, &to_stop)
        }
        .into_iter();
        let answer = |order: &Order| {
            if always_on.contains(order.workspace_id.as_str()) {
                return Answer::Failed(
                    "A recovery reboot stops the desktop, which AWS does not do while its running mode is ALWAYS_ON: reboot it, or see \
                     --switch-running-mode of deskfleet-provider."
                        .to_owned(),
                );
            }
            if stopped(order) {
                return Answer::Accepted(None);
            }
            let lost = || Answer::Lost("There is no answer.".to_owned());
            answers.next().unwrap_or_else(lost)
        };
        orders.iter().map(answer).collect()
    }
}

/// What a failure means for an order.
fn answer(order: &Order, error: &CallError) -> Answer {
    let why = error.to_string();
    match error.failure {
        Failure::Retry { after } => Answer::Later { after, why },
        Failure::Lost => Answer::Lost(why),
        Failure::Denied => Answer::Denied(why),
        // The description was older than the call: the desktop is not left in that mode.
        Failure::InvalidState if matches!(order.stage, Stage::AlwaysOn { .. }) => {
            Answer::Later { after: None, why }
        }
        // Whether it is gone or another account's, the next descriptions show.
        Failure::NotFound if order.action == Action::Terminate => Answer::Lost(why),
        Failure::NotFound | Failure::InvalidState | Failure::Other => Answer::Failed(why),
    }
}

/// What a failure means for a question.
pub(super) fn trouble(error: &CallError) -> Trouble {
    let why = error.to_string();
    match error.failure {
        Failure::Denied => Trouble::Denied(why),
        Failure::Retry { after } => Trouble::Later { after, why },
        Failure::Lost | Failure::NotFound | Failure::InvalidState | Failure::Other => {
            Trouble::Later { after: None, why }
        }
    }
}
