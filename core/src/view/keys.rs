//! The API keys, as they are in memory.

use crate::model::KeyInfo;
use crate::sorting::sorted_by_key;
use crate::store::Store;
use crate::store::keys::LiveKey;

/// The keys after the number `after`, at most `count`, in the order of their numbers.
pub(crate) fn after(store: &Store, after: u64, count: usize) -> Vec<KeyInfo> {
    let keys = store.keys();
    let found: Vec<&LiveKey> = keys.iter().filter(|key| key.info.id > after).collect();
    let order = sorted_by_key(found.len(), |row| found.get(row).map(|key| key.info.id));
    let first = order.into_iter().take(count);
    first
        .filter_map(|row| found.get(row as usize))
        .map(|key| key.current())
        .collect()
}
