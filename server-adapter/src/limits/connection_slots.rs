//! Bounds on open and served connections, in all and per source, and which ones are closed when there is no room.
//!
//! A new connection replaces the idlest one of the source with the most, or of its own source if that has its maximum. So one
//! client excludes no other, and an address with many resting clients still serves the active ones. If a source has only new
//! connections, a further one is closed at once: accepting it would cost more than opening it.
//!
//! A connection is served from the begin of a request, in a place of its own (`served_places.rs`). If one waits for a while, the
//! source with the most places loses its slow connections.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::time::Instant;

use super::served_places::ServedPlace;
use super::sources::network;
use crate::connection::progress::Progress;
use crate::locks::lock;
use crate::log::LogQueue;
use crate::metrics::{Metrics, RefusedConnection};
use crate::options::ServerOptions;

/// Connections beyond the bound, each for one request to `/livez` and nothing else; a new one replaces the oldest.
const LIVEZ_SLOTS: usize = 16;
/// Connections of one source of which the idlest is found: looking at all of a thousand takes longer than accepting the next.
const LOOKED_AT: usize = 32;

/// The connections of a server.
#[derive(Debug)]
pub(crate) struct ConnectionSlots {
    metrics: Metrics,
    max: usize,
    /// `None` where there is no such bound, as behind a proxy, from which all connections come.
    per_source: Option<usize>,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    count: usize,
    sources: BTreeMap<IpAddr, Vec<Arc<Progress>>>,
    livez: Vec<Arc<Progress>>,
    /// The number of searches for an idle connection.
    looks: usize,
}

