//! The only map from failures to statuses: RFC 9457 problem bodies.

use crate::error::{EngineError, ErrorKind, RETRY_AFTER_SECONDS};

use super::json::Json;

/// Declares the codes with their statuses.
macro_rules! codes {
    ($(#[$meta:meta])* pub enum Code { $($(#[doc = $doc:literal])+ $code:ident = $status:literal,)+ }) => {
        $(#[$meta])*
        pub enum Code { $($(#[doc = $doc])+ $code,)+ }

        impl Code {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$code),+];

            /// The code as in a problem body.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$code => stringify!($code),)+ }
            }

            /// The HTTP status of the code.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(Self::$code => $status,)+ }
            }
        }
    };
}

codes! {
    /// What was wrong with a request, for programs. These strings do not change; more may be added.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[cfg_attr(
        feature = "schema",
        schemars(
            rename = "ProblemCode",
            transform = crate::model::schema::open_enum
        )
    )]
    #[non_exhaustive]
    pub enum Code {
        /// A query parameter is missing, malformed or out of range; `errors` names it.
        InvalidParameter = 400,
        /// The body cannot be read, or a value in it is not valid; `errors` says where.
        InvalidBody = 400,
        /// The request itself is malformed. Only servers return it.
        InvalidRequest = 400,
        /// The key is missing, unknown, revoked or expired; which of them is not said.
        InvalidApiKey = 401,
        /// The key is good but lacks the scope that the endpoint needs.
        InsufficientScope = 403,
        /// There is no such endpoint, or nothing of that number.
        NotFound = 404,
        /// The workspace is unknown or was not named, or does not belong to `samAccount`.
        WorkSpaceNotFound = 404,
        /// Neither a workspace nor telemetry knows the user, or none was named.
        UserNotFound = 404,
        /// The path has other methods; `Allow` lists them.
        MethodNotAllowed = 405,
        /// The request came too slowly. Only servers return it.
        RequestTimeout = 408,
        /// The state of the workspace, or of the pending action, does not allow this; `detail` names what does.
        InvalidResourceState = 409,
        /// The pending action was cancelled, by another action or by a replaced state: do not carry it out.
        Cancelled = 409,
        /// Another action runs on the workspace; or another backup is being written.
        OperationInProgress = 409,
        /// The workspace is on litigation hold, which forbids this.
        LitigationHold = 409,
        /// The user of `samAccount` has several live workspaces; name one with `workSpaceId`.
        AmbiguousWorkSpace = 409,
        /// The workspace cannot change from its compute type to that one; or the server was started without what this needs.
        UnsupportedConfiguration = 409,
        /// A live key of that name exists.
        DuplicateKeyName = 409,
        /// The key is the last live one with scope `admin` that does not expire; `force=true` revokes it all the same.
        LastAdminKey = 409,
        /// The body is larger than the configured limit.
        PayloadTooLarge = 413,
        /// The path and the query are longer than the configured limit, by default 8 KiB.
        UriTooLong = 414,
        /// The `Content-Type` or the `Content-Encoding` of the body is not supported.
        UnsupportedMediaType = 415,
        /// The request names a host that this server does not serve. Only servers return it.
        MisdirectedRequest = 421,
        /// Too many requests with this key, or too many with bad keys from this address; `Retry-After` says when to try again.
        Throttled = 429,
        /// The headers are larger than the configured limit, by default 16 KiB.
        HeadersTooLarge = 431,
        /// A failure inside; the log of the host has the cause.
        Internal = 500,
        /// The telemetry queue is full; nothing was accepted. Try again after `Retry-After` seconds.
        QueueFull = 503,
        /// The store cannot be read or written now. Nothing was written.
        StorageUnavailable = 503,
        /// The store failed while this was written: it may take effect or not. Read before you try again.
        Indeterminate = 503,
        /// The disk is nearly full; this was not written.
        LowDisk = 503,
        /// The server has as many requests as it may. Only servers return it.
        ServerBusy = 503,
    }
}

