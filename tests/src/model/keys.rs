//! Keys: issued and revoked.

use deskfleet::{AuditAction, AuditResult, ErrorKind, KeyInfo, KeyLimits, NewKey, Scopes};

use super::audit::Row;
use super::op::{Nth, Sent};
use super::{World, same};

impl World {
    pub(super) fn issue_key(&mut self, rights: &'static [deskfleet::Scope], expires: Sent) {
        // Three names, in two spellings.
        let number = self.keys.len() % 3;
        let name = if self.keys.len().is_multiple_of(2) {
            format!("key-{number}")
        } else {
            format!("KEY-{number}")
        };
        let expires = expires.time();
        let scopes: Scopes = rights.iter().copied().collect();
        let refusal = if expires.is_some_and(|time| time <= self.now) {
            Some(ErrorKind::InvalidParameter)
        } else {
            let mut live = self.keys.iter().filter(|key| self.is_live(key));
            let taken = live.any(|key| key.name.eq_ignore_ascii_case(&name));
            taken.then_some(ErrorKind::DuplicateKeyName)
        };
        let issued = self
            .engine
            .issue_key(NewKey::new(name.clone(), scopes.iter()).expiring(expires));
        let Some(issued) = same(issued, refusal.map_or(Ok(()), Err)) else {
            self.key_refused(AuditAction::IssueKey, refusal, &name);
            return;
        };
        assert!(
            issued.secret.starts_with("dfk_") && issued.secret.len() == 4 + 43,
            "32 bytes in base64url"
        );
        assert!(
            self.keys.iter().all(|key| key.id < issued.info.id),
            "a number used twice"
        );
        let expected = KeyInfo {
            id: issued.info.id,
            name: name.clone(),
            scopes,
            created: self.now,
            expires,
            last_used: None,
            revoked: None,
            limits: KeyLimits::default(),
        };
        assert_eq!(issued.info, expected);
        self.keys.push(expected);
        self.key_row(AuditAction::IssueKey, name);
    }

    pub(super) fn revoke_key(&mut self, nth: Nth, force: bool) {
        let active: Vec<_> = (0..self.keys.len())
            .filter(|index| self.keys[*index].revoked.is_none())
            .collect();
        let Some(&index) = nth.pick(&active) else {
            same(self.engine.revoke_key(u64::MAX), Err(ErrorKind::NotFound));
            let key = format!("key {}", u64::MAX);
            self.key_refused(AuditAction::RevokeKey, Some(ErrorKind::NotFound), &key);
            return;
        };
        let id = self.keys[index].id;
        let administers =
            |key: &KeyInfo| self.is_live(key) && key.scopes.grant(deskfleet::Scope::Admin);
        let expires = self.keys[index].expires.is_some();
        let stays = |key: &KeyInfo| administers(key) && (expires || key.expires.is_none());
        let others = self.keys.iter().filter(|key| key.id != id);
        let last = administers(&self.keys[index]) && !{ others }.any(stays);
        if force {
            self.engine.force_revoke_key(id).expect("a key");
        } else if last {
            let refusal = ErrorKind::LastAdminKey;
            same(self.engine.revoke_key(id), Err(refusal));
            let name = self.keys[index].name.clone();
            self.key_refused(AuditAction::RevokeKey, Some(refusal), &name);
            return;
        } else {
            self.engine.revoke_key(id).expect("a key");
        }
        self.keys[index].revoked = Some(self.now);
        self.key_row(AuditAction::RevokeKey, self.keys[index].name.clone());
    }

    fn is_live(&self, key: &KeyInfo) -> bool {
        key.revoked.is_none() && key.expires.is_none_or(|expires| self.now < expires)
    }

    fn key_refused(&mut self, action: AuditAction, refusal: Option<ErrorKind>, key: &str) {
        let refusal = refusal.expect("a refusal");
        let row = Row::refused(self.now, action, refusal);
        self.fleet.add_row(Row {
            detail: Some(Some(format!("{refusal:?}: {key}"))),
            ..row
        });
    }

    fn key_row(&mut self, action: AuditAction, name: String) {
        let row = Row::open(self.now, action, AuditResult::Completed);
        self.fleet.audit.push(Row {
            workspace: Some(None),
            detail: Some(Some(name)),
            ..row
        });
    }
}