impl ConnectionSlots {
    pub(crate) fn new(options: &ServerOptions) -> Arc<Self> {
        Arc::new(Self {
            metrics: options.metrics.clone(),
            max: options.connections_max.max(1),
            per_source: Some(options.source_connections_max())
                .filter(|per_source| !options.proxied && *per_source < options.connections_max),
            taken: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        lock(&self.taken)
    }

    /// The slot of a new connection, until it is dropped; `None` if it must be closed at once.
    pub(crate) fn take(self: &Arc<Self>, progress: &Arc<Progress>) -> Option<ConnectionSlot> {
        let network = network(progress.peer);
        let mut taken = self.lock();
        let own = taken.sources.get(&network).map_or(0, Vec::len);
        let crowded = self.per_source.is_some_and(|max| own >= max);
        let has_room = if crowded {
            if !taken.evict(true, |source, _| source == network) {
                self.record_refusal(RefusedConnection::SourceFull, network);
                return None;
            }
            self.record_refusal(RefusedConnection::Idle, network);
            true
        } else if taken.count >= self.max {
            let most = taken.sources.values().map(Vec::len).max();
            let most = most.unwrap_or(0);
            // If the server handles a request on each of those, one of another source that has more than this one.
            let evicted = taken.evict(false, |_, count| count == most)
                || taken.evict(false, |_, count| count > own);
            let reason = if evicted {
                RefusedConnection::Idle
            } else {
                RefusedConnection::ServerFull
            };
            self.record_refusal(reason, network);
            evicted
        } else {
            true
        };
        if has_room {
            taken.count += 1;
            let connections = taken.sources.entry(network).or_default();
            connections.push(Arc::clone(progress));
        } else {
            taken.keep_for_livez(progress);
        }
        Some(ConnectionSlot {
            slots: Arc::clone(self),
            progress: Arc::clone(progress),
        })
    }

    /// A place to be served at. `None` where the connection is kept for one response instead: that of `/livez`, which waits for no
    /// place, or a refusal after ten seconds.
    pub(crate) async fn serve(
        &self,
        progress: &Arc<Progress>,
        is_livez: impl Fn() -> bool,
    ) -> Option<ServedPlace> {
        if let Some(place) = ServedPlace::try_take(progress) {
            return Some(place);
        }
        if !is_livez() {
            let make_room = |source_is_full| self.evict_slow(progress, source_is_full);
            progress.set_waiting(true);
            let place = ServedPlace::take(progress, make_room).await;
            progress.set_waiting(false);
            if place.is_some() {
                return place;
            }
            self.record_refusal(RefusedConnection::Busy, network(progress.peer));
        }
        let mut taken = self.lock();
        taken.remove(progress);
        taken.keep_for_livez(progress);
        None
    }

    /// Ends the slow connections of one source, for one that has waited for a while: of this one, if it has all it may have, or
    /// else of the one with most places.
    fn evict_slow(&self, waiting: &Progress, is_own: bool) {
        let own = &waiting.source.served;
        let waited_for = if is_own {
            own
        } else {
            waiting.source.common_places()
        };
        let now = Instant::now();
        if !waited_for.may_look(now) {
            return;
        }
        let taken = self.lock();
        let served = |connections: &[Arc<Progress>]| {
            connections
                .iter()
                .filter(|progress| progress.is_served())
                .count()
        };
        let of = network(waiting.peer);
        let slow = |connections: &[Arc<Progress>]| -> Vec<Arc<Progress>> {
            let is_slow = |progress: &&Arc<Progress>| progress.is_served() && progress.is_slow(now);
            connections.iter().filter(is_slow).cloned().collect()
        };
        let candidates = taken.sources.iter();
        let candidates = candidates.filter(|(source, _)| !is_own || **source == of);
        let most = candidates
            .map(|(source, connections)| (served(connections), *source, slow(connections)))
            .filter(|(_, _, slow)| !slow.is_empty())
            .max_by_key(|(served, ..)| *served);
        drop(taken);
        for progress in most.into_iter().flat_map(|(_, _, slow)| slow) {
            self.record_refusal(RefusedConnection::Slow, network(progress.peer));
            progress.evict();
        }
    }

    /// Counts a connection that is closed or refused, and logs it once a minute.
    pub(crate) fn record_refusal(&self, reason: RefusedConnection, source: IpAddr) {
        self.metrics.connection_refused(reason);
        let source = source.to_canonical();
        let line = match reason {
            RefusedConnection::SourceFull => {
                format!(
                    "deskfleet: {source} has all connections that one source may have (`connections_per_source`); more are closed at once"
                )
            }
            RefusedConnection::ServerFull => {
                format!(
                    "deskfleet: a connection of {source} gets no response but that of /livez: all are taken, each by a request (`connections_max`)"
                )
            }
            RefusedConnection::Idle => {
                format!(
                    "deskfleet: idle connections are closed for new ones, now for one of {source} (`connections_max`, `connections_per_source`)"
                )
            }
            RefusedConnection::Slow => {
                format!(
                    "deskfleet: a connection of {source} that brought or took next to nothing is closed: others wait to be served (`connections_served`)"
                )
            }
            RefusedConnection::Busy => {
                format!(
                    "deskfleet: a request of {source} is refused: no place to be served at came free for ten seconds (`connections_served`)"
                )
            }
            RefusedConnection::Unread => {
                format!(
                    "deskfleet: a request of {source} is refused: too many bytes of responses wait to be read (`responses_bytes_max`)"
                )
            }
        };
        LogQueue::stderr().line_about(reason.label(), &line);
    }
}

impl Taken {
    /// Ends the idlest connection of the sources that `may` lose one, by their address and how many they have. `spares_new` leaves
    /// new ones. False if there is none, or the server handles a request on each of them.
    fn evict(&mut self, spares_new: bool, may: impl Fn(IpAddr, usize) -> bool) -> bool {
        let crowded = || {
            let sources = self.sources.iter();
            sources.filter(|(source, connections)| may(**source, connections.len()))
        };
        let count: usize = crowded().map(|(_, connections)| connections.len()).sum();
        self.looks += 1;
        let step = count.div_ceil(LOOKED_AT).max(1);
        // The search begins elsewhere each time, so that each one gets its turn.
        let first = self.looks % step;
        let connections = crowded()
            .flat_map(|(_, connections)| connections)
            .skip(first)
            .step_by(step);
        let idlest = connections
            .filter(|progress| !spares_new || !progress.is_fresh())
            .filter_map(|progress| Some((progress.idleness()?, progress)))
            .max_by_key(|(idleness, _)| *idleness)
            .map(|(_, progress)| Arc::clone(progress));
        if let Some(idlest) = &idlest {
            self.remove(idlest);
            idlest.evict();
        }
        idlest.is_some()
    }

    /// It gets one of the places that are kept for `/livez`, the oldest of which makes room.
    fn keep_for_livez(&mut self, progress: &Arc<Progress>) {
        if self.livez.len() >= LIVEZ_SLOTS {
            self.livez.remove(0).evict();
        }
        progress.keep_for_livez();
        self.livez.push(Arc::clone(progress));
    }

    /// Forgets a connection, unless that was done already.
    fn remove(&mut self, progress: &Arc<Progress>) {
        let is_it = |other: &Arc<Progress>| Arc::ptr_eq(other, progress);
        if let Some(at) = self.livez.iter().position(is_it) {
            self.livez.remove(at);
            return;
        }
        let network = network(progress.peer);
        let Some(connections) = self.sources.get_mut(&network) else {
            return;
        };
        if let Some(at) = connections.iter().position(is_it) {
            connections.swap_remove(at);
            self.count -= 1;
        }
        if connections.is_empty() {
            self.sources.remove(&network);
        }
    }
}

/// The place of one connection.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    slots: Arc<ConnectionSlots>,
    progress: Arc<Progress>,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.slots.lock().remove(&self.progress);
    }
}

#[cfg(test)]
mod tests;
