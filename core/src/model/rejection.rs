//! Why telemetry is refused, for the counter of it.

/// Why a record was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rejection {
    /// It is not JSON.
    Json,
    /// A value is not one of its field, or the record names no stream.
    Field,
    /// It is longer than a record may be, or the body than a body may.
    TooLong,
    /// The content type of a single post is not JSON.
    ContentType,
    /// The queue is full.
    QueueFull,
    /// The store cannot take it: its disk has failed or is full.
    Storage,
}

impl Rejection {
    /// All of them.
    pub(crate) const ALL: [Self; 6] = [
        Self::Json,
        Self::Field,
        Self::TooLong,
        Self::ContentType,
        Self::QueueFull,
        Self::Storage,
    ];

    /// The label of the counter.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Field => "field",
            Self::TooLong => "too_long",
            Self::ContentType => "content_type",
            Self::QueueFull => "queue_full",
            Self::Storage => "storage",
        }
    }
}
