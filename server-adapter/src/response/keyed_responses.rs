//! Responses in progress that were requested with a key: they end when the key is no longer accepted.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use deskfleet::Engine;

use crate::connection::progress::Progress;
use crate::locks::lock;

/// The responses in progress. Short ones are sent at once and not listed.
#[derive(Debug, Default)]
pub(crate) struct KeyedResponses(Mutex<Sent>);

#[derive(Debug, Default)]
struct Sent {
    next_number: u64,
    /// The id of the key, and the connection.
    responses: BTreeMap<u64, (u64, Arc<Progress>)>,
}

/// A response that is being sent, until it is dropped.
#[derive(Debug)]
pub(crate) struct KeyedResponse {
    all: Arc<KeyedResponses>,
    number: u64,
}

impl KeyedResponses {
    pub(crate) fn begin(self: &Arc<Self>, key: u64, progress: &Arc<Progress>) -> KeyedResponse {
        let mut sent = lock(&self.0);
        let number = sent.next_number;
        sent.next_number += 1;
        sent.responses.insert(number, (key, Arc::clone(progress)));
        KeyedResponse {
            all: Arc::clone(self),
            number,
        }
    }

    /// Ends the connections of responses whose key was revoked or has expired: bytes that hyper has cannot be taken back
    /// otherwise.
    pub(crate) fn end_refused(&self, engine: &Engine) {
        let responses: Vec<_> = lock(&self.0).responses.values().cloned().collect();
        for (key, progress) in responses {
            if !engine.is_key_accepted(key) {
                progress.cut_off();
            }
        }
    }
}

impl Drop for KeyedResponse {
    fn drop(&mut self) {
        lock(&self.all.0).responses.remove(&self.number);
    }
}
