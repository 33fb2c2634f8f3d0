//! Why connections are closed or requests refused.

/// Why a connection is closed, or its request refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusedConnection {
    /// Its source has its maximum.
    SourceFull,
    /// All connections have a request in progress: it gets only the response of `/livez`.
    ServerFull,
    /// It was idle, and made room for a new one.
    Idle,
    /// It was slow while others waited.
    Slow,
    /// Its request waited too long.
    Busy,
    /// There was no room for its response, because others were not read.
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
