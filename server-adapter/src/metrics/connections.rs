//! Why connections do not get what they want.

/// Why a connection is closed, or its request refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusedConnection {
    /// Its source has all it may have.
    SourceFull,
    /// All are taken, each by a request: it gets the response of `/livez` alone.
    ServerFull,
    /// It rested, and made room for a new one.
    Idle,
    /// It brought or took next to nothing while others waited.
    Slow,
    /// Its request waited too long.
    Busy,
    /// There was no room for the response to its request, as others were not read.
    Unread,
}

impl RefusedConnection {
    /// In the order of their numbers.
    pub(crate) const ALL: [Self; 6] = [
        Self::SourceFull,
        Self::ServerFull,
        Self::Idle,
        Self::Slow,
        Self::Busy,
        Self::Unread,
    ];

    /// Its label in the metrics.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::SourceFull => "source_full",
            Self::ServerFull => "server_full",
            Self::Idle => "idle",
            Self::Slow => "slow",
            Self::Busy => "busy",
            Self::Unread => "unread",
        }
    }
}
