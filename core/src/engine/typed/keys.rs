//! API keys, from Rust.

use crate::domain::{key_limits, keys};
use crate::engine::Engine;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::{EngineError, Result};
use crate::model::{IssuedKey, KeyInfo, NewKey};
use crate::mutation::{Caller, IssueKey, RevokeKey};
use crate::view;

/// Keys.
impl Engine {
    /// Issues an API key. The secret is in the result and nowhere else.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a name that is empty, too long, looks like another or is `host`, no scope, an expiry that has passed,
    /// or limits that exclude every action or no workspace;
    /// [`ErrorKind::DuplicateKeyName`] while a key of that name, compared without case, is accepted.
    pub fn issue_key(&self, key: NewKey) -> Result<IssuedKey> {
        self.issue_key_shown(key, |_| Ok(()))
    }

    /// Shows the secret of a new API key, and stores the key once `show` has returned: so there is no key that was not shown. If
    /// `show` fails, the key is refused or the process ends before this returns, the shown secret may belong to no key.
    ///
    /// # Errors
    /// As [`Self::issue_key`], and what `show` returns.
    pub fn issue_key_shown<E: From<EngineError>>(
        &self,
        key: NewKey,
        show: impl FnOnce(&str) -> Result<(), E>,
    ) -> Result<IssuedKey, E> {
        keys::check_name(&key.name).map_err(EngineError::from)?;
        if key.scopes.is_empty() {
            return Err(EngineError::invalid("scopes", "A key needs at least one scope.").into());
        }
        key_limits::check(&key.limits, key.scopes).map_err(EngineError::from)?;
        let (secret, hash) = self.core().new_secret()?;
        show(&secret)?;
        let by = Caller::HOST;
        let info = self.core().run(IssueKey { key, hash, by })?;
        Ok(IssuedKey { info, secret })
    }

    /// Every key, revoked ones included, in the order they were issued.
    #[must_use]
    pub fn keys(&self) -> Vec<KeyInfo> {
        view::keys::after(&self.core().store, 0, usize::MAX)
    }

    /// Whether any key is accepted now.
    #[must_use]
    pub fn has_key(&self) -> bool {
        let now = self.now();
        let keys = self.core().store.keys();
        keys.iter().any(|key| keys::is_accepted(&key.info, now))
    }

    /// Whether the key of that number is accepted now.
    #[must_use]
    pub fn is_key_accepted(&self, id: u64) -> bool {
        self.core().is_accepted(id)
    }

    /// Revokes a key; from now on it is not accepted. Revoking it again changes nothing.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]; [`ErrorKind::LastAdminKey`] when no other accepted key without expiry has scope `admin`, see
    /// [`Self::force_revoke_key`].
    pub fn revoke_key(&self, id: u64) -> Result<()> {
        self.revoke(id, false)
    }

    /// Revokes a key, even the last one with scope `admin` that does not expire: then only the host can issue another.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`].
    pub fn force_revoke_key(&self, id: u64) -> Result<()> {
        self.revoke(id, true)
    }

    fn revoke(&self, id: u64, force: bool) -> Result<()> {
        let by = Caller::HOST;
        self.core().run(RevokeKey { id, force, by })
    }
}
