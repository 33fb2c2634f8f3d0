//! API keys: which are accepted, how often each may ask, and when it was last used.

use std::sync::Arc;

use crate::domain::keys::{self, SECRET_BYTES};
use crate::error::Result;
use crate::locks::lock;
use crate::model::{PRINCIPAL_ID, SecretHash};
use crate::mutation::TouchKeys;
use crate::store::fleet::keys::LiveKey;

use super::EngineCore;

impl EngineCore {
    /// The accepted key with that secret; records its use.
    pub(crate) fn accepted_key(&self, hash: &SecretHash) -> Option<Arc<LiveKey>> {
        let now = self.now();
        let key = Arc::clone(self.store.keys().get(hash)?);
        if !keys::is_accepted(&key.info, now) {
            return None;
        }
        if let Some(cluster) = self.cluster()
            && cluster.is_revoked_ahead(key.info.id)
        {
            return None;
        }
        if keys::is_new_use(key.used_at(), now) {
            key.set_used_at(now);
        }
        Some(key)
    }

    /// A new secret and its hash.
    pub(crate) fn new_secret(&self) -> Result<(String, SecretHash)> {
        let bytes = self.injected.random::<SECRET_BYTES>()?;
        let secret = keys::secret(&bytes);
        let hash = keys::hash(&secret);
        Ok((secret, hash))
    }

    /// Counts one request of a key; returns the seconds to wait when it made too many in this minute.
    pub(crate) fn throttle(&self, key: u64) -> Option<u32> {
        let max = self.config.limits.key_requests_per_minute?;
        if key == PRINCIPAL_ID {
            return None;
        }
        let seconds = self.now().ticks().div_euclid(10_000_000);
        let minute = seconds.div_euclid(60);
        let mut minutes = lock(&self.key_minutes);
        let (current, count) = minutes.entry(key).or_insert((minute, 0));
        if *current != minute {
            (*current, *count) = (minute, 0);
        }
        if *count < max {
            *count += 1;
            return None;
        }
        u32::try_from(60 - seconds.rem_euclid(60)).ok()
    }

    /// Stores when keys were last used.
    pub(super) fn write_key_uses(&self) -> Result<()> {
        let uses = |key: &LiveKey| key.use_to_write().map(|used_at| (key.info.id, used_at));
        let uses: Vec<_> = self.store.keys().iter().filter_map(uses).collect();
        if uses.is_empty() || self.store.is_read_only() {
            return Ok(());
        }
        match self.run(TouchKeys(uses)) {
            // A last use that cannot be stored fails nothing.
            Err(error) if error.is_for_space() => Ok(()),
            written => written.map(drop),
        }
    }
}
