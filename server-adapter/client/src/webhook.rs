//! Signatures of webhooks, by the Standard Webhooks specification 1.0.0.

use std::fmt;
use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// What a secret begins with, before its base64.
const PREFIX: &str = "whsec_";
/// Bytes of a secret, by the specification.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// The secret that a webhook and its receiver share.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// Reads it from a file that holds nothing else.
    ///
    /// # Errors
    ///
    /// One sentence with the file and what to do.
    pub fn read(file: &Path) -> io::Result<Self> {
        let place = file.display();
        let text = std::fs::read_to_string(file).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot read {place}: {error}"))
        })?;
        Self::parse(text.trim()).ok_or_else(|| {
            io::Error::other(format!(
                "{place} holds no secret: it is {PREFIX} and the base64 of 24 to 64 random bytes; make one with `echo {PREFIX}$(openssl rand \
                 -base64 32)`"
            ))
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text.strip_prefix(PREFIX)?).ok()?;
        SECRET_BYTES.contains(&bytes.len()).then_some(Self(bytes))
    }

    /// The value of `webhook-signature` for a request; `timestamp` is in seconds since the epoch.
    #[must_use]
    pub fn sign(&self, id: &str, timestamp: u64, body: &[u8]) -> String {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else {
            // HMAC takes keys of any length.
            return String::new();
        };
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        mac.update(body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification.
    #[test]
    fn signature_is_that_of_the_specification() {
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let body = br#"{"test": 2432232314}"#;
        let signed = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_eq!(format!("{secret:?}"), "Secret");
    }

    #[test]
    fn secret_has_its_form() {
        for bad in [
            "",
            "whsec_",
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsec_AAAA",
            "whsec_?",
        ] {
            assert_eq!(Secret::parse(bad), None, "{bad}");
        }
    }
}
