//! Issuing and revoking API keys.

use crate::domain::keys as rules;
use crate::error::{EngineError, ErrorKind, Result};
use crate::model::{AuditAction, AuditResult, KeyInfo, NewKey, SecretHash, WriteClass};
use crate::store::fleet::keys::{self, StoredKey};
use crate::store::meta;
use crate::timestamp::Timestamp;

use super::{Caller, Context, Mutation, Outcome};

/// Stores a new key by the hash of its secret. Refused where [`rules::check_issue`] refuses it.
#[derive(Debug)]
pub(crate) struct IssueKey {
    pub(crate) key: NewKey,
    pub(crate) hash: SecretHash,
    pub(crate) by: Caller,
}

impl Mutation for IssueKey {
    type Output = KeyInfo;

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<KeyInfo>> {
        let mut row = context.row(AuditAction::IssueKey, &self.by, None);
        let others = keys::infos(context.tables)?;
        row.set_detail(&self.key.name);
        if let Err(refusal) = rules::check_issue(&self.key, &others, context.now) {
            return context.refused(row, refusal);
        }
        let info = KeyInfo {
            id: meta::next(context.tables, meta::Sequence::Key)?,
            name: self.key.name,
            scopes: self.key.scopes,
            created: context.now,
            expires: self.key.expires,
            last_used: None,
            revoked: None,
        };
        context.write_row(row, AuditResult::Completed)?;
        let hash = self.hash;
        let key = StoredKey { hash, info };
        keys::put(context.tables, &key)?;
        context.key_issued(&key.info, &self.by)?;
        Ok(Ok(key.info))
    }
}

/// Revokes a key. Refused where [`rules::check_revoke`] refuses it, unless forced.
#[derive(Debug)]
pub(crate) struct RevokeKey {
    pub(crate) id: u64,
    pub(crate) force: bool,
    pub(crate) by: Caller,
}

impl Mutation for RevokeKey {
    type Output = ();

    fn class(&self) -> WriteClass {
        WriteClass::Essential
    }

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome> {
        let mut row = context.row(AuditAction::RevokeKey, &self.by, None);
        row.set_detail(&format!("key {}", self.id));
        let Some(mut key) = keys::get(context.tables, self.id)? else {
            let error = EngineError::new(ErrorKind::NotFound, "No such key.");
            return context.refused(row, error);
        };
        row.set_detail(&key.info.name);
        if key.info.revoked.is_some() {
            context.write_row(row, AuditResult::NoChange)?;
            return Ok(Ok(()));
        }
        let all = keys::infos(context.tables)?;
        if !self.force
            && let Err(refusal) = rules::check_revoke(self.id, &all, context.now)
        {
            return context.refused(row, refusal);
        }
        key.info.revoked = Some(context.now);
        keys::put(context.tables, &key)?;
        context.key_revoked(&key.info, &self.by)?;
        context.write_row(row, AuditResult::Completed)?;
        Ok(Ok(()))
    }
}

/// Stores when keys were last used, not with each request.
#[derive(Debug)]
pub(crate) struct TouchKeys(pub(crate) Vec<(u64, Timestamp)>);

impl Mutation for TouchKeys {
    type Output = ();

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome> {
        for (id, time) in self.0 {
            if let Some(mut key) = keys::get(context.tables, id)?
                // A node may report an earlier use than another. A stored use in the future is of a clock that was ahead.
                && (key.info.last_used < Some(time) || key.info.last_used > Some(context.now))
            {
                key.info.last_used = Some(time);
                keys::put(context.tables, &key)?;
            }
        }
        Ok(Ok(()))
    }
}
