//! Issuing and revoking API keys.

use crate::domain::keys as rules;
use crate::error::{EngineError, ErrorKind, Result};
use crate::model::{AuditAction, AuditResult, KeyInfo, KeyLimits, NewKey, SecretHash, WriteClass};
use crate::store::fleet::keys::{self, Destructive, HOUR_SECONDS, StoredKey};
use crate::store::meta;
use crate::timestamp::{TICKS_PER_SECOND, Timestamp};

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
        row.set_detail(&format!("{}{}", self.key.name, self.key.limits.described()));
        if let Err(refusal) = rules::check_issue(&self.key, &others, context.now) {
            return context.refused(row, refusal);
        }
        let info = KeyInfo {
            id: meta::next(context.tables, meta::Sequence::Key)?,
            name: self.key.name,
            scopes: self.key.scopes,
            limits: self.key.limits,
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

impl Context<'_, '_> {
    /// The limits of the caller's key; the host has none.
    pub(super) fn limits(&self, by: &Caller) -> Result<KeyLimits> {
        let key = match by.key_id() {
            Some(id) => keys::get(self.tables, id)?,
            None => None,
        };
        Ok(key.map(|key| key.info.limits).unwrap_or_default())
    }

    /// Counts a destructive action that is about to be accepted; refuses it above the rate of the caller's key, which has these limits.
    pub(super) fn count_destructive(
        &mut self,
        by: &Caller,
        limits: &KeyLimits,
        action: AuditAction,
    ) -> Result<Outcome> {
        let (Some((id, _)), Some(max)) = (&by.key, limits.destructive_per_hour) else {
            return Ok(Ok(()));
        };
        if !action.is_destructive() {
            return Ok(Ok(()));
        }
        let mut hour = Destructive::in_hour(self.tables, *id, self.now)?;
        if hour.count >= u64::from(max) {
            let left = hour.since.plus_seconds(HOUR_SECONDS).ticks() - self.now.ticks();
            let seconds = u32::try_from(left / TICKS_PER_SECOND).unwrap_or(u32::MAX);
            let message = format!(
                "The API key may start {max} destructive actions in an hour, and has done so; try again later, or use another key."
            );
            return Ok(Err(EngineError::throttled(seconds.max(1), message)));
        }
        hour.count += 1;
        hour.put(self.tables, *id)?;
        Ok(Ok(()))
    }
}
