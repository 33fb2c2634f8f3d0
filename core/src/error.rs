//! What can go wrong when an engine is opened or called from Rust.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

/// Seconds after which what the store refused for now is worth another try: most engines file a tenth of a full queue in that
/// time, and a disk that failed for a moment is back.
pub(crate) const RETRY_AFTER_SECONDS: u32 = 5;

/// What kind of failure an [`EngineError`] is; each kind that can reach a client has one status and one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A parameter or a value breaks a documented rule (400 `InvalidParameter`).
    InvalidParameter,
    /// The key is no longer accepted, at a part of an import (401 `InvalidApiKey`).
    InvalidApiKey,
    /// A valid key that lacks the scope, or whose limits exclude the action or the workspace (403 `InsufficientScope`).
    InsufficientScope,
    /// The key has started as many destructive actions in this hour as it may (429 `Throttled`).
    Throttled,
    /// No such workspace, or the account does not own it (404 `WorkSpaceNotFound`).
    WorkSpaceNotFound,
    /// No user of that name (404 `UserNotFound`).
    UserNotFound,
    /// No such key, action or hold (404 `NotFound`).
    NotFound,
    /// The workspace is in a state the action does not start from, or nodes of the fleet cannot take part in the change (409
    /// `InvalidResourceState`).
    InvalidResourceState,
    /// The action was cancelled before it was dispatched again: nobody must carry it out (409 `Cancelled`).
    Cancelled,
    /// Another action is running on the workspace (409 `OperationInProgress`).
    OperationInProgress,
    /// The workspace is on litigation hold (409 `LitigationHold`).
    LitigationHold,
    /// The account owns several live workspaces (409 `AmbiguousWorkSpace`).
    AmbiguousWorkSpace,
    /// The compute type cannot be changed this way (409 `UnsupportedConfiguration`).
    UnsupportedConfiguration,
    /// A key of that name is accepted already (409 `DuplicateKeyName`).
    DuplicateKeyName,
    /// The key is the last accepted one with scope `admin` that does not expire (409 `LastAdminKey`).
    LastAdminKey,
    /// The telemetry queue is full (503 `QueueFull`).
    QueueFull,
    /// The store cannot be read or written now (503 `StorageUnavailable`). A write refused with it never takes effect.
    StorageUnavailable,
    /// A write was stored, and the sync failed that makes it durable (503 `Indeterminate`): either all of the write takes
    /// effect, at once or when the file is opened again, or nothing. Read before you retry.
    Indeterminate,
    /// The medium has too little free space left (503 `LowDisk`).
    LowDisk,
    /// The file is not a deskfleet store.
    ForeignFile,
    /// The file, or an entry of the log that nodes share, was written by a newer deskfleet.
    NewerFormat,
    /// Another process, or this one, has the file open.
    AlreadyOpen,
    /// The file is damaged.
    Corrupted,
    /// The builder lacks a clock or randomness, a value or a rule is out of its bounds, or what is called was not asked for when the engine
    /// was opened.
    Configuration,
    /// A bug of ours (500 `Internal`), or the randomness of the host failed.
    Internal,
}

impl ErrorKind {
    /// The code in the response and in the audit.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::InvalidParameter => "InvalidParameter",
            Self::InvalidApiKey => "InvalidApiKey",
            Self::InsufficientScope => "InsufficientScope",
            Self::Throttled => "Throttled",
            Self::WorkSpaceNotFound => "WorkSpaceNotFound",
            Self::UserNotFound => "UserNotFound",
            Self::NotFound => "NotFound",
            Self::InvalidResourceState => "InvalidResourceState",
            Self::Cancelled => "Cancelled",
            Self::OperationInProgress => "OperationInProgress",
            Self::LitigationHold => "LitigationHold",
            Self::AmbiguousWorkSpace => "AmbiguousWorkSpace",
            Self::UnsupportedConfiguration => "UnsupportedConfiguration",
            Self::DuplicateKeyName => "DuplicateKeyName",
            Self::LastAdminKey => "LastAdminKey",
            Self::QueueFull => "QueueFull",
            Self::StorageUnavailable => "StorageUnavailable",
            Self::Indeterminate => "Indeterminate",
            Self::LowDisk => "LowDisk",
            Self::ForeignFile
            | Self::NewerFormat
            | Self::AlreadyOpen
            | Self::Corrupted
            | Self::Configuration
            | Self::Internal => "Internal",
        }
    }
}

/// A failure, with a sentence for a person and its cause.
///
/// `Display` prints one level; walk [`Error::source`] for the causes.
#[derive(Debug, Clone)]
pub struct EngineError(
    /// One pointer, so that the result of a call is returned in a register.
    Box<ErrorParts>,
);

