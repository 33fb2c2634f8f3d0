//! Credentials of AWS: where they are looked for, and when they are looked for again.
//!
//! In the order of AWS's own clients: the environment, the shared files with their `credential_process`, the container, the instance.
//! Single sign-on, web identities and roles to assume need a second service; the AWS command line has them, as a `credential_process`.

mod environment;
mod files;
mod process;
mod remote;

use std::fmt;
use std::sync::Mutex;

use deskfleet::Timestamp;
use deskfleet::locks::lock;
use serde::Deserialize;

pub use environment::Environment;

/// Credentials are renewed this long before they expire, in seconds.
const EARLY_SECONDS: i64 = 300;

/// What signs requests. Neither `Debug` nor an error shows its secrets.
#[derive(Clone)]
pub struct Credentials {
    access_key_id: String,
    secret_access_key: String,
    session_token: Option<String>,
    expires: Option<Timestamp>,
}

impl Credentials {
    /// From their parts; without `expires` they do not expire.
    #[must_use]
    pub fn new(
        access_key_id: &str,
        secret_access_key: &str,
        session_token: Option<&str>,
        expires: Option<Timestamp>,
    ) -> Self {
        Self {
            access_key_id: access_key_id.to_owned(),
            secret_access_key: secret_access_key.to_owned(),
            session_token: session_token.map(str::to_owned),
            expires,
        }
    }

    pub(super) fn access_key_id(&self) -> &str {
        &self.access_key_id
    }

    pub(super) fn secret_access_key(&self) -> &str {
        &self.secret_access_key
    }

    pub(super) fn session_token(&self) -> Option<&str> {
        self.session_token.as_deref()
    }

    /// Whether they are valid for `seconds` from now on.
    fn last(&self, now: Timestamp, seconds: i64) -> bool {
        self.expires
            .is_none_or(|expires| now.plus_seconds(seconds) < expires)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Credentials");
        shown
            .field("expires", &self.expires)
            .finish_non_exhaustive()
    }
}

/// Why there are no credentials: one sentence, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialsError(pub(super) String);

impl fmt::Display for CredentialsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CredentialsError {}

/// The credentials of a process: looked for when they are first needed, and again before they expire.
#[derive(Debug)]
pub struct CredentialsCache {
    environment: Environment,
    current: Mutex<Option<Credentials>>,
}

impl CredentialsCache {
    /// Looks in `environment`.
    #[must_use]
    pub fn new(environment: Environment) -> Self {
        Self {
            environment,
            current: Mutex::new(None),
        }
    }

    /// Credentials that are valid now.
    ///
    /// # Errors
    ///
    /// Where none are found, or those found are not usable. Until they expire, the earlier ones remain in use.
    pub fn get(&self, now: Timestamp) -> Result<Credentials, CredentialsError> {
        // Held while they are looked for: two callers need one answer of the instance, not two.
        let mut current = lock(&self.current);
        if let Some(known) = current
            .as_ref()
            .filter(|known| known.last(now, EARLY_SECONDS))
        {
            return Ok(known.clone());
        }
        match find(&self.environment) {
            Ok(found) if found.last(now, 0) => Ok(current.insert(found).clone()),
            found => match current.as_ref().filter(|known| known.last(now, 0)) {
                Some(known) => Ok(known.clone()),
                None => found.and_then(|_| {
                    Err(CredentialsError(
                        "the AWS credentials that were found have expired: renew them".to_owned(),
                    ))
                }),
            },
        }
    }

    /// Drops what is known, because AWS refused it as expired: it is looked for again.
    pub fn forget(&self) {
        *lock(&self.current) = None;
    }
}

/// Credentials as programs and metadata services write them.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Document {
    access_key_id: String,
    secret_access_key: String,
    #[serde(alias = "Token")]
    session_token: Option<String>,
    expiration: Option<Timestamp>,
}

/// Reads a document that `source` gave.
fn read_document(source: &str, json: &[u8]) -> Result<Credentials, CredentialsError> {
    // serde's message may quote the text, which holds secrets.
    let read: Document = serde_json::from_slice(json).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        CredentialsError(format!(
            "{source} gave no AWS credentials: the JSON object with AccessKeyId and SecretAccessKey is wrong at line {line}, column {column}"
        ))
    })?;
    Ok(Credentials {
        access_key_id: read.access_key_id,
        secret_access_key: read.secret_access_key,
        session_token: read.session_token,
        expires: read.expiration,
    })
}

fn find(environment: &Environment) -> Result<Credentials, CredentialsError> {
    if let Some(found) = environment.credentials()? {
        return Ok(found);
    }
    if let Some(found) = files::find(environment)? {
        return Ok(found);
    }
    if environment.get("AWS_WEB_IDENTITY_TOKEN_FILE").is_some() {
        return Err(unsupported("AWS_WEB_IDENTITY_TOKEN_FILE", "a web identity"));
    }
    if let Some(found) = remote::container(environment)? {
        return Ok(found);
    }
    if let Some(found) = remote::instance(environment)? {
        return Ok(found);
    }
    Err(CredentialsError(
        "no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE to a profile of ~/.aws/credentials or \
         ~/.aws/config, or run in a container or on an instance with a role"
            .to_owned(),
    ))
}

fn unsupported(place: &str, what: &str) -> CredentialsError {
    CredentialsError(format!(
        "{place}: {what} is not supported; let the AWS command line do it: `credential_process = aws configure export-credentials \
         --profile NAME --format process` in another profile of ~/.aws/config"
    ))
}

#[cfg(test)]
mod tests;
