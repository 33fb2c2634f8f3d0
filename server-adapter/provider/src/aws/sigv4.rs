//! Signatures of requests: AWS Signature Version 4, for requests to `/` without a query, as all calls of AWS JSON are.

use std::fmt::Write as _;

use deskfleet::Timestamp;
use hmac::digest::InvalidLength;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use super::credentials::Credentials;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// What a signature is valid for.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The region of the service.
    pub region: &'a str,
    /// The name under which the service signs.
    pub service: &'a str,
}

/// A request to `/`, as it is signed.
#[derive(Debug, Clone, Copy)]
pub struct Unsigned<'a> {
    /// The method, in upper case.
    pub method: &'a str,
    /// The headers that are signed, in any order: at least `host` and `x-amz-date`.
    pub headers: &'a [(&'a str, &'a str)],
    /// The whole body.
    pub body: &'a [u8],
}

/// The value of `x-amz-date` for a time: `20150830T123600Z`.
#[must_use]
pub fn amz_date(time: Timestamp) -> String {
    let text = time.to_string();
    let seconds = text.split(['.', 'Z']).next().unwrap_or_default();
    let mut date: String = seconds
        .chars()
        .filter(|c| !matches!(c, '-' | ':'))
        .collect();
    date.push('Z');
    date
}

/// The value of the header `authorization`; `date` is that of `x-amz-date`.
///
/// # Errors
///
/// Where the secret cannot be a key of HMAC.
pub fn authorization(
    credentials: &Credentials,
    scope: Scope<'_>,
    date: &str,
    request: Unsigned<'_>,
) -> Result<String, InvalidLength> {
    let day = date.split('T').next().unwrap_or_default();
    let within = format!("{day}/{}/{}/aws4_request", scope.region, scope.service);
    let (canonical, signed) = canonical(request);
    let text = format!(
        "{ALGORITHM}\n{date}\n{within}\n{}",
        hex(&Sha256::digest(canonical))
    );
    let secret = format!("AWS4{}", credentials.secret_access_key());
    let mut key = mac(secret.as_bytes(), day)?;
    for part in [scope.region, scope.service, "aws4_request"] {
        key = mac(&key, part)?;
    }
    let signature = hex(&mac(&key, &text)?);
    let id = credentials.access_key_id();
    Ok(format!(
        "{ALGORITHM} Credential={id}/{within}, SignedHeaders={signed}, Signature={signature}"
    ))
}

/// The canonical request, and the names of its headers.
fn canonical(request: Unsigned<'_>) -> (String, String) {
    let headers = request.headers.iter();
    let mut headers: Vec<(String, String)> = headers
        .map(|(name, value)| (name.to_ascii_lowercase(), single_spaced(value)))
        .collect();
    headers.sort();
    let mut canonical = format!("{}\n/\n\n", request.method);
    for (name, value) in &headers {
        canonical.push_str(name);
        canonical.push(':');
        canonical.push_str(value);
        canonical.push('\n');
    }
    let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
    let signed = names.join(";");
    canonical.push('\n');
    canonical.push_str(&signed);
    canonical.push('\n');
    canonical.push_str(&hex(&Sha256::digest(request.body)));
    (canonical, signed)
}

/// Without spaces at the ends, and with one for several.
fn single_spaced(value: &str) -> String {
    let words = value.split(' ').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn mac(key: &[u8], text: &str) -> Result<Vec<u8>, InvalidLength> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key)?;
    mac.update(text.as_bytes());
    Ok(mac.finalize().into_bytes().to_vec())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The session token of AWS's test suite.
    const TOKEN: &str = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";

    /// A vector: its name, method, headers beside host and date, body, the names that are signed, and the signature.
    type Vector = (
        &'static str,
        &'static str,
        &'static [(&'static str, &'static str)],
        &'static str,
        &'static str,
        &'static str,
    );

    /// Those of AWS's published Signature Version 4 test suite whose requests are to `/` without a query.
    const VECTORS: &[Vector] = &[
        (
            "get-vanilla",
            "GET",
            &[],
            "",
            "host;x-amz-date",
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
        ),
        (
            "post-vanilla",
            "POST",
            &[],
            "",
            "host;x-amz-date",
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
        ),
        (
            "post-header-value-case",
            "POST",
            &[("My-Header1", "VALUE1")],
            "",
            "host;my-header1;x-amz-date",
            "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
        ),
        (
            "post-header-key-sort",
            "POST",
            &[("My-Header1", "value1")],
            "",
            "host;my-header1;x-amz-date",
            "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
        ),
        (
            "get-header-value-trim",
            "GET",
            &[("My-Header1", " value1"), ("My-Header2", " \"a   b   c\"")],
            "",
            "host;my-header1;my-header2;x-amz-date",
            "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
        ),
        (
            "post-x-www-form-urlencoded",
            "POST",
            &[("Content-Type", "application/x-www-form-urlencoded")],
            "Param1=value1",
            "content-type;host;x-amz-date",
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
        ),
        (
            "post-sts-header-before",
            "POST",
            &[("X-Amz-Security-Token", TOKEN)],
            "",
            "host;x-amz-date;x-amz-security-token",
            "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
        ),
    ];

    #[test]
    fn signatures_equal_the_vectors_that_aws_publishes() {
        let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
        let credentials = Credentials::new("AKIDEXAMPLE", secret, None, None);
        let scope = Scope {
            region: "us-east-1",
            service: "service",
        };
        let date = "20150830T123600Z";
        for (name, method, more, body, signed, signature) in VECTORS {
            let mut headers = vec![("X-Amz-Date", date), ("Host", "example.amazonaws.com")];
            headers.extend_from_slice(more);
            let request = Unsigned {
                method,
                headers: &headers,
                body: body.as_bytes(),
            };
            let expected = format!(
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders={signed}, Signature={signature}"
            );
            let found = authorization(&credentials, scope, date, request).unwrap();
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn amz_date_is_basic_iso_8601_without_fraction() {
        let time: Timestamp = "2015-08-30T12:36:00.125Z".parse().unwrap();
        assert_eq!(amz_date(time), "20150830T123600Z");
    }
}
