//! Issuing and revoking API keys.

use crate::error::{EngineError, ErrorKind, Result};
use crate::model::{AuditAction, AuditResult, KeyInfo, NewKey, SecretHash};
use crate::store::keys::{self, StoredKey};
use crate::store::meta;
use crate::timestamp::Timestamp;

use super::{Caller, Context, Mutation, Outcome};

/// Stores a new key by the hash of its secret.
#[derive(Debug)]
pub(crate) struct IssueKey {
    pub(crate) key: NewKey,
    pub(crate) hash: SecretHash,
    pub(crate) by: Caller,
}

impl Mutation for IssueKey {
    type Output = KeyInfo;

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<KeyInfo>> {
        let info = KeyInfo {
            id: meta::next(context.tables, meta::Sequence::Key)?,
            name: self.key.name,
            scopes: self.key.scopes,
            created: context.now,
            expires: self.key.expires,
            last_used: None,
            revoked: None,
        };
        let mut row = context.row(AuditAction::IssueKey, &self.by, None);
        row.set_detail(&info.name);
        context.write_row(row, AuditResult::Completed)?;
        let hash = self.hash;
        let key = StoredKey { hash, info };
        keys::put(context.tables, &key)?;
        Ok(Ok(key.info))
    }
}

/// Revokes a key.
#[derive(Debug)]
pub(crate) struct RevokeKey {
    pub(crate) id: u64,
    pub(crate) by: Caller,
}

impl Mutation for RevokeKey {
    type Output = ();
    const RELIEVES: bool = true;

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome> {
        let mut row = context.row(AuditAction::RevokeKey, &self.by, None);
        let Some(mut key) = keys::get(context.tables, self.id)? else {
            let error = EngineError::new(ErrorKind::NotFound, "No such key.");
            return context.refused(row, error);
        };
        row.set_detail(&key.info.name);
        if key.info.revoked.is_some() {
            context.write_row(row, AuditResult::NoChange)?;
            return Ok(Ok(()));
        }
        key.info.revoked = Some(context.now);
        keys::put(context.tables, &key)?;
        context.write_row(row, AuditResult::Completed)?;
        Ok(Ok(()))
    }
}

/// Stores when keys were last used: now and then, not with each request.
#[derive(Debug)]
pub(crate) struct TouchKeys(pub(crate) Vec<(u64, Timestamp)>);

impl Mutation for TouchKeys {
    type Output = ();
    const RELIEVES: bool = true;

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome> {
        for (id, time) in self.0 {
            if let Some(mut key) = keys::get(context.tables, id)?
                && key.info.last_used != Some(time)
            {
                key.info.last_used = Some(time);
                keys::put(context.tables, &key)?;
            }
        }
        Ok(Ok(()))
    }
}
