//! How each receiver takes what is sent.

use std::fmt;
use std::sync::Mutex;

use deskfleet::Timestamp;

use crate::locks::lock;
use crate::log::LogQueue;

/// Failures in a row after which a receiver counts as failing: a single one is no news.
const FAILING_FROM: u32 = 3;

/// A receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Receiver {
    /// The number of a webhook, from 1; `None` for the heartbeat.
    pub(crate) webhook: Option<usize>,
    /// Its address without what follows the host, which may be secret.
    pub(crate) host: String,
}

impl Receiver {
    /// Its name in metrics: `webhook-1`, `heartbeat`.
    pub(crate) fn label(&self) -> String {
        match self.webhook {
            Some(number) => format!("webhook-{number}"),
            None => "heartbeat".to_owned(),
        }
    }
}

impl fmt::Display for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.webhook {
            Some(number) => write!(f, "webhook {number} ({})", self.host),
            None => write!(f, "the heartbeat ({})", self.host),
        }
    }
}

/// How a receiver takes what is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReceiverState {
    /// The receiver.
    pub(crate) receiver: Receiver,
    /// Requests that it took.
    pub(crate) taken: u64,
    /// Requests that it did not take; each is sent again.
    pub(crate) failures: u64,
    /// Since when it takes none, if several in a row were not taken.
    pub(crate) failing_since: Option<Timestamp>,
    /// Why the last one was not taken.
    pub(crate) last_error: Option<String>,
    /// Failures since the last request that was taken, and when the first of them was.
    in_a_row: u32,
    first_failed: Option<Timestamp>,
}

/// All receivers, in the order of their settings.
#[derive(Debug, Default)]
pub(crate) struct Receivers(Mutex<Vec<ReceiverState>>);

impl Receivers {
    /// These are the receivers from now on; those that were receivers before keep their state.
    pub(super) fn begin(&self, receivers: Vec<Receiver>) {
        let mut states = lock(&self.0);
        let new = |receiver| ReceiverState {
            receiver,
            taken: 0,
            failures: 0,
            failing_since: None,
            last_error: None,
            in_a_row: 0,
            first_failed: None,
        };
        let known = |receiver: Receiver| {
            let known = states.iter().find(|state| state.receiver == receiver);
            known.cloned().unwrap_or_else(|| new(receiver))
        };
        *states = receivers.into_iter().map(known).collect();
    }

    pub(crate) fn all(&self) -> Vec<ReceiverState> {
        lock(&self.0).clone()
    }

    /// Counts a request that was taken. The log has a line where it is the first one after several that were not.
    pub(super) fn taken(&self, receiver: &Receiver) {
        let since = self.change(receiver, |state| {
            state.taken += 1;
            state.in_a_row = 0;
            state.first_failed = None;
            state.last_error = None;
            state.failing_since.take()
        });
        if let Some(since) = since {
            LogQueue::stderr().line(&format!(
                "deskfleet: {receiver} takes requests again; it took none since {since}"
            ));
        }
    }

    /// Counts a request that was not taken. The log has a line after several in a row.
    pub(super) fn failed(&self, receiver: &Receiver, now: Timestamp, reason: &str, what: &str) {
        let since = self.change(receiver, |state| {
            state.failures += 1;
            state.in_a_row = state.in_a_row.saturating_add(1);
            state.last_error = Some(reason.to_owned());
            let first = *state.first_failed.get_or_insert(now);
            if state.in_a_row < FAILING_FROM || state.failing_since.is_some() {
                return None;
            }
            state.failing_since = Some(first);
            state.failing_since
        });
        if let Some(since) = since {
            LogQueue::stderr().warning(&format!(
                "deskfleet: {receiver} takes no requests since {since}: {reason}; {what}"
            ));
        }
    }

    /// A receiver that is none any more is left alone.
    fn change(
        &self,
        receiver: &Receiver,
        change: impl FnOnce(&mut ReceiverState) -> Option<Timestamp>,
    ) -> Option<Timestamp> {
        let mut states = lock(&self.0);
        let known = states.iter_mut().find(|state| state.receiver == *receiver);
        known.and_then(change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receiver_fails_since_the_first_of_three_failures_until_it_takes_one() {
        let receiver = Receiver {
            webhook: Some(1),
            host: "https://h".to_owned(),
        };
        let receivers = Receivers::default();
        receivers.begin(vec![receiver.clone()]);
        let since = || receivers.all()[0].failing_since;
        for second in 1..=4 {
            assert_eq!(since().is_some(), second > 3);
            let now = Timestamp::from_unix_seconds(second);
            receivers.failed(&receiver, now, "it returned 500", "");
        }
        assert_eq!(since(), Some(Timestamp::from_unix_seconds(1)));
        receivers.taken(&receiver);
        let state = &receivers.all()[0];
        assert_eq!((state.taken, state.failures), (1, 4));
        assert_eq!((state.failing_since, &state.last_error), (None, &None));
        receivers.begin(Vec::new());
        receivers.taken(&receiver);
        assert_eq!(receivers.all(), []);
    }
}
