//! Keys: issued and revoked.

use deskfleet::{AuditAction, AuditResult, ErrorKind, KeyInfo, NewKey};

use super::audit::Row;
use super::op::{Nth, Sent};
use super::{World, same};

impl World {
    pub(super) fn issue_key(&mut self, rights: &'static [deskfleet::Scope], expires: Sent) {
        let name = format!("key-{}", self.keys.len());
        let expires = expires.time().filter(|time| *time > self.now);
        let scopes = rights.iter().copied().collect();
        let issued = self
            .engine
            .issue_key(NewKey {
                name: name.clone(),
                scopes,
                expires,
            })
            .expect("a good key");
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
        };
        assert_eq!(issued.info, expected);
        self.keys.push(expected);
        self.key_row(AuditAction::IssueKey, name);
    }

    pub(super) fn revoke_key(&mut self, nth: Nth) {
        let active: Vec<_> = (0..self.keys.len())
            .filter(|index| self.keys[*index].revoked.is_none())
            .collect();
        let Some(&index) = nth.of(&active) else {
            same(self.engine.revoke_key(u64::MAX), Err(ErrorKind::NotFound));
            let row = Row::refused(self.now, AuditAction::RevokeKey, ErrorKind::NotFound);
            self.fleet.note(row);
            return;
        };
        self.engine.revoke_key(self.keys[index].id).expect("a key");
        self.keys[index].revoked = Some(self.now);
        self.key_row(AuditAction::RevokeKey, self.keys[index].name.clone());
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
