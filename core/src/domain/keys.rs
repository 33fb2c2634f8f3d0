//! The secrets of API keys, which keys are accepted, and which may be issued and revoked.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::error::{EngineError, ErrorKind, Result};
use crate::model::identity::folded;
use crate::model::{KeyInfo, NewKey, Scope, SecretHash};
use crate::timestamp::Timestamp;

/// What every secret begins with, so that a person or a scanner knows one.
const PREFIX: &str = "dfk_";
/// Random bytes of a secret.
pub(crate) const SECRET_BYTES: usize = 32;
/// Why a key that would never be accepted is not issued.
pub(crate) const EXPIRED: &str = "The field expires must be a time in the future.";
/// The last use of a key is noted to the minute.
const USE_SECONDS: i64 = 60;

/// The secret made of these random bytes.
pub(crate) fn secret(bytes: &[u8; SECRET_BYTES]) -> String {
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// What is stored of a secret.
pub(crate) fn hash(secret: &str) -> SecretHash {
    Sha256::digest(secret.as_bytes()).0
}

/// Whether a key is accepted at `now`.
pub(crate) fn is_accepted(key: &KeyInfo, now: Timestamp) -> bool {
    key.revoked.is_none() && is_unexpired(key.expires, now)
}

/// Whether a use at `now` is to be noted after that at `noted`: a minute later, or by a clock that was set back.
pub(crate) fn is_new_use(noted: Option<Timestamp>, now: Timestamp) -> bool {
    noted.is_none_or(|noted| now < noted || now >= noted.plus_seconds(USE_SECONDS))
}

/// Checks that a key may be issued at `now` beside `others`: it has yet to expire, and none that is accepted has its name.
pub(crate) fn check_issue(key: &NewKey, others: &[KeyInfo], now: Timestamp) -> Result<()> {
    if !is_unexpired(key.expires, now) {
        return Err(EngineError::invalid("expires", EXPIRED));
    }
    let name = folded(&key.name);
    let same = |other: &&KeyInfo| is_accepted(other, now) && folded(&other.name) == name;
    let Some(other) = others.iter().find(same) else {
        return Ok(());
    };
    let said = format!(
        "The name {} is that of key {}; revoke that key first, or choose another name.",
        other.name, other.id
    );
    Err(EngineError::new(ErrorKind::DuplicateKeyName, said))
}

/// Whether a key with this expiry, if it has one, has not expired at `now`.
pub(crate) fn is_unexpired(expires: Option<Timestamp>, now: Timestamp) -> bool {
    expires.is_none_or(|expires| now < expires)
}

/// Checks that the key `id` of `keys` may be revoked at `now`: another one that is accepted has scope `admin`, or it has not.
pub(crate) fn check_revoke(id: u64, keys: &[KeyInfo], now: Timestamp) -> Result<()> {
    let mut admins = keys
        .iter()
        .filter(|key| is_accepted(key, now) && key.scopes.grant(Scope::Admin));
    match (admins.next(), admins.next()) {
        (Some(last), None) if last.id == id => {
            let said = format!(
                "Key {id} is the last one with scope admin; issue another one first, or repeat with ?force=true \
                 (--force on the command line)."
            );
            Err(EngineError::new(ErrorKind::LastAdminKey, said))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1000;

    /// A key that is accepted, expired or revoked at [`NOW`].
    fn key(id: u64, scope: Scope, standing: usize) -> KeyInfo {
        let at = |ticks| Some(Timestamp::from_ticks(ticks));
        KeyInfo {
            id,
            name: format!("Key {id}"),
            scopes: [scope].into_iter().collect(),
            created: Timestamp::UNIX_EPOCH,
            expires: if standing == 1 { at(NOW) } else { at(NOW + 1) },
            last_used: None,
            revoked: if standing == 2 { at(NOW) } else { None },
        }
    }

    #[test]
    fn issue_is_refused_for_a_past_expiry_and_the_name_of_an_accepted_key() {
        let now = Timestamp::from_ticks(NOW);
        for standing in 0..3 {
            let others = [key(7, Scope::Read, standing), key(8, Scope::Read, 2)];
            for (name, expires) in [
                ("KEY 7", None),
                ("other", Some(NOW + 1)),
                ("other", Some(NOW)),
                ("key 8", Some(NOW + 1)),
            ] {
                let new = NewKey {
                    name: name.to_owned(),
                    scopes: [Scope::Read].into_iter().collect(),
                    expires: expires.map(Timestamp::from_ticks),
                };
                let expected = if expires == Some(NOW) {
                    Some(ErrorKind::InvalidParameter)
                } else {
                    (name == "KEY 7" && standing == 0).then_some(ErrorKind::DuplicateKeyName)
                };
                let refused = check_issue(&new, &others, now).err();
                assert_eq!(
                    refused.map(|error| error.kind()),
                    expected,
                    "{name} {standing}"
                );
            }
        }
    }

    #[test]
    fn revoke_is_refused_for_the_last_accepted_admin_key_alone() {
        let scopes = [Scope::Admin, Scope::Act];
        let now = Timestamp::from_ticks(NOW);
        for case in 0..36 {
            let (first, second) = (case % 6, case / 6);
            let keys = [first, second].map(|each| (scopes[each % 2], each / 2));
            let keys = [key(1, keys[0].0, keys[0].1), key(2, keys[1].0, keys[1].1)];
            let refused = check_revoke(1, &keys, now).err();
            // Standing 0 and scope admin is 0.
            let expected = (first == 0 && second != 0).then_some(ErrorKind::LastAdminKey);
            assert_eq!(refused.map(|error| error.kind()), expected, "{keys:?}");
        }
    }
}
