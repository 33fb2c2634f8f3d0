//! The API keys, as they are in memory.

use crate::model::KeyInfo;
use crate::store::Store;
use crate::store::keys::LiveKey;

/// The keys after the number `after`, at most `count`, in the order of their numbers.
pub(crate) fn after(store: &Store, after: u64, count: usize) -> Vec<KeyInfo> {
    let keys = store.keys();
    let mut found: Vec<&LiveKey> = keys.iter().filter(|key| key.info.id > after).collect();
    found.sort_unstable_by_key(|key| key.info.id);
    found.truncate(count);
    found.into_iter().map(LiveKey::current).collect()
}
