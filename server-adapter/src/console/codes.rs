//! The code of a link to the console, which signs a browser in once. It is in the fragment of the link, which browsers do not
//! send.

use std::io;
use std::sync::Mutex;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use deskfleet::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::locks::lock;

/// Random bytes of a code, as many as a key has.
const CODE_BYTES: usize = 32;
/// How long a code is valid.
const CODE_SECONDS: i64 = 30 * 60;

/// The valid code, if any. Only its SHA-256 is kept.
#[derive(Debug, Default)]
pub(crate) struct SignInCodes(Mutex<Option<IssuedCode>>);

/// A code that was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IssuedCode {
    hash: [u8; 32],
    issued: Timestamp,
}

impl IssuedCode {
    /// Setting the clock back does not extend a code.
    fn is_valid(&self, now: Timestamp) -> bool {
        self.issued <= now && now < self.issued.plus_seconds(CODE_SECONDS)
    }
}

impl SignInCodes {
    /// A new code, 43 characters of base64url. The one before is not valid any more.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub(crate) fn issue(&self, now: Timestamp) -> io::Result<String> {
        let mut bytes = [0; CODE_BYTES];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let code = URL_SAFE_NO_PAD.encode(bytes);
        *lock(&self.0) = Some(IssuedCode {
            hash: hash(&code),
            issued: now,
        });
        Ok(code)
    }

    /// Uses up the code if it is valid: only one of several concurrent requests succeeds.
    pub(crate) fn take(&self, code: &str, now: Timestamp) -> Option<IssuedCode> {
        let hash = hash(code);
        let taken = lock(&self.0).take_if(|issued| issued.hash == hash);
        taken.filter(|issued| issued.is_valid(now))
    }

    /// Makes a used code valid again when no key was issued, unless there is another one by now.
    pub(crate) fn give_back(&self, code: IssuedCode) {
        lock(&self.0).get_or_insert(code);
    }
}

fn hash(code: &str) -> [u8; 32] {
    Sha256::digest(code.as_bytes()).0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time_at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH.plus_seconds(seconds)
    }

    #[test]
    fn code_is_taken_once_within_its_time() {
        for (taken_at, valid) in [
            (0, true),
            (CODE_SECONDS - 1, true),
            (CODE_SECONDS, false),
            (-1, false),
        ] {
            let codes = SignInCodes::default();
            let code = codes.issue(time_at(0)).unwrap();
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            assert!(code.len() == 43 && code.bytes().all(plain), "{code}");
            for wrong in ["", "x", &code[1..], &format!("{code}=")] {
                assert_eq!(codes.take(wrong, time_at(0)), None, "{wrong}");
            }
            let taken = codes.take(&code, time_at(taken_at));
            assert_eq!(taken.is_some(), valid, "{taken_at}");
            assert_eq!(codes.take(&code, time_at(0)), None, "once");
        }
    }

    #[test]
    fn new_code_replaces_the_one_before() {
        let codes = SignInCodes::default();
        assert_eq!(codes.take("", time_at(0)), None);
        let first = codes.issue(time_at(0)).unwrap();
        let second = codes.issue(time_at(0)).unwrap();
        assert_ne!(first, second);
        assert_eq!(codes.take(&first, time_at(0)), None);
        assert!(codes.take(&second, time_at(0)).is_some());
    }

    #[test]
    fn code_given_back_is_valid_again_unless_there_is_another() {
        let codes = SignInCodes::default();
        let first = codes.issue(time_at(0)).unwrap();
        let taken = codes.take(&first, time_at(1)).unwrap();
        codes.give_back(taken);
        let again = codes.take(&first, time_at(2));
        assert_eq!(again, Some(taken));
        let second = codes.issue(time_at(3)).unwrap();
        codes.give_back(taken);
        assert_eq!(codes.take(&first, time_at(4)), None);
        assert!(codes.take(&second, time_at(4)).is_some());
    }

    #[test]
    fn code_is_not_kept_and_not_shown() {
        let codes = SignInCodes::default();
        let code = codes.issue(time_at(0)).unwrap();
        assert!(!format!("{codes:?}").contains(&code));
    }
}
