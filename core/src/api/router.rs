//! From method and path to a row of the table. The only file that names matchit.

use matchit::Router as Matcher;

use crate::domain::query::decode_segment;

use super::endpoint::{Method, Route};
use super::routes::ROUTES;

/// The rows of one path.
#[derive(Debug)]
struct Methods {
    /// At most one a method, in the order of [`Method`].
    routes: Vec<&'static Route>,
    allow: String,
    /// Whether the path has a `{name}`.
    has_names: bool,
}

/// Finds routes by path, without regard to ASCII case and with one trailing slash tolerated.
#[derive(Debug)]
pub(crate) struct Router {
    /// Each path as documented and in lower case, to its place in `paths`.
    matcher: Matcher<usize>,
    paths: Vec<Methods>,
}

/// The result of a look-up of method and path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Route {
        route: &'static Route,
        /// The segments that stand for `{name}`s, decoded, in the order of the path.
        segments: Vec<String>,
    },
    /// The path is known, the method is not; the exact `Allow`.
    MethodNotAllowed(String),
    Nothing,
}

impl Found {
    pub(crate) fn route(&self) -> Option<&'static Route> {
        match self {
            Self::Route { route, .. } => Some(route),
            Self::MethodNotAllowed(_) | Self::Nothing => None,
        }
    }
}

impl Router {
    /// A router of the whole table.
    pub(crate) fn new() -> Result<Self, matchit::InsertError> {
        let mut paths: Vec<(String, Vec<&'static Route>)> = Vec::new();
        for route in ROUTES {
            let path = route.path.to_ascii_lowercase();
            match paths.iter_mut().find(|(known, _)| *known == path) {
                Some((_, routes)) => routes.push(route),
                None => paths.push((path, vec![route])),
            }
        }
        let mut router = Self {
            matcher: Matcher::new(),
            paths: Vec::with_capacity(paths.len()),
        };
        for (lower, mut routes) in paths {
            routes.sort_by_key(|route| route.method);
            let allow = routes.iter().map(|route| match route.method {
                Method::Get => "GET, HEAD",
                Method::Post => "POST",
                Method::Put => "PUT",
                Method::Delete => "DELETE",
            });
            let allow = allow.collect::<Vec<_>>().join(", ");
            let place = router.paths.len();
            // Most requests spell a path as documented, and need no copy in lower case then.
            let documented = routes
                .first()
                .map(|route| route.path)
                .filter(|path| !path.contains('{'));
            if let Some(documented) = documented
                && documented != lower
            {
                router.matcher.insert(documented, place)?;
            }
            router.matcher.insert(lower, place)?;
            router.paths.push(Methods {
                has_names: documented.is_none(),
                routes,
                allow,
            });
        }
        Ok(router)
    }

    /// The row for a method and a path.
    pub(crate) fn find(&self, method: &http::Method, path: &str) -> Found {
        let Some(methods) = self.methods(path) else {
            return Found::Nothing;
        };
        let method = Method::of_request(method);
        let mut routes = methods.routes.iter();
        let Some(route) = routes.find(|route| Some(route.method) == method) else {
            return Found::MethodNotAllowed(methods.allow.clone());
        };
        if !methods.has_names {
            let segments = Vec::new();
            return Found::Route { route, segments };
        }
        match segments(route.path, path) {
            Some(segments) => Found::Route { route, segments },
            None => Found::Nothing,
        }
    }

    fn methods(&self, path: &str) -> Option<&Methods> {
        /// Longer than every path without `{name}`s, so most look-ups allocate nothing.
        const STACK_BYTES: usize = 128;
        let path = path.strip_suffix('/').unwrap_or(path);
        if let Some(methods) = self.exactly(path) {
            return Some(methods);
        }
        let mut stack = [0; STACK_BYTES];
        let heap;
        let lower = if let Some(buffer) = stack.get_mut(..path.len()) {
            buffer.copy_from_slice(path.as_bytes());
            buffer.make_ascii_lowercase();
            std::str::from_utf8(buffer).ok()?
        } else {
            heap = path.to_ascii_lowercase();
            &heap
        };
        self.exactly(lower)
    }

    fn exactly(&self, path: &str) -> Option<&Methods> {
        let found = self.matcher.at(path).ok()?;
        self.paths.get(*found.value)
    }
}

/// The parts of `path` at the `{name}`s of `template`; `None` where one cannot be decoded.
fn segments(template: &str, path: &str) -> Option<Vec<String>> {
    template
        .split('/')
        .zip(path.split('/'))
        .filter(|(name, _)| name.starts_with('{'))
        .map(|(_, segment)| decode_segment(segment))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(method: &str, path: &str) -> Found {
        Router::new().unwrap().find(&method.parse().unwrap(), path)
    }

    #[test]
    fn path_in_any_case_or_with_a_final_slash_finds_its_row() {
        for expected in ROUTES {
            let path = expected
                .path
                .replace("{workSpId}", "Ws-1")
                .replace("{id}", "7");
            for path in [
                path.clone(),
                path.to_uppercase(),
                path.to_lowercase(),
                format!("{path}/"),
            ] {
                match found(expected.method.as_str(), &path) {
                    Found::Route { route, .. } => assert_eq!(route, expected, "{path}"),
                    other @ (Found::MethodNotAllowed(_) | Found::Nothing) => {
                        panic!("{path}: {other:?}")
                    }
                }
            }
        }
    }

    #[test]
    fn path_that_differs_finds_nothing() {
        for path in [
            "",
            "/",
            "/api",
            "/api/Stats/Test//",
            "//api/Stats/Test",
            "/api/Stats/Test/x",
            "/api/Stats/%54est",
        ] {
            assert_eq!(found("GET", path), Found::Nothing, "{path}");
        }
        assert_eq!(found("GET", "/operator/workspaces/%zz"), Found::Nothing);
    }

    #[test]
    fn method_not_allowed_names_the_methods_of_the_path() {
        let not_allowed = |method, path| match found(method, path) {
            Found::MethodNotAllowed(allow) => allow,
            other @ (Found::Route { .. } | Found::Nothing) => panic!("{other:?}"),
        };
        assert_eq!(not_allowed("POST", "/api/Stats/Test"), "GET, HEAD");
        assert_eq!(not_allowed("HEAD", "/api/Stats/Post"), "POST");
        assert_eq!(
            not_allowed("PATCH", "/operator/workspaces"),
            "GET, HEAD, POST"
        );
        assert_eq!(not_allowed("get", "/api/Stats/Test"), "GET, HEAD");
        assert_eq!(
            not_allowed("POST", "/operator/workspaces/a/litigation-hold"),
            "PUT, DELETE"
        );
    }

    #[test]
    fn segment_keeps_its_case_and_is_decoded_once() {
        match found("GET", "/Operator/Workspaces/Ws%2D1%2520") {
            Found::Route { segments, .. } => assert_eq!(segments, ["Ws-1%20"]),
            other @ (Found::MethodNotAllowed(_) | Found::Nothing) => panic!("{other:?}"),
        }
    }
}
