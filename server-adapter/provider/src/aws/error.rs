//! Why a call to AWS has failed, and what the caller may do about it.

use std::fmt;
use std::time::Duration;

/// Characters of a message of AWS that are kept.
const MESSAGE_MAX: usize = 300;

/// What a failure means for the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// It was not carried out, and may be later: not before `after`, where AWS says when.
    Retry {
        /// How long to wait at least.
        after: Option<Duration>,
    },
    /// It may have been carried out or not: the answer is missing, or says that AWS failed. Describe the desktop before it is repeated.
    Lost,
    /// These credentials may not do it, are expired, or there are none. The same holds for all other calls.
    Denied,
    /// There is no such desktop.
    NotFound,
    /// The desktop's state, or what it is, does not allow it.
    InvalidState,
    /// It was refused for another reason, and will be again.
    Other,
}

/// A call, or the part of it for one desktop, that has failed. It holds no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallError {
    /// What it means.
    pub failure: Failure,
    /// AWS's code, such as `InvalidResourceStateException`; of what did not reach AWS, a word of this client.
    pub code: String,
    /// A sentence for a person.
    pub message: String,
    /// What AWS's support asks for.
    pub request_id: Option<String>,
}

impl CallError {
    /// One of this client.
    pub(super) fn own(failure: Failure, code: &str, message: impl Into<String>) -> Self {
        Self {
            failure,
            code: code.to_owned(),
            message: message.into(),
            request_id: None,
        }
    }

    /// One of AWS: by its code, and by the status where the code says nothing. `status` is 200 for a part of a call.
    pub(super) fn of_aws(status: u16, code: &str, message: &str, after: Option<Duration>) -> Self {
        let code = bare(code);
        let failure = match by_code(code) {
            Some(Failure::Retry { .. }) => Failure::Retry { after },
            Some(failure) => failure,
            None => match status {
                401 | 403 => Failure::Denied,
                429 => Failure::Retry { after },
                500.. => Failure::Lost,
                _ => Failure::Other,
            },
        };
        let message = if is_of_signature(code) {
            // AWS quotes the canonical request, with the session token.
            "AWS refuses the signature: the secret access key is not that of the access key id, or the clock of this machine is off"
                .to_owned()
        } else {
            let line = message.lines().next().unwrap_or_default();
            line.chars()
                .filter(|c| !c.is_control())
                .take(MESSAGE_MAX)
                .collect()
        };
        Self {
            failure,
            code: if code.is_empty() {
                format!("status {status} without a code of AWS")
            } else {
                code.chars().take(100).collect()
            },
            message,
            request_id: None,
        }
    }

    /// Where AWS refused the call as too fast: how long it asks to wait, else `usual`.
    pub(super) fn throttled(&self, usual: Duration) -> Option<Duration> {
        if let Failure::Retry { after } = self.failure
            && is_throttle(stem(&self.code))
        {
            return Some(after.unwrap_or(usual));
        }
        None
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.code)?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        if let Some(id) = &self.request_id {
            write!(f, " (request {id})")?;
        }
        Ok(())
    }
}

impl std::error::Error for CallError {}

/// Without the namespace before it and the address after it: `com.amazon.coral.service#ThrottlingException:http://...`.
fn bare(code: &str) -> &str {
    let code = code.rsplit('#').next().unwrap_or(code);
    code.split(':').next().unwrap_or(code).trim()
}

/// Without what AWS adds or leaves out: `ResourceNotFound` of `ResourceNotFound.Workspace` and `ResourceNotFoundException`.
fn stem(code: &str) -> &str {
    let code = code.split('.').next().unwrap_or(code);
    code.strip_suffix("Exception")
        .or_else(|| code.strip_suffix("Fault"))
        .unwrap_or(code)
}

fn by_code(code: &str) -> Option<Failure> {
    Some(match stem(code) {
        "OperationInProgress" | "Conflict" | "ResourceUnavailable" => {
            Failure::Retry { after: None }
        }
        stem if is_throttle(stem) => Failure::Retry { after: None },
        "InternalFailure"
        | "InternalServer"
        | "InternalServerError"
        | "InternalError"
        | "ServiceUnavailable"
        | "RequestTimeout" => Failure::Lost,
        "AccessDenied"
        | "UnrecognizedClient"
        | "InvalidClientTokenId"
        | "ExpiredToken"
        | "RequestExpired"
        | "IncompleteSignature"
        | "InvalidSignature"
        | "SignatureDoesNotMatch"
        | "MissingAuthenticationToken"
        | "InvalidAccessKeyId"
        | "NotAuthorized"
        | "AuthFailure"
        | "UnauthorizedOperation"
        | "OptInRequired"
        | "RequestTimeTooSkewed" => Failure::Denied,
        "ResourceNotFound" => Failure::NotFound,
        "InvalidResourceState" | "OperationNotSupported" => Failure::InvalidState,
        _ => return None,
    })
}

fn is_throttle(stem: &str) -> bool {
    matches!(
        stem,
        "Throttling"
            | "ThrottledRequest"
            | "RequestThrottled"
            | "TooManyRequests"
            | "RequestLimitExceeded"
            | "LimitExceeded"
            | "SlowDown"
            | "PriorRequestNotComplete"
    )
}

fn is_of_signature(code: &str) -> bool {
    matches!(
        stem(code),
        "InvalidSignature" | "SignatureDoesNotMatch" | "IncompleteSignature"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_aws_decides_before_the_status() {
        let retry = Failure::Retry { after: None };
        for (status, code, failure) in [
            (400, "ThrottlingException", retry),
            (400, "com.amazon.coral.service#ThrottlingException", retry),
            (400, "OperationInProgressException", retry),
            (503, "ServiceUnavailableException", Failure::Lost),
            (500, "InternalFailure", Failure::Lost),
            (400, "ExpiredTokenException", Failure::Denied),
            (
                400,
                "AccessDeniedException:http://internal.amazon.com/",
                Failure::Denied,
            ),
            (400, "ResourceNotFoundException", Failure::NotFound),
            (200, "ResourceNotFound.Workspace", Failure::NotFound),
            (400, "InvalidResourceStateException", Failure::InvalidState),
            (400, "OperationNotSupportedException", Failure::InvalidState),
            (400, "InvalidParameterValuesException", Failure::Other),
            (429, "", retry),
            (403, "", Failure::Denied),
            (502, "", Failure::Lost),
            (400, "", Failure::Other),
        ] {
            let error = CallError::of_aws(status, code, "", None);
            assert_eq!(error.failure, failure, "{status} {code}");
        }
    }

    #[test]
    fn refused_signature_does_not_show_the_request_that_aws_quotes() {
        let quoted = "The Canonical String should have been 'x-amz-security-token:AQoD'";
        let error = CallError::of_aws(400, "InvalidSignatureException", quoted, None);
        assert!(!error.to_string().contains("AQoD"), "{error}");
    }

    #[test]
    fn message_of_aws_is_one_bounded_line() {
        let error = CallError::of_aws(400, "X", &format!("{}\nsecond", "a".repeat(999)), None);
        assert_eq!(error.message.chars().count(), MESSAGE_MAX);
    }
}
