//! The names of the pages that the server serves itself.

#[cfg(feature = "console")]
use crate::console::files::File;

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
    /// A file of the console.
    #[cfg(feature = "console")]
    Console,
}

impl Page {
    /// In the order of their numbers.
    pub(crate) const ALL: &[Self] = &[
        Self::Livez,
        Self::Readyz,
        Self::Metrics,
        Self::OpenApi,
        Self::Index,
        Self::Icon,
        #[cfg(feature = "console")]
        Self::Console,
    ];

    /// The page's path; `None` for the files of the console, which have many.
    #[cfg_attr(
        not(feature = "console"),
        expect(clippy::unnecessary_wraps, reason = "only the console has none")
    )]
    pub(crate) const fn path(self) -> Option<&'static str> {
        Some(match self {
            Self::Livez => "/livez",
            Self::Readyz => "/readyz",
            Self::Metrics => "/metrics",
            Self::OpenApi => "/openapi.json",
            Self::Index => "/",
            Self::Icon => "/favicon.ico",
            #[cfg(feature = "console")]
            Self::Console => return None,
        })
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
            #[cfg(feature = "console")]
            Self::Console => "console",
        }
    }

    /// The page at `path`, ASCII case and one trailing slash ignored, but for files of the console: a module that is loaded by two
    /// addresses is two modules.
    pub(crate) fn at(path: &str) -> Option<Self> {
        #[cfg(feature = "console")]
        if File::at(path).is_some() {
            return Some(Self::Console);
        }
        let stripped = path.strip_suffix('/').filter(|path| path.len() > 1);
        let path = stripped.unwrap_or(path);
        Self::ALL.iter().copied().find(|page| {
            page.path()
                .is_some_and(|its| its.eq_ignore_ascii_case(path))
        })
    }
}