#[derive(Debug, Clone)]
struct ErrorParts {
    kind: ErrorKind,
    context: String,
    /// The wrong parameter, of an [`ErrorKind::InvalidParameter`].
    parameter: Option<&'static str>,
    /// Seconds after which to retry, of an [`ErrorKind::Throttled`].
    retry_after: Option<u32>,
    /// Shared by all callers of one transaction.
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl EngineError {
    /// An error without a cause. `context` says what was wrong, where, and what to do.
    pub(crate) fn new(kind: ErrorKind, context: impl Into<String>) -> Self {
        Self::from_parts(kind, context.into(), None)
    }

    #[cold]
    fn from_parts(
        kind: ErrorKind,
        context: String,
        source: Option<Arc<dyn Error + Send + Sync>>,
    ) -> Self {
        Self(Box::new(ErrorParts {
            kind,
            context,
            parameter: None,
            retry_after: None,
            source,
        }))
    }

    /// A value that breaks a rule, in the named parameter.
    pub(crate) fn invalid(parameter: &'static str, message: impl Into<String>) -> Self {
        let mut error = Self::new(ErrorKind::InvalidParameter, message);
        error.0.parameter = Some(parameter);
        error
    }

    /// The refusal of a key that has to wait `seconds`.
    pub(crate) fn throttled(seconds: u32, message: impl Into<String>) -> Self {
        let mut error = Self::new(ErrorKind::Throttled, message);
        error.0.retry_after = Some(seconds);
        error
    }

    /// The refusal of telemetry for which there is no room.
    pub(crate) fn queue_full() -> Self {
        let wording = "The telemetry queue is full; send the record again later.";
        Self::new(ErrorKind::QueueFull, wording)
    }

    /// The refusal of a workspace that does not exist, or that the account does not own.
    pub(crate) fn no_workspace() -> Self {
        Self::new(ErrorKind::WorkSpaceNotFound, "No such WorkSpace.")
    }

    /// This error, with its subject put before its text.
    pub(crate) fn about(mut self, subject: impl fmt::Display) -> Self {
        self.0.context = format!("{subject}: {}", self.0.context);
        self
    }

    /// Another error with the same cause.
    pub(crate) fn restated(mut self, kind: ErrorKind, context: String) -> Self {
        self.0.kind = kind;
        self.0.context = context;
        self
    }

    /// This error, with a sentence after its text.
    pub(crate) fn followed_by(mut self, wording: &str) -> Self {
        if !wording.is_empty() && !self.0.context.ends_with('.') {
            self.0.context.push('.');
        }
        self.0.context.push_str(wording);
        self
    }

    /// The same with its cause.
    pub(crate) fn caused(
        kind: ErrorKind,
        context: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::from_parts(kind, context.into(), Some(Arc::from(source.into())))
    }

    /// This error of one of several transactions after an earlier one became durable: the caller must not assume that
    /// nothing was done.
    pub(crate) fn after_a_part(self) -> Self {
        if matches!(
            self.0.kind,
            ErrorKind::StorageUnavailable | ErrorKind::LowDisk
        ) {
            let wording = "a part of it is durable, the rest is not, or that is unknown";
            return Self::caused(ErrorKind::Indeterminate, wording, self);
        }
        self
    }

    /// Whether the cause is that too little space is free: by the rules, or because the disk itself is full, or a file is as large as the system lets it be.
    #[must_use]
    pub fn is_for_space(&self) -> bool {
        let mut cause: Option<&(dyn Error + 'static)> = Some(self);
        while let Some(error) = cause {
            let is_low = |error: &Self| error.kind() == ErrorKind::LowDisk;
            let is_low = error.downcast_ref().is_some_and(is_low);
            let is_full = |error: &io::Error| {
                is_disk_full(error) || error.kind() == io::ErrorKind::FileTooLarge
            };
            if is_low || error.downcast_ref().is_some_and(is_full) {
                return true;
            }
            cause = error.source();
        }
        false
    }

    /// What kind of failure this is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The wrong parameter or field, if the error is about one.
    #[must_use]
    pub fn parameter(&self) -> Option<&'static str> {
        self.0.parameter
    }

    /// Seconds after which to retry, of an [`ErrorKind::QueueFull`] and an [`ErrorKind::Throttled`].
    #[must_use]
    pub fn retry_after(&self) -> Option<u32> {
        let full = (self.0.kind == ErrorKind::QueueFull).then_some(RETRY_AFTER_SECONDS);
        self.0.retry_after.or(full)
    }

    /// The sentence [`fmt::Display`] prints.
    #[must_use]
    pub fn context(&self) -> &str {
        &self.0.context
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.context)
    }
}

impl Error for EngineError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0.source {
            Some(source) => Some(source.as_ref()),
            None => None,
        }
    }
}

/// Whether a file system says that it, or what its user may take of it, is full.
pub(crate) fn is_disk_full(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded)
}

/// An error and its causes, outermost first, as one line for a log.
#[must_use]
pub fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// The result of the engine's fallible calls.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disks_and_files_that_may_not_grow_are_want_of_space() {
        use io::ErrorKind::{FileTooLarge, PermissionDenied, QuotaExceeded, StorageFull};
        let is_for_space = |kind: io::ErrorKind| {
            let cause = io::Error::from(kind);
            EngineError::caused(ErrorKind::StorageUnavailable, "x", cause).is_for_space()
        };
        for kind in [StorageFull, QuotaExceeded, FileTooLarge] {
            assert!(is_for_space(kind), "{kind:?}");
        }
        assert!(!is_for_space(PermissionDenied));
    }
}
