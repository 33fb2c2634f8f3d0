//! Failures of calls from JavaScript, in the form in which they are passed to it.

use deskfleet::{EngineError, ErrorKind};
use serde::Serialize;

/// A failure that becomes a `DeskfleetError`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// One of the codes of `errors.d.ts`.
    pub code: &'static str,
    /// A sentence for people.
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u32>,
}

impl Failure {
    fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            parameter: None,
            retry_after: None,
        }
    }

    /// An argument is not valid.
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new("InvalidArgument", message)
    }

    /// A bug in this crate or the engine.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new("Internal", message)
    }

    /// The failure as a JSON object.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self {
            code: code(error.kind()),
            message: error.context().to_owned(),
            parameter: error.parameter(),
            retry_after: error.retry_after(),
        }
    }
}

#[expect(
    clippy::match_same_arms,
    reason = "the last arm is for kinds that this module does not know"
)]
const fn code(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidParameter => "InvalidParameter",
        ErrorKind::InvalidApiKey => "InvalidApiKey",
        ErrorKind::InsufficientScope => "InsufficientScope",
        ErrorKind::Throttled => "Throttled",
        ErrorKind::WorkSpaceNotFound => "WorkSpaceNotFound",
        ErrorKind::UserNotFound => "UserNotFound",
        ErrorKind::NotFound => "NotFound",
        ErrorKind::InvalidResourceState => "InvalidResourceState",
        ErrorKind::Cancelled => "Cancelled",
        ErrorKind::OperationInProgress => "OperationInProgress",
        ErrorKind::LitigationHold => "LitigationHold",
        ErrorKind::AmbiguousWorkSpace => "AmbiguousWorkSpace",
        ErrorKind::UnsupportedConfiguration => "UnsupportedConfiguration",
        ErrorKind::DuplicateKeyName => "DuplicateKeyName",
        ErrorKind::LastAdminKey => "LastAdminKey",
        ErrorKind::QueueFull => "QueueFull",
        ErrorKind::StorageUnavailable => "StorageUnavailable",
        ErrorKind::Indeterminate => "Indeterminate",
        ErrorKind::LowDisk => "LowDisk",
        ErrorKind::ForeignFile => "ForeignFile",
        ErrorKind::NewerFormat => "NewerFormat",
        ErrorKind::AlreadyOpen => "StorageLocked",
        ErrorKind::Corrupted => "Corrupted",
        ErrorKind::Configuration => "InvalidArgument",
        ErrorKind::Internal => "Internal",
        _ => "Internal",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_with_quotes_becomes_escaped_json() {
        assert_eq!(
            Failure::argument("no \"name\"").json(),
            r#"{"code":"InvalidArgument","message":"no \"name\""}"#
        );
    }
}
