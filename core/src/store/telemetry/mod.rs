//! Telemetry on disk: the arrival queue, the per-instance history it is filed into, and the newest record of each user.

pub(crate) mod accepted;
pub(crate) mod arrivals;
mod block;
mod chunk;
pub(crate) mod contents;
pub(crate) mod filing;
pub(crate) mod history;
pub(crate) mod newest;
mod packed;
pub(crate) mod pending_block;
pub(crate) mod queue;
pub(super) mod queue_log;
pub(crate) mod recent;
pub(crate) mod removal;
pub(crate) mod repetitions;
pub(crate) mod rows;
pub(crate) mod sealing;
pub(crate) mod segments;
mod texts;
pub(crate) mod users;
pub(crate) mod work;

pub(crate) use packed::Packed;

use sha2::{Digest, Sha256};

/// Longest name that is in a key as it is, in bytes.
const KEY_NAME_BYTES_MAX: usize = 200;

/// A name as part of a key: its bytes, or a digest where an agent sent something far too long. The two never collide, as
/// no UTF-8 text begins with `0xff`.
pub(super) fn key_name(name: &str) -> Vec<u8> {
    if name.len() <= KEY_NAME_BYTES_MAX {
        return name.as_bytes().to_vec();
    }
    let mut key = vec![0xff];
    key.extend_from_slice(&Sha256::digest(name.as_bytes()));
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_name_in_a_key_is_a_digest() {
        assert_eq!(key_name("ws-1"), b"ws-1");
        assert_eq!(key_name(&"a".repeat(200)).len(), 200);
        let long = key_name(&"a".repeat(201));
        assert_eq!((long.len(), long[0]), (33, 0xff));
        assert_ne!(long, key_name(&"a".repeat(202)));
    }
}
