//! Who has a connection: a bound on all of them and on those of one source, and who goes when there is no room.
//!
//! A new connection takes the place of the idlest one of the source that has most, or of its own source where that has all it
//! may have. So one client excludes nobody else, and an address with many resting clients still serves those that are active.
//! Where a source has nothing but connections that are new as well, a further one is closed at once: to take it would cost more
//! than to send it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::locks::lock;
use crate::log::LogQueue;
use crate::options::ServerOptions;
use crate::progress::Progress;
use crate::sources::network;

/// Connections beyond the bound, each for one request to `/livez` and nothing else; a new one replaces the oldest.
const LIVEZ_SLOTS: usize = 16;
/// Connections of one source of which the idlest is found: looking at all of a thousand takes longer than accepting the next.
const LOOKED_AT: usize = 32;

/// The connections of a server.
#[derive(Debug)]
pub(crate) struct ConnectionSlots {
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
    /// How often an idle connection was looked for.
    looks: usize,
}

impl ConnectionSlots {
    pub(crate) fn new(options: &ServerOptions) -> Arc<Self> {
        Arc::new(Self {
            max: options.connections_max.max(1),
            per_source: Some(options.source_connections_max())
                .filter(|per_source| !options.proxied && *per_source < options.connections_max),
            taken: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        lock(&self.taken)
    }

    /// The place of a new connection, until it is dropped; `None` where it is to be closed at once.
    pub(crate) fn take(self: &Arc<Self>, progress: &Arc<Progress>) -> Option<ConnectionSlot> {
        let network = network(progress.peer);
        let mut taken = self.lock();
        let own = taken.sources.get(&network).map_or(0, Vec::len);
        let crowded = self.per_source.is_some_and(|max| own >= max);
        let has_room = if crowded {
            if !taken.evict(true, |source, _| source == network) {
                return None;
            }
            true
        } else if taken.count >= self.max {
            LogQueue::stderr().line_about(
                "connections",
                "deskfleet: all connections are taken; the idlest of the source with most of them are closed",
            );
            let most = taken.sources.values().map(Vec::len).max();
            let most = most.unwrap_or(0);
            // If the server handles a request on each of those, one of another source that has more than this one.
            taken.evict(false, |_, count| count == most)
                || taken.evict(false, |_, count| count > own)
        } else {
            true
        };
        if has_room {
            taken.count += 1;
            let connections = taken.sources.entry(network).or_default();
            connections.push(Arc::clone(progress));
        } else {
            if taken.livez.len() >= LIVEZ_SLOTS {
                taken.livez.remove(0).evict();
            }
            progress.keep_for_livez();
            taken.livez.push(Arc::clone(progress));
        }
        Some(ConnectionSlot {
            slots: Arc::clone(self),
            progress: Arc::clone(progress),
        })
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
        // Others each time, so that each one's turn comes.
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
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::*;
    use crate::sources::{Bounds, Sources};

    struct Door {
        slots: Arc<ConnectionSlots>,
        sources: Arc<Sources>,
    }

    impl Door {
        fn new(max: usize, per_source: Option<usize>) -> Self {
            let bounds = Bounds {
                requests_max: 0,
                bodies_bytes_max: 0,
                largest_body: 0,
                event_streams_max: 0,
                slow_reads_max: 0,
            };
            Self {
                slots: Arc::new(ConnectionSlots {
                    max,
                    per_source,
                    taken: Mutex::default(),
                }),
                sources: Sources::new(bounds),
            }
        }

        fn enter(&self, address: &str) -> (Arc<Progress>, ConnectionSlot) {
            self.try_enter(address).unwrap()
        }

        fn try_enter(&self, address: &str) -> Option<(Arc<Progress>, ConnectionSlot)> {
            let address = address.parse().unwrap();
            let progress = Arc::new(Progress::new(address, self.sources.of(address)));
            let slot = self.slots.take(&progress)?;
            Some((progress, slot))
        }
    }

    async fn is_evicted(progress: &Progress) -> bool {
        tokio::time::timeout(Duration::ZERO, progress.evicted())
            .await
            .is_ok()
    }

    #[tokio::test]
    async fn connection_above_the_bound_evicts_the_idlest_of_the_source_with_most() {
        let door = Door::new(5, None);
        let one = door.enter("192.0.2.1");
        let crowd: Vec<_> = (0..4).map(|_| door.enter("192.0.2.2")).collect();
        let later = Instant::now() + Duration::from_secs(9);
        for at in [0, 1, 3] {
            crowd[at].0.moved(later);
        }
        let new = door.enter("192.0.2.3");
        for (at, (progress, _)) in crowd.iter().enumerate() {
            assert_eq!(is_evicted(progress).await, at == 2, "{at}");
        }
        assert!(!is_evicted(&one.0).await && !new.0.is_kept_for_livez());
        drop(crowd);
        assert_eq!(door.slots.lock().count, 2);
        drop((one, new));
        assert!(door.slots.lock().sources.is_empty());
    }

    #[tokio::test]
    async fn source_with_all_its_connections_evicts_its_own() {
        let door = Door::new(100, Some(2));
        let other = door.enter("192.0.2.1");
        let [first, second] = [(); 2].map(|()| door.enter("2001:db8::1"));
        assert!(door.try_enter("2001:db8::2").is_none(), "all are new");
        drop(second.0.begin());
        let third = door.enter("2001:db8::3");
        assert!(is_evicted(&second.0).await && !is_evicted(&other.0).await);
        assert!(!is_evicted(&first.0).await && !is_evicted(&third.0).await);
    }

    #[tokio::test]
    async fn eviction_takes_idle_then_receiving_and_never_handling_connections() {
        let door = Door::new(3, None);
        let [handling, receiving, resting] = [(); 3].map(|()| door.enter("192.0.2.1"));
        resting.0.moved(Instant::now() + Duration::from_secs(9));
        let _handling = handling.0.handling();
        let _receiving = (receiving.0.handling(), receiving.0.receiving());
        let [fourth, fifth] = [(); 2].map(|()| door.enter("192.0.2.1"));
        assert!(is_evicted(&resting.0).await && is_evicted(&fourth.0).await);
        let _begun = fifth.0.handling();
        let _sixth = door.enter("192.0.2.1");
        assert!(is_evicted(&receiving.0).await && !is_evicted(&handling.0).await);
    }

    #[tokio::test]
    async fn connections_beyond_the_bound_are_kept_for_livez() {
        let door = Door::new(1, None);
        let busy = door.enter("192.0.2.1");
        let _handling = busy.0.handling();
        let kept: Vec<_> = (0..=LIVEZ_SLOTS).map(|_| door.enter("192.0.2.2")).collect();
        for (at, (progress, _)) in kept.iter().enumerate() {
            assert!(progress.is_kept_for_livez());
            assert_eq!(is_evicted(progress).await, at == 0, "{at}");
        }
        drop(kept);
        assert!(door.slots.lock().livez.is_empty());
    }
}
