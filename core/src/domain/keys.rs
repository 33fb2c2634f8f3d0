//! The secrets of API keys, and which keys are accepted.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::model::{KeyInfo, SecretHash};
use crate::timestamp::Timestamp;

/// What every secret begins with, so that a person or a scanner knows one.
const PREFIX: &str = "dfk_";
/// Random bytes of a secret.
pub(crate) const SECRET_BYTES: usize = 32;
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
    key.revoked.is_none() && key.expires.is_none_or(|expires| now < expires)
}

/// Whether a use at `now` is to be noted after that at `noted`: a minute later, or by a clock that was set back.
pub(crate) fn is_new_use(noted: Option<Timestamp>, now: Timestamp) -> bool {
    noted.is_none_or(|noted| now < noted || now >= noted.plus_seconds(USE_SECONDS))
}
