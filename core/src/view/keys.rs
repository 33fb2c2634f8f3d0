//! The API keys, from memory.

use crate::model::KeyInfo;
use crate::store::Store;
use crate::store::fleet::keys::LiveKey;

/// The keys after the number `after`, at most `count`, in the order of their numbers.
pub(crate) fn after(store: &Store, after: u64, count: usize) -> Vec<KeyInfo> {
    let keys = store.keys();
    keys.after(after)
        .take(count)
        .map(LiveKey::current)
        .collect()
}
