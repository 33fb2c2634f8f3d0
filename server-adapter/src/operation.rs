//! Which row of the route table a request means. The engine routes on its own; this is for the metrics' labels, which must
//! never hold the values of path parameters.

use deskfleet::{Config, ROUTES, RequestBody, Route, Work};
use http::Method;

use crate::guesses::needs_key;
use crate::page::Page;

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A row of the route table, by its index.
    Route(usize),
    /// A page of the server's own.
    Page(Page),
    /// No such path, or not with this method.
    None,
}

impl Operation {
    /// How many there are; [`Self::index`] stays below.
    pub(crate) const COUNT: usize = ROUTES.len() + Page::ALL.len() + 1;

    /// What `method path` asks for; HEAD asks for what GET asks for.
    pub(crate) fn of(method: &Method, path: &str) -> Self {
        let path = path.strip_suffix('/').unwrap_or(path);
        if let Some(page) = Page::at(path) {
            return Self::Page(page);
        }
        let method = match method.as_str() {
            "HEAD" => "GET",
            other => other,
        };
        let row = |fits: fn(&Route, &str) -> bool| {
            ROUTES
                .iter()
                .position(|route| fits(route, path) && route.method.as_str() == method)
        };
        // Most requests are for a path without parameters, and of those nearly all others differ in their length already.
        row(is_path)
            .or_else(|| row(fits))
            .map_or(Self::None, Self::Route)
    }

    /// Every operation, in the order of [`Self::index`].
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let routes = (0..ROUTES.len()).map(Self::Route);
        let pages = Page::ALL.into_iter().map(Self::Page);
        routes.chain(pages).chain([Self::None])
    }

    /// A number below [`Self::COUNT`], one for each operation.
    pub(crate) fn index(self) -> usize {
        match self {
            Self::Route(row) => row,
            Self::Page(page) => ROUTES.len() + page as usize,
            Self::None => Self::COUNT - 1,
        }
    }

    /// Whether its body is a telemetry batch, which the engine takes in pieces.
    pub(crate) fn is_batch(self) -> bool {
        match self {
            Self::Route(row) => ROUTES
                .get(row)
                .is_some_and(|route| route.body == RequestBody::Batch),
            Self::Page(_) | Self::None => false,
        }
    }

    /// Whether it can take longer than the event loop may be held.
    pub(crate) fn is_slow(self) -> bool {
        match self {
            Self::Route(row) => ROUTES
                .get(row)
                .is_some_and(|route| route.work == Work::Slow),
            Self::Page(_) | Self::None => false,
        }
    }

    /// Whether it needs a key, in this configuration.
    pub(crate) fn needs_key(self, config: &Config) -> bool {
        match self {
            Self::Route(row) => ROUTES
                .get(row)
                .is_some_and(|route| needs_key(route.access, config)),
            Self::Page(_) | Self::None => false,
        }
    }

    /// Whether it asks only if the process answers, which is always answered.
    pub(crate) fn is_livez(self) -> bool {
        self == Self::Page(Page::Livez)
    }

    /// The label: the operation id, the page's name, or `none`.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Route(row) => ROUTES.get(row).map_or("none", |route| route.operation_id),
            Self::Page(page) => page.name(),
            Self::None => "none",
        }
    }
}

/// Whether `path` (without a trailing slash) is the route's, letter by letter, ASCII case ignored.
fn is_path(route: &Route, path: &str) -> bool {
    route.path.eq_ignore_ascii_case(path)
}

/// Whether `path` (without a trailing slash) is of the route's shape, ASCII case ignored.
fn fits(route: &Route, path: &str) -> bool {
    let mut segments = path.split('/');
    let all_fit = route.path.split('/').all(|expected| {
        segments.next().is_some_and(|segment| {
            (expected.starts_with('{') && !segment.is_empty())
                || expected.eq_ignore_ascii_case(segment)
        })
    });
    all_fit && segments.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(method: &Method, path: &str) -> &'static str {
        Operation::of(method, path).label()
    }

    #[test]
    fn every_row_finds_itself() {
        for route in &ROUTES {
            let method = Method::from_bytes(route.method.as_str().as_bytes()).unwrap();
            let path = route
                .path
                .replace("{workSpId}", "ws-Ä1")
                .replace("{id}", "7");
            assert_eq!(label(&method, &path), route.operation_id);
            assert_eq!(
                label(&method, &format!("{}/", path.to_ascii_uppercase())),
                route.operation_id
            );
        }
    }

    #[test]
    fn indices_are_distinct_and_below_the_count() {
        let indices: Vec<usize> = Operation::all().map(Operation::index).collect();
        assert_eq!(indices, (0..Operation::COUNT).collect::<Vec<_>>());
    }

    #[test]
    fn anything_else_is_none() {
        for path in [
            "/api",
            "/operator/workspaces/a/b",
            "/operator/actions//fail",
            "*",
        ] {
            assert_eq!(label(&Method::POST, path), "none", "{path}");
        }
        assert_eq!(label(&Method::PUT, "/api/Stats/Test"), "none");
    }

    #[test]
    fn head_asks_for_what_get_asks_for() {
        assert_eq!(label(&Method::HEAD, "/api/Stats/Test"), "test");
        assert_eq!(label(&Method::HEAD, "/LIVEZ/"), "livez");
    }
}
