//! The names of the operations that the server has beside the engine's, and that are more than a page to read.

/// An operation of the server's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    /// Signing in to the console.
    Session,
}

impl Service {
    /// In the order of their numbers.
    pub(crate) const ALL: &[Self] = &[Self::Session];

    /// Its path.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Session => "/console/session",
        }
    }

    /// Its operation id.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Session => "consoleSession",
        }
    }

    /// The one at `path`, ASCII case and one trailing slash ignored.
    pub(crate) fn at(path: &str) -> Option<Self> {
        let path = path.strip_suffix('/').unwrap_or(path);
        let mut all = Self::ALL.iter().copied();
        all.find(|service| service.path().eq_ignore_ascii_case(path))
    }
}
