//! The names of the pages that the server serves itself.

/// A page of the server's own; GET and HEAD only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// The process is alive.
    Livez,
    /// The store can be read.
    Readyz,
    /// What was counted.
    Metrics,
    /// The OpenAPI document.
    OpenApi,
    /// What runs here, and where to look.
    Index,
    /// The icon that browsers ask for.
    Icon,
}

impl Page {
    pub(crate) const ALL: [Self; 6] = [
        Self::Livez,
        Self::Readyz,
        Self::Metrics,
        Self::OpenApi,
        Self::Index,
        Self::Icon,
    ];

    /// The page's path.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Livez => "/livez",
            Self::Readyz => "/readyz",
            Self::Metrics => "/metrics",
            Self::OpenApi => "/openapi.json",
            Self::Index => "/",
            Self::Icon => "/favicon.ico",
        }
    }

    /// The page's operation id.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Livez => "livez",
            Self::Readyz => "readyz",
            Self::Metrics => "metrics",
            Self::OpenApi => "openapi",
            Self::Index => "index",
            Self::Icon => "icon",
        }
    }

    /// The page at `path`, ASCII case and one trailing slash ignored.
    pub(crate) fn at(path: &str) -> Option<Self> {
        let stripped = path.strip_suffix('/').filter(|path| path.len() > 1);
        let path = stripped.unwrap_or(path);
        Self::ALL
            .into_iter()
            .find(|page| page.path().eq_ignore_ascii_case(path))
    }
}
