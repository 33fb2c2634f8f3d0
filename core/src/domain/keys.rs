//! The secrets of API keys, which keys are accepted, and which may be issued and revoked.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::error::{EngineError, ErrorKind, Result};
use crate::model::identity::{id_key, is_invisible};
use crate::model::{KeyInfo, NewKey, Scope, SecretHash};
use crate::timestamp::Timestamp;

use super::validation::{self, Violation};

/// The name of the host itself in audit, events and holds.
pub(crate) const HOST_NAME: &str = "host";
/// The prefix of every secret, by which a person or a scanner recognises one.
const PREFIX: &str = "dfk_";
/// Random bytes of a secret.
pub(crate) const SECRET_BYTES: usize = 32;
/// The refusal to issue a key that has expired already.
pub(crate) const EXPIRED: &str = "The field expires must be a time in the future.";
/// The last use of a key is stored to the minute.
const USE_SECONDS: i64 = 60;

/// The secret made of these random bytes.
pub(crate) fn secret(bytes: &[u8; SECRET_BYTES]) -> String {
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// The hash that is stored of a secret.
pub(crate) fn hash(secret: &str) -> SecretHash {
    Sha256::digest(secret.as_bytes()).0
}

/// Whether a key is accepted at `now`.
pub(crate) fn is_accepted(key: &KeyInfo, now: Timestamp) -> bool {
    key.revoked.is_none() && is_unexpired(key.expires, now)
}

/// Whether a use at `now` replaces the one at `noted`: it is a minute later, or the clock was set back.
pub(crate) fn is_new_use(noted: Option<Timestamp>, now: Timestamp) -> bool {
    noted.is_none_or(|noted| now < noted || now >= noted.plus_seconds(USE_SECONDS))
}

/// Checks that a key may be issued at `now` beside `others`: it has not expired, and no accepted key has its name.
pub(crate) fn check_issue(key: &NewKey, others: &[KeyInfo], now: Timestamp) -> Result<()> {
    if !is_unexpired(key.expires, now) {
        return Err(EngineError::invalid("expires", EXPIRED));
    }
    let name = id_key(&key.name);
    let same = |other: &&KeyInfo| is_accepted(other, now) && id_key(&other.name) == name;
    let Some(other) = others.iter().find(same) else {
        return Ok(());
    };
    let text = format!(
        "The name {} is that of key {}; revoke that key first, or choose another name.",
        other.name, other.id
    );
    Err(EngineError::new(ErrorKind::DuplicateKeyName, text))
}

/// Whether a key with this expiry, if it has one, has not expired at `now`.
pub(crate) fn is_unexpired(expires: Option<Timestamp>, now: Timestamp) -> bool {
    expires.is_none_or(|expires| now < expires)
}

/// Checks the name of a new key: it cannot be mistaken for another name, and is not that of the host.
pub(crate) fn check_name(name: &str) -> Result<(), Violation> {
    let field = "name";
    validation::short_text(field, name)?;
    let message = if name.trim() != name || !name.chars().all(is_printable) {
        "The field name must hold printable characters and spaces, and neither begin nor end with a space."
    } else if name.contains(|char: char| char.is_ascii_alphabetic()) && name.contains(looks_latin) {
        "The field name must not mix Latin letters with those of a script in which some look the same."
    } else if id_key(name) == HOST_NAME {
        "The field name must not be host: the audit calls the host itself so."
    } else {
        return Ok(());
    };
    let message = message.to_owned();
    Err(Violation { field, message })
}

/// Not white space other than a space, not invisible, not for private use.
fn is_printable(char: char) -> bool {
    let is_other_space = char.is_whitespace() && char != ' ';
    !is_other_space
        && !is_invisible(char)
        && !matches!(char, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}

/// Whether a character is of a block with letters that look like Latin ones: Greek, Cyrillic, Armenian, Georgian, Cherokee, Coptic, Lisu,
/// and the letters of mathematics and of full width.
fn looks_latin(char: char) -> bool {
    matches!(char,
        '\u{370}'..='\u{58f}' | '\u{10a0}'..='\u{10ff}' | '\u{13a0}'..='\u{13ff}' | '\u{1c80}'..='\u{1c8f}'
        | '\u{1d00}'..='\u{1dbf}' | '\u{1f00}'..='\u{1fff}' | '\u{2100}'..='\u{218f}' | '\u{2460}'..='\u{24ff}'
        | '\u{2c80}'..='\u{2cff}' | '\u{2de0}'..='\u{2dff}' | '\u{a4d0}'..='\u{a4ff}' | '\u{a640}'..='\u{a69f}'
        | '\u{ab30}'..='\u{abbf}' | '\u{ff00}'..='\u{ff5e}' | '\u{10280}'..='\u{1044f}' | '\u{1d400}'..='\u{1d7ff}'
        | '\u{1f100}'..='\u{1f1ff}')
}

/// Checks that the key `id` of `keys` may be revoked at `now`: it lacks the scope `admin`, or another accepted key has it. If the
/// key never expires, the other one must not expire either.
pub(crate) fn check_revoke(id: u64, keys: &[KeyInfo], now: Timestamp) -> Result<()> {
    let admins = keys
        .iter()
        .filter(|key| is_accepted(key, now) && key.scopes.grant(Scope::Admin));
    let Some(revoked) = admins.clone().find(|key| key.id == id) else {
        return Ok(());
    };
    let mut others = admins.filter(|key| key.id != id);
    if others.any(|key| key.expires.is_none() || revoked.expires.is_some()) {
        return Ok(());
    }
    let text = format!(
        "Key {id} is the last one with scope admin that does not expire; issue another one first, or repeat with ?force=true \
         (--force on the command line)."
    );
    Err(EngineError::new(ErrorKind::LastAdminKey, text))
}

/// Whether a key has not been accepted since before `time`.
pub(crate) fn ended_before(key: &KeyInfo, time: Timestamp) -> bool {
    let ends = [key.revoked, key.expires].into_iter().flatten();
    ends.min().is_some_and(|end| end < time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::KeyLimits;

    const NOW: i64 = 1000;

    /// A key that is accepted, expired or revoked at [`NOW`].
    fn key(id: u64, scope: Scope, standing: usize) -> KeyInfo {
        let at = |ticks| Some(Timestamp::from_ticks(ticks));
        KeyInfo {
            id,
            name: format!("Key {id}"),
            scopes: [scope].into_iter().collect(),
            limits: KeyLimits::default(),
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
                let new =
                    NewKey::new(name, [Scope::Read]).expiring(expires.map(Timestamp::from_ticks));
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
    fn revoke_is_refused_for_the_last_admin_key_that_does_not_expire() {
        let now = Timestamp::from_ticks(NOW);
        // Accepted for ever, accepted and expiring, expired, revoked, and without the scope.
        let of = |id, kind| {
            let mut made = key(
                id,
                [Scope::Admin, Scope::Act][kind / 4],
                [0, 0, 1, 2, 0][kind],
            );
            if kind == 0 {
                made.expires = None;
            }
            made
        };
        for case in 0..25 {
            let (first, second) = (case % 5, case / 5);
            let keys = [of(1, first), of(2, second)];
            let refused = check_revoke(1, &keys, now).err();
            let expected = (first == 0 && second != 0) || (first == 1 && second > 1);
            let expected = expected.then_some(ErrorKind::LastAdminKey);
            assert_eq!(refused.map(|error| error.kind()), expected, "{keys:?}");
        }
    }

    #[test]
    fn names_that_look_like_others_are_refused() {
        for name in [
            "admin",
            "Müller",
            "console 2026-11-20T12:00:00Z 2",
            "админ",
            "デスク ops",
            "a_b/c.d (1)",
            "host 1",
        ] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in [
            "",
            "admin ",
            " admin",
            "\u{a0}admin",
            "ad\u{a0}min",
            "\u{430}dmin",
            "adm\u{456}n",
            "\u{3b1}dmin",
            "\u{202e}nimda",
            "ad\u{200b}min",
            "admin\n",
            "admin\u{feff}",
            "\u{ff41}dmin",
            "\u{1d41a}dmin",
            "\u{e000}",
            "host",
            "Host",
            "HOST",
        ] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn key_has_ended_when_it_was_revoked_or_expired() {
        let (at, later) = (Timestamp::from_ticks(NOW), Timestamp::from_ticks(NOW + 1));
        for (standing, before, after) in [(0, false, false), (1, false, true), (2, false, true)] {
            let key = key(1, Scope::Read, standing);
            assert_eq!(
                (ended_before(&key, at), ended_before(&key, later)),
                (before, after)
            );
        }
    }
}
