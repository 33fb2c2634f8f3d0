//! Issuing and revoking API keys.

use crate::error::{EngineError, ErrorKind, Result};
use crate::model::{AuditAction, AuditResult, KeyInfo, NewKey, SecretHash};
use crate::store::keys::{self, StoredKey};
use crate::store::meta;
use crate::timestamp::Timestamp;

use super::{Caller, Context, Outcome};

impl Context<'_, '_> {
    pub(crate) fn issue_key(
        &mut self,
        key: NewKey,
        hash: SecretHash,
        by: &Caller,
    ) -> Result<Outcome<KeyInfo>> {
        let info = KeyInfo {
            id: meta::next(self.tables, meta::Sequence::Key)?,
            name: key.name,
            scopes: key.scopes,
            created: self.now,
            expires: key.expires,
            last_used: None,
            revoked: None,
        };
        let mut row = self.row(AuditAction::IssueKey, by, None);
        row.set_detail(&info.name);
        self.write_row(row, AuditResult::Completed)?;
        let key = StoredKey { hash, info };
        keys::put(self.tables, &key)?;
        Ok(Ok(key.info))
    }

    pub(crate) fn revoke_key(&mut self, id: u64, by: &Caller) -> Result<Outcome> {
        let mut row = self.row(AuditAction::RevokeKey, by, None);
        let Some(mut key) = keys::get(self.tables, id)? else {
            let error = EngineError::new(ErrorKind::NotFound, "No such key.");
            return self.refused(row, error);
        };
        row.set_detail(&key.info.name);
        if key.info.revoked.is_some() {
            self.write_row(row, AuditResult::NoChange)?;
            return Ok(Ok(()));
        }
        key.info.revoked = Some(self.now);
        keys::put(self.tables, &key)?;
        self.write_row(row, AuditResult::Completed)?;
        Ok(Ok(()))
    }

    /// Notes when keys were last used; told now and then, not with each request.
    pub(crate) fn touch_keys(&mut self, used: &[(u64, Timestamp)]) -> Result<Outcome> {
        for (id, time) in used {
            if let Some(mut key) = keys::get(self.tables, *id)?
                && key.info.last_used != Some(*time)
            {
                key.info.last_used = Some(*time);
                keys::put(self.tables, &key)?;
            }
        }
        Ok(Ok(()))
    }
}
