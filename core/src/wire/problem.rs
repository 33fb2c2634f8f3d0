//! The only map from failures to statuses: RFC 9457 problem bodies.

/// A `code` of a problem body; the strings are contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(
    missing_docs,
    reason = "the variants are the contract's codes, letter by letter"
)]
pub enum Code {
    InvalidParameter,
    InvalidBody,
    InvalidApiKey,
    InsufficientScope,
    NotFound,
    WorkSpaceNotFound,
    UserNotFound,
    MethodNotAllowed,
    InvalidResourceState,
    OperationInProgress,
    LitigationHold,
    AmbiguousWorkSpace,
    UnsupportedConfiguration,
    PayloadTooLarge,
    UriTooLong,
    UnsupportedMediaType,
    Throttled,
    HeadersTooLarge,
    Internal,
    QueueFull,
    StorageUnavailable,
    LowDisk,
}

impl Code {
    /// The code as written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidParameter => "InvalidParameter",
            Self::InvalidBody => "InvalidBody",
            Self::InvalidApiKey => "InvalidApiKey",
            Self::InsufficientScope => "InsufficientScope",
            Self::NotFound => "NotFound",
            Self::WorkSpaceNotFound => "WorkSpaceNotFound",
            Self::UserNotFound => "UserNotFound",
            Self::MethodNotAllowed => "MethodNotAllowed",
            Self::InvalidResourceState => "InvalidResourceState",
            Self::OperationInProgress => "OperationInProgress",
            Self::LitigationHold => "LitigationHold",
            Self::AmbiguousWorkSpace => "AmbiguousWorkSpace",
            Self::UnsupportedConfiguration => "UnsupportedConfiguration",
            Self::PayloadTooLarge => "PayloadTooLarge",
            Self::UriTooLong => "UriTooLong",
            Self::UnsupportedMediaType => "UnsupportedMediaType",
            Self::Throttled => "Throttled",
            Self::HeadersTooLarge => "HeadersTooLarge",
            Self::Internal => "Internal",
            Self::QueueFull => "QueueFull",
            Self::StorageUnavailable => "StorageUnavailable",
            Self::LowDisk => "LowDisk",
        }
    }

    /// The HTTP status of the code.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::InvalidParameter | Self::InvalidBody => 400,
            Self::InvalidApiKey => 401,
            Self::InsufficientScope => 403,
            Self::NotFound | Self::WorkSpaceNotFound | Self::UserNotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::InvalidResourceState
            | Self::OperationInProgress
            | Self::LitigationHold
            | Self::AmbiguousWorkSpace
            | Self::UnsupportedConfiguration => 409,
            Self::PayloadTooLarge => 413,
            Self::UriTooLong => 414,
            Self::UnsupportedMediaType => 415,
            Self::Throttled => 429,
            Self::HeadersTooLarge => 431,
            Self::Internal => 500,
            Self::QueueFull | Self::StorageUnavailable | Self::LowDisk => 503,
        }
    }
}
