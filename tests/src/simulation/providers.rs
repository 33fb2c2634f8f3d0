//! Providers: processes that begin attempts at the actions for the host and carry them out, and that crash at any moment.

use std::collections::BTreeMap;

use deskfleet::PendingAction;
use http::Method;
use serde_json::json;

use super::calls::ending;
use super::fact::{Ending, Fact, Intent};
use super::fleet::request;
use super::world::World;

/// The name that all processes have: only their instances tell them apart.
pub(super) const PROVIDER: &str = "aws";

/// A process of the provider, and what it knows.
#[derive(Debug, Default)]
pub(super) struct Provider {
    /// Its instance.
    process: u32,
    /// The outbox as it was listed last.
    listed: Vec<PendingAction>,
    /// The attempts that it carries out, by action.
    begun: BTreeMap<u64, u32>,
    /// Those that it sends again, as it does not know whether they are noted.
    in_doubt: BTreeMap<u64, u32>,
}

impl Provider {
    /// A process that has just begun.
    pub(super) fn new(process: u32) -> Self {
        Self {
            process,
            ..Self::default()
        }
    }
}

impl World {
    /// A process crashes, or takes one step.
    pub(super) fn provide(&mut self) -> Result<(), String> {
        let nth = self.chance.usize(..self.providers.len());
        if self.chance.u32(..8) == 0 {
            self.tally.provider_crashes += 1;
            // Another one takes its place, and knows nothing.
            self.providers[nth] = Provider::new(self.processes);
            self.processes += 1;
            return self.notify(&Fact::Log("a provider crashes"));
        }
        // Often it has listed them a while ago.
        if self.chance.bool() || self.providers[nth].listed.is_empty() {
            let Ok(mut pending) = self.engine()?.pending_actions() else {
                return Ok(());
            };
            pending.retain(|action| action.due_at.is_none());
            self.providers[nth].listed = pending;
        }
        let Some(action) = self.chance.choice(&self.providers[nth].listed).cloned() else {
            return Ok(());
        };
        match self.providers[nth].begun.get(&action.id) {
            Some(attempt) => self.carry_on(nth, action.id, *attempt),
            None => self.begin(nth, action),
        }
    }

    /// Begins an attempt; the one in doubt again, if there is one.
    fn begin(&mut self, nth: usize, action: PendingAction) -> Result<(), String> {
        let (id, known) = (action.id, &self.providers[nth]);
        let in_doubt = known.in_doubt.get(&id).copied();
        let attempt = in_doubt.unwrap_or(action.attempts + 1);
        let intent = Intent::Dispatch {
            id,
            action: action.action,
            desk: action.workspace_id,
            attempt,
            process: known.process,
        };
        let instance = known.process.to_string();
        let body = json!({ "provider": PROVIDER, "attempt": attempt, "instance": instance });
        let target = format!("/operator/actions/{id}/dispatch");
        let post = request(Method::POST, &target, &self.key, body.to_string());
        let ended = ending(&self.ask(&intent, post)?);
        let known = &mut self.providers[nth];
        known.in_doubt.remove(&id);
        match ended {
            Ending::Done => {
                self.tally.attempts += 1;
                known.begun.insert(id, attempt);
            }
            Ending::Unknown => {
                known.in_doubt.insert(id, attempt);
            }
            // It looks again.
            Ending::Refused(_) => known.listed.clear(),
        }
        Ok(())
    }

    /// Notes something of the attempt, or ends the action.
    fn carry_on(&mut self, nth: usize, id: u64, attempt: u32) -> Result<(), String> {
        if self.chance.bool() {
            let note = format!("r-{}", self.tally.calls);
            let body = json!({ "attempt": attempt, "requestId": note });
            let target = format!("/operator/actions/{id}/note");
            let post = request(Method::POST, &target, &self.key, body.to_string());
            return self.send(Intent::Note { id, attempt, note }, post);
        }
        self.providers[nth].begun.remove(&id);
        self.end_action(id)
    }
}
