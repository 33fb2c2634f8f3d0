//! Providers and the outbox, and the ends that the host gives to actions.

use deskfleet::{
    Action, ActionQuery, ActionState, Attempt, AuditResult, ErrorKind, FailedState, PendingAction,
    Timestamp,
};

use super::fleet::Fleet;
use super::op::{Nth, Process, Which};
use super::rules::{Dispatched, Entry, Running};
use super::{World, same};

/// What is shown of an action, except its number.
type Shown<'a> = (
    (Action, &'a str, Option<&'a str>),
    (Timestamp, Option<Timestamp>),
    (u32, Option<Timestamp>),
    (Option<&'a str>, Option<&'a str>),
);

pub(super) fn shown(action: &PendingAction) -> Shown<'_> {
    let PendingAction {
        action: kind,
        workspace_id,
        compute_type,
        ..
    } = action;
    (
        (*kind, workspace_id, compute_type.as_deref()),
        (action.requested_at, action.due_at),
        (action.attempts, action.last_attempt_at),
        (action.provider.as_deref(), action.note.as_deref()),
    )
}

pub(super) fn expected_as_shown<'a>(running: &'a Running, id: &'a str) -> Shown<'a> {
    let last = running.dispatched.as_ref();
    (
        (running.action, id, running.kind.as_deref()),
        (running.requested, running.due),
        (running.attempts(), last.map(|last| last.at)),
        (
            last.map(|last| &*last.attempt.provider),
            last.and_then(|last| last.note.as_deref()),
        ),
    )
}

impl Running {
    fn attempts(&self) -> u32 {
        self.dispatched
            .as_ref()
            .map_or(0, |last| last.attempt.number)
    }
}

impl Fleet {
    /// The workspace of the action with that row, or why it does not run.
    fn running(&mut self, row: usize) -> Result<&mut Entry, ErrorKind> {
        let runs = |entry: &&mut Entry| {
            let running = entry.running.as_ref();
            running.is_some_and(|running| running.row == row)
        };
        let ended = match self.audit[row].result {
            AuditResult::Cancelled => ErrorKind::Cancelled,
            AuditResult::Accepted
            | AuditResult::Completed
            | AuditResult::Failed
            | AuditResult::Refused
            | AuditResult::NoChange
            | _ => ErrorKind::InvalidResourceState,
        };
        self.desks.values_mut().find(runs).ok_or(ended)
    }

    fn dispatch(&mut self, row: usize, attempt: Attempt, now: Timestamp) -> Result<(), ErrorKind> {
        let entry = self.running(row)?;
        let forbids = |running: &Running| entry.keeps_from(running.action);
        let is_forbidden = entry.running.as_ref().is_some_and(forbids);
        let running = entry.running.as_mut().expect("a running action");
        if running.due.is_some() {
            return Err(ErrorKind::InvalidResourceState);
        }
        if is_forbidden {
            return Err(ErrorKind::LitigationHold);
        }
        let last = running.dispatched.as_ref();
        if last.is_some_and(|last| last.attempt == attempt) {
            return Ok(());
        }
        if attempt.number != running.attempts() + 1 {
            return Err(ErrorKind::InvalidResourceState);
        }
        running.dispatched = Some(Dispatched {
            attempt,
            at: now,
            note: None,
        });
        Ok(())
    }

    fn note_attempt(&mut self, row: usize, attempt: u32, note: &str) -> Result<(), ErrorKind> {
        let running = self.running(row)?.running.as_mut();
        let last = running.and_then(|running| running.dispatched.as_mut());
        let last = last.filter(|last| last.attempt.number == attempt);
        last.ok_or(ErrorKind::InvalidResourceState)?.note = Some(note.to_owned());
        Ok(())
    }
}

impl World {
    /// The action that is meant: its number, its row, and its attempts.
    fn accepted(&mut self, nth: Nth) -> Option<(u64, usize, u32)> {
        let (id, row) = *nth.pick(&self.accepted)?;
        let running = self.fleet.running(row).ok();
        let running = running.and_then(|entry| entry.running.as_ref());
        Some((id, row, running.map_or(0, Running::attempts)))
    }