impl From<ErrorKind> for Code {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::InvalidParameter => Self::InvalidParameter,
            ErrorKind::InvalidApiKey => Self::InvalidApiKey,
            ErrorKind::InsufficientScope => Self::InsufficientScope,
            ErrorKind::Throttled => Self::Throttled,
            ErrorKind::WorkSpaceNotFound => Self::WorkSpaceNotFound,
            ErrorKind::UserNotFound => Self::UserNotFound,
            ErrorKind::NotFound => Self::NotFound,
            ErrorKind::InvalidResourceState => Self::InvalidResourceState,
            ErrorKind::Cancelled => Self::Cancelled,
            ErrorKind::OperationInProgress => Self::OperationInProgress,
            ErrorKind::LitigationHold => Self::LitigationHold,
            ErrorKind::AmbiguousWorkSpace => Self::AmbiguousWorkSpace,
            ErrorKind::UnsupportedConfiguration => Self::UnsupportedConfiguration,
            ErrorKind::DuplicateKeyName => Self::DuplicateKeyName,
            ErrorKind::LastAdminKey => Self::LastAdminKey,
            ErrorKind::QueueFull => Self::QueueFull,
            ErrorKind::StorageUnavailable => Self::StorageUnavailable,
            ErrorKind::Indeterminate => Self::Indeterminate,
            ErrorKind::LowDisk => Self::LowDisk,
            ErrorKind::ForeignFile
            | ErrorKind::NewerFormat
            | ErrorKind::AlreadyOpen
            | ErrorKind::Corrupted
            | ErrorKind::Configuration
            | ErrorKind::Internal => Self::Internal,
        }
    }
}

/// A failure as a client sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) code: Code,
    detail: Option<String>,
    /// Field and message, in the order found.
    errors: Vec<(String, String)>,
    /// The value of `Allow`, for a 405.
    pub(crate) allow: Option<String>,
    /// Seconds to wait, for 429 and 503.
    pub(crate) retry_after: Option<u32>,
    /// The supported content codings, for a 415 about the coding.
    pub(crate) accept_encoding: Option<&'static str>,
}

impl Problem {
    pub(crate) fn new(code: Code) -> Self {
        Self {
            code,
            detail: None,
            errors: Vec::new(),
            allow: None,
            retry_after: (code.status() == 503).then_some(RETRY_AFTER_SECONDS),
            accept_encoding: None,
        }
    }

    pub(crate) fn detailed(code: Code, detail: impl Into<String>) -> Self {
        Self {
            detail: Some(detail.into()),
            ..Self::new(code)
        }
    }

    /// A validation failure of one field.
    pub(crate) fn invalid(
        code: Code,
        field: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self::all_invalid(code, vec![(field.into(), message.into())])
    }

    /// A validation failure of several fields.
    pub(crate) fn all_invalid(code: Code, errors: Vec<(String, String)>) -> Self {
        Self {
            errors,
            ..Self::new(code)
        }
    }

    pub(crate) fn throttled(seconds: u32) -> Self {
        Self {
            retry_after: Some(seconds),
            ..Self::detailed(
                Code::Throttled,
                "Too many requests with this key; try again later.",
            )
        }
    }

    /// The body has an unsupported content coding.
    pub(crate) fn unsupported_coding() -> Self {
        Self {
            accept_encoding: Some("identity"),
            ..Self::detailed(
                Code::UnsupportedMediaType,
                "The body has a Content-Encoding that is not read; Accept-Encoding names those that are.",
            )
        }
    }

    /// The same, with a sentence after what it says.
    pub(crate) fn after(mut self, message: &str) -> Self {
        if !message.is_empty() {
            let detail = self.detail.unwrap_or_default() + message;
            self.detail = Some(detail.trim_start().to_owned());
        }
        self
    }

    pub(crate) fn method_not_allowed(allow: String) -> Self {
        Self {
            allow: Some(allow),
            ..Self::new(Code::MethodNotAllowed)
        }
    }

    /// The same for a Rust caller: what is wrong with its argument.
    pub(crate) fn into_error(self) -> EngineError {
        let errors = self.errors.iter();
        let errors = errors.map(|(field, message)| format!("{field}: {message}"));
        let message = self.detail.into_iter().chain(errors).collect::<Vec<_>>();
        EngineError::invalid("body", message.join(" "))
    }

