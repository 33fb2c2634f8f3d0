use std::time::Duration;

use super::*;
use crate::limits::sources::{Bounds, Sources};

struct Door {
    slots: Arc<ConnectionSlots>,
    sources: Arc<Sources>,
}

impl Door {
    fn new(max: usize, per_source: Option<usize>) -> Self {
        Self::serving(max, per_source, max)
    }

    fn serving(max: usize, per_source: Option<usize>, served: usize) -> Self {
        let bounds = Bounds {
            served_max: (served, served),
            ..Bounds::default()
        };
        Self {
            slots: Arc::new(ConnectionSlots {
                metrics: Metrics::default(),
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
        let progress = Arc::new(Progress::new(address, self.sources.find_or_add(address)));
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
        crowd[at].0.moved(later, 0);
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
    resting.0.moved(Instant::now() + Duration::from_secs(9), 0);
    let _handling = handling.0.handling();
    let _receiving = (receiving.0.handling(), receiving.0.receiving());
    let [fourth, fifth] = [(); 2].map(|()| door.enter("192.0.2.1"));
    assert!(is_evicted(&resting.0).await && is_evicted(&fourth.0).await);
    let _begun = fifth.0.handling();
    let _sixth = door.enter("192.0.2.1");
    assert!(is_evicted(&receiving.0).await && !is_evicted(&handling.0).await);
}

#[tokio::test]
async fn request_that_waits_for_a_place_is_not_idler_than_a_resting_connection() {
    let door = Door::serving(2, None, 1);
    let waiting = door.enter("192.0.2.1");
    let resting = door.enter("192.0.2.1");
    resting.0.moved(Instant::now() + Duration::from_secs(9), 0);
    let _served = ServedPlace::try_take(&resting.0);
    let mut serving = Box::pin(door.slots.serve(&waiting.0, || false));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(serving.as_mut().poll(&mut context).is_pending());
    let _new = door.enter("192.0.2.2");
    assert!(is_evicted(&resting.0).await && !is_evicted(&waiting.0).await);
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