    pub(super) fn dispatch(&mut self, nth: Nth, process: Process, which: Which) {
        let Some((id, row, attempts)) = self.accepted(nth) else {
            return;
        };
        let (provider, instance) = process.value();
        let number = u32::try_from(i64::from(attempts) + which.value()).expect("small");
        // There is no attempt 0, which a caller may not ask for.
        let mut attempt = Attempt::new(number.max(1), provider);
        attempt.instance = instance.map(str::to_owned);
        same(
            self.engine.dispatch_action(id, attempt.clone()),
            self.fleet.dispatch(row, attempt, self.now),
        );
    }

    pub(super) fn note_attempt(&mut self, nth: Nth, late: bool) {
        let Some((id, row, attempts)) = self.accepted(nth) else {
            return;
        };
        let attempt = attempts.saturating_sub(u32::from(late)).max(1);
        let note = format!("r-{attempt}");
        same(
            self.engine.note_action(id, attempt, &note),
            self.fleet.note_attempt(row, attempt, &note),
        );
    }

    pub(super) fn complete(&mut self, nth: Nth) {
        if let Some((id, desk)) = nth.pick(&self.pending()) {
            self.engine.complete_action(*id).expect("a running action");
            self.fleet.complete(desk, Some(self.now));
        } else if let Some((id, _)) = nth.pick(&self.accepted) {
            same(
                self.engine.complete_action(*id),
                Err(ErrorKind::InvalidResourceState),
            );
        }
    }

    pub(super) fn fail(&mut self, nth: Nth, why: bool) {
        let (state, name) = if why {
            (FailedState::Unhealthy, "UNHEALTHY")
        } else {
            (FailedState::Error, "ERROR")
        };
        let detail = why.then_some("no capacity");
        if let Some((id, desk)) = nth.pick(&self.pending()) {
            let failed = self.engine.fail_action(*id, state, detail);
            failed.expect("a running action");
            self.fleet.fail(desk, self.now, name, detail);
        } else if let Some((id, _)) = nth.pick(&self.accepted) {
            same(
                self.engine.fail_action(*id, state, detail),
                Err(ErrorKind::InvalidResourceState),
            );
        }
    }

    /// The outbox must be the running actions, in the order they were accepted. Returns the numbers with their
    /// workspaces.
    pub(super) fn pending(&self) -> Vec<(u64, String)> {
        let found = self.engine.pending_actions().expect("a good disk");
        let desks = self.fleet.desks.iter();
        let mut running: Vec<_> = desks
            .filter_map(|(id, entry)| Some((entry.running.as_ref()?, id)))
            .collect();
        running.sort_by_key(|(running, _)| running.row);
        let expected = running
            .iter()
            .map(|(running, id)| expected_as_shown(running, id));
        let expected: Vec<_> = expected.collect();
        let actions: Vec<_> = found.iter().map(shown).collect();
        assert_eq!(actions, expected, "the outbox");
        let numbers = |wanted: fn(&PendingAction) -> bool| {
            let wanted = found.iter().filter(|action| wanted(action));
            wanted.map(|action| action.id).collect::<Vec<_>>()
        };
        let all = numbers(|_| true);
        assert!(all.is_sorted_by(|left, right| left < right), "{all:?}");
        for (state, expected) in [
            (ActionState::Pending, all),
            (ActionState::Waiting, numbers(|action| action.attempts == 0)),
            (
                ActionState::Dispatched,
                numbers(|action| action.attempts > 0),
            ),
        ] {
            assert_eq!(self.walk_actions(state), expected, "{state:?}");
        }
        let named = found.into_iter();
        named
            .map(|action| (action.id, action.workspace_id))
            .collect()
    }

    /// The numbers of the actions in that state, from pages of two.
    fn walk_actions(&self, state: ActionState) -> Vec<u64> {
        let mut query = ActionQuery {
            state,
            limit: 2,
            ..ActionQuery::default()
        };
        let mut all = Vec::new();
        loop {
            let page = self.engine.actions(&query).expect("a page");
            all.extend(page.actions.iter().map(|action| action.id));
            assert!(page.next_token.is_none() || page.actions.len() == 2);
            query.next_token = page.next_token;
            if query.next_token.is_none() {
                return all;
            }
        }
    }
}