    /// The body, its members in the contract's order.
    pub(crate) fn body(&self, trace_id: &str) -> Vec<u8> {
        let status = self.code.status();
        let (section, phrase) = section_and_phrase(status);
        let title = if self.errors.is_empty() {
            phrase
        } else {
            "One or more validation errors occurred."
        };
        let mut json = Json::with_capacity(256);
        json.object(|object| {
            object.text("type", section);
            object.text("title", title);
            object.value("status", &status);
            if let Some(detail) = &self.detail {
                object.text("detail", detail);
            }
            if !self.errors.is_empty() {
                object.member("errors", |json| {
                    json.object(|object| {
                        for same in self.errors.chunk_by(|(one, _), (next, _)| one == next) {
                            let [(field, _), ..] = same else { continue };
                            object.member(field, |json| {
                                json.array(same, |json, (_, message)| json.text(message));
                            });
                        }
                    });
                });
            }
            object.text("traceId", trace_id);
            object.text("code", self.code.as_str());
        });
        json.finish()
    }
}

impl From<&EngineError> for Problem {
    /// Omits internal causes; states in full what the caller can fix.
    fn from(error: &EngineError) -> Self {
        let code = Code::from(error.kind());
        match error.kind() {
            ErrorKind::InvalidParameter => {
                Self::invalid(code, error.parameter().unwrap_or("query"), error.context())
            }
            ErrorKind::Throttled => Self {
                retry_after: error.retry_after(),
                ..Self::detailed(code, error.context())
            },
            ErrorKind::InvalidApiKey
            | ErrorKind::InsufficientScope
            | ErrorKind::WorkSpaceNotFound
            | ErrorKind::UserNotFound
            | ErrorKind::NotFound
            | ErrorKind::InvalidResourceState
            | ErrorKind::Cancelled
            | ErrorKind::OperationInProgress
            | ErrorKind::LitigationHold
            | ErrorKind::AmbiguousWorkSpace
            | ErrorKind::UnsupportedConfiguration
            | ErrorKind::DuplicateKeyName
            | ErrorKind::LastAdminKey
            | ErrorKind::QueueFull => Self::detailed(code, error.context()),
            ErrorKind::StorageUnavailable => Self::detailed(
                code,
                "The store cannot be written or read now; try again later.",
            ),
            ErrorKind::Indeterminate => Self::detailed(
                code,
                "The store failed while this was written: it may take effect or not. Read before you try again.",
            ),
            ErrorKind::LowDisk => Self::detailed(
                code,
                "The disk is nearly full; this is not written until space is free.",
            ),
            ErrorKind::ForeignFile
            | ErrorKind::NewerFormat
            | ErrorKind::AlreadyOpen
            | ErrorKind::Corrupted
            | ErrorKind::Configuration
            | ErrorKind::Internal => Self::new(code),
        }
    }
}

/// The section that defines a status, and its reason phrase.
fn section_and_phrase(status: u16) -> (&'static str, &'static str) {
    match status {
        400 => (
            "https://tools.ietf.org/html/rfc9110#section-15.5.1",
            "Bad Request",
        ),
        401 => (
            "https://tools.ietf.org/html/rfc9110#section-15.5.2",
            "Unauthorized",
        ),
        403 => (
            "https://tools.ietf.org/html/rfc9110#section-15.5.4",
            "Forbidden",
        ),
        404 => (
            "https://tools.ietf.org/html/rfc9110#section-15.5.5",
            "Not Found",
        ),
        405 => (
            "https://tools.ietf.org/html/rfc9110#section-15.5.6",
            "Method Not Allowed",
        ),
        408 => (
            "https://tools.ietf.org/html/rfc9110#section-15.5.9",
            "Request Timeout",
        ),
        409 => (
            "https://tools.ietf.org/html/rfc9110#section-15.5.10",
            "Conflict",
        ),
        413 => (
            "https://tools.ietf.org/html/rfc9110#section-15.5.14",
            "Content Too Large",
        ),
        414 => (
            "https://tools.ietf.org/html/rfc9110#section-15.5.15",
            "URI Too Long",
        ),
        415 => (
            "https://tools.ietf.org/html/rfc9110#section-15.5.16",
            "Unsupported Media Type",
        ),
        421 => (
            "https://tools.ietf.org/html/rfc9110#section-15.5.20",
            "Misdirected Request",
        ),
        429 => (
            "https://tools.ietf.org/html/rfc6585#section-4",
            "Too Many Requests",
        ),
        431 => (
            "https://tools.ietf.org/html/rfc6585#section-5",
            "Request Header Fields Too Large",
        ),
        503 => (
            "https://tools.ietf.org/html/rfc9110#section-15.6.4",
            "Service Unavailable",
        ),
        _ => (
            "https://tools.ietf.org/html/rfc9110#section-15.6.1",
            "Internal Server Error",
        ),
    }
}
