//! The operation of a request: a row of the engine's route table, or one of the server's own.

use deskfleet::Scope;
use deskfleet::routes::{self, Access, Answer, ROUTES, RequestBody, Route};
use http::{HeaderValue, Method};

#[cfg(feature = "console")]
use crate::console::files::File;

/// What the server serves itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Own {
    Page(Page),
    Service(Service),
}

/// A page: GET and HEAD only, without a key.
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

/// An operation that is more than a page to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    /// Lists the backups.
    ListBackups,
    /// Writes a backup.
    BackUp,
    /// Writes a copy that is sent and not kept.
    DownloadBackup,
    /// Lists the nodes of the fleet.
    Cluster,
    /// Returns the settings of the fleet.
    FleetSettings,
    /// Changes settings of the fleet.
    ConfigureFleet,
    /// Ends an upgrade of all nodes.
    FinalizeCluster,
    /// Takes a node off the list.
    ForgetNode,
    /// Takes the lease of a provider.
    TakeLease,
    /// Signs in to the console.
    #[cfg(feature = "console")]
    Session,
}

/// A row of the table.
#[derive(Debug)]
pub(crate) struct OwnRoute {
    pub(crate) own: Own,
    pub(crate) operation_id: &'static str,
    method: routes::Method,
    /// The path as documented; a name in braces at its end stands for one segment.
    pub(crate) path: &'static str,
    /// The path up to the name in braces, if it has one.
    prefix: Option<&'static str>,
}

/// The part of `path` before a brace.
const fn before_brace(path: &'static str) -> Option<&'static str> {
    let mut rest = path.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        if *first == b'{' {
            return Some(path.split_at(path.len() - rest.len()).0);
        }
        rest = others;
    }
    None
}

const fn page(page: Page, operation_id: &'static str, path: &'static str) -> OwnRoute {
    OwnRoute {
        own: Own::Page(page),
        operation_id,
        method: routes::Method::Get,
        path,
        prefix: before_brace(path),
    }
}

const fn service(
    service: Service,
    operation_id: &'static str,
    method: routes::Method,
    path: &'static str,
) -> OwnRoute {
    OwnRoute {
        own: Own::Service(service),
        operation_id,
        method,
        path,
        prefix: before_brace(path),
    }
}

/// The server's own rows: the pages, then the other operations.
#[rustfmt::skip]
pub(crate) static OWN_ROUTES: &[OwnRoute] = &[
    page(Page::Livez, "livez", "/livez"),
    page(Page::Readyz, "readyz", "/readyz"),
    page(Page::Metrics, "metrics", "/metrics"),
    page(Page::OpenApi, "openapi", "/openapi.json"),
    page(Page::Index, "index", "/"),
    page(Page::Icon, "icon", "/favicon.ico"),
    #[cfg(feature = "console")]
    page(Page::Console, "console", "/app/{file}"),
    service(Service::ListBackups, "listBackups", routes::Method::Get, "/operator/backups"),
    service(Service::BackUp, "backUp", routes::Method::Post, "/operator/backups"),
    service(Service::DownloadBackup, "downloadBackup", routes::Method::Post, "/operator/backups/download"),
    service(Service::Cluster, "clusterStatus", routes::Method::Get, "/operator/cluster"),
    service(Service::FleetSettings, "fleetSettings", routes::Method::Get, "/operator/cluster/settings"),
    service(Service::ConfigureFleet, "configureFleet", routes::Method::Post, "/operator/cluster/settings"),
    service(Service::FinalizeCluster, "finalizeCluster", routes::Method::Post, "/operator/cluster/finalize"),
    service(Service::ForgetNode, "forgetNode", routes::Method::Delete, "/operator/cluster/nodes/{node}"),
    service(Service::TakeLease, "takeLease", routes::Method::Post, "/operator/leases"),
    #[cfg(feature = "console")]
    service(Service::Session, "consoleSession", routes::Method::Post, "/console/session"),
];

impl OwnRoute {
    /// The row for `path` that takes `method`, else any row for that path.
    pub(crate) fn find(method: &Method, path: &str) -> Option<&'static Self> {
        // Nearly every request is one for a path below this, where no row is.
        if path.starts_with("/api/") {
            return None;
        }
        let stripped = path.strip_suffix('/').filter(|path| path.len() > 1);
        let stripped = stripped.unwrap_or(path);
        let mut rows = OWN_ROUTES.iter().filter(|row| row.has_path(path, stripped));
        let first = rows.next()?;
        if first.takes(method) {
            return Some(first);
        }
        Some(rows.find(|row| row.takes(method)).unwrap_or(first))
    }

    /// Whether `path` is its own, which is `stripped` without a trailing slash. ASCII case and that slash are ignored, but for files of the
    /// console: a browser takes a module with two addresses for two modules.
    fn has_path(&self, path: &str, stripped: &str) -> bool {
        #[cfg(feature = "console")]
        if self.own == Own::Page(Page::Console) {
            return self.prefix.is_some_and(|prefix| path.starts_with(prefix))
                && File::find(path).is_some();
        }
        self.path.eq_ignore_ascii_case(stripped) || self.segment(path).is_some()
    }

    /// What `path` has in place of the name in braces.
    pub(crate) fn segment<'p>(&self, path: &'p str) -> Option<&'p str> {
        let prefix = self.prefix?;
        let path = path.strip_suffix('/').unwrap_or(path);
        let (start, segment) = path.split_at_checked(prefix.len())?;
        let is_one =
            start.eq_ignore_ascii_case(prefix) && !segment.is_empty() && !segment.contains('/');
        is_one.then_some(segment)
    }

    /// Whether the row is for `method`; HEAD counts as GET.
    pub(crate) fn takes(&self, method: &Method) -> bool {
        self.method.as_str() == method.as_str()
            || self.method == routes::Method::Get && method == Method::HEAD
    }

    /// The methods of its path, for `Allow`.
    pub(crate) fn allow(&self) -> HeaderValue {
        let rows = OWN_ROUTES.iter().filter(|row| row.path == self.path);
        let methods: Vec<_> = rows
            .flat_map(|row| {
                let head = (row.method == routes::Method::Get).then_some("HEAD");
                [row.method.as_str()].into_iter().chain(head)
            })
            .collect();
        // They are tokens.
        HeaderValue::try_from(methods.join(", ")).unwrap_or(HeaderValue::from_static(""))
    }
}

/// The operation of a request. A client cannot add one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operation {
    /// A row of the engine's route table.
    Route(&'static Route),
    /// What the server serves itself.
    Own(&'static OwnRoute),
    /// A preflight of a browser.
    Preflight,
    /// No such path, or not with this method.
    None,
}

impl Operation {
    /// The number of operations; [`Self::index`] stays below.
    pub(crate) const COUNT: usize = ROUTES.len() + OWN_ROUTES.len() + 2;

    /// Every operation, in the order of [`Self::index`].
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let routes = ROUTES.iter().map(Self::Route);
        let own = OWN_ROUTES.iter().map(Self::Own);
        routes.chain(own).chain([Self::Preflight, Self::None])
    }

    /// Its index among all.
    pub(crate) fn index(self) -> usize {
        match self {
            Self::Route(route) => index_in(ROUTES, route),
            Self::Own(own) => ROUTES.len() + index_in(OWN_ROUTES, own),
            Self::Preflight => Self::COUNT - 2,
            Self::None => Self::COUNT - 1,
        }
    }

    /// Whether all responses to it share their bytes.
    pub(crate) fn is_static(self) -> bool {
        let Self::Own(row) = self else {
            return false;
        };
        matches!(row.own, Own::Page(page) if !matches!(page, Page::Metrics | Page::Readyz))
    }

    /// Whether it is for operators, which clients that only read the fleet must not block.
    pub(crate) fn is_operators(self) -> bool {
        match self {
            Self::Own(row) => matches!(row.own, Own::Service(_)),
            Self::Route(route) => {
                let needs_more = matches!(route.access, Access::Key(scope) if scope != Scope::Read);
                // Agents send batches, and there are many agents.
                needs_more && route.body != RequestBody::Batch
            }
            Self::Preflight | Self::None => false,
        }
    }

    /// Whether losing its response is harmless, because nothing was written.
    pub(crate) fn is_read(self) -> bool {
        match self {
            Self::Route(route) => {
                route.method == routes::Method::Get || route.body == RequestBody::Preview
            }
            Self::Own(row) => row.method == routes::Method::Get,
            Self::Preflight | Self::None => true,
        }
    }

    /// Whether its response reports a write in more than a few words.
    pub(crate) fn is_reported(self) -> bool {
        match self {
            Self::Route(route) => {
                !self.is_read() && self.is_operators() && route.answer != Answer::Empty
            }
            Self::Own(_) | Self::Preflight | Self::None => false,
        }
    }

    /// The operation id, `preflight`, or `none`.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Route(route) => route.operation_id,
            Self::Own(row) => row.operation_id,
            Self::Preflight => "preflight",
            Self::None => "none",
        }
    }
}

/// The index of a row in its table, by its address: each request is counted by it.
fn index_in<T>(table: &'static [T], row: &'static T) -> usize {
    let offset = std::ptr::from_ref(row).addr() - table.as_ptr().addr();
    offset / size_of::<T>()
}

impl From<Option<&'static Route>> for Operation {
    fn from(route: Option<&'static Route>) -> Self {
        route.map_or(Self::None, Self::Route)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_indices_of_their_own() {
        let indices: Vec<usize> = Operation::all().map(Operation::index).collect();
        assert_eq!(indices, (0..Operation::COUNT).collect::<Vec<_>>());
    }

    #[test]
    fn no_own_route_is_below_api() {
        for row in OWN_ROUTES {
            assert!(!row.path.to_ascii_lowercase().starts_with("/api"));
            assert!(row.prefix != Some("/"), "it would match any path");
        }
    }

    #[test]
    fn own_route_is_found_by_path_and_method() {
        for (method, path, found) in [
            (Method::GET, "/", Some("index")),
            (Method::GET, "/Livez/", Some("livez")),
            (Method::GET, "/livez//", None),
            (Method::GET, "//", None),
            (Method::GET, "", None),
            (Method::GET, "/app/nothing.js", None),
            (Method::GET, "/app/{file}", None),
            (Method::GET, "/api/Stats/Test", None),
            (Method::GET, "/operator/backups", Some("listBackups")),
            (Method::HEAD, "/Operator/Backups/", Some("listBackups")),
            (Method::POST, "/operator/backups", Some("backUp")),
            (Method::DELETE, "/operator/backups", Some("listBackups")),
            (
                Method::POST,
                "/operator/backups/download",
                Some("downloadBackup"),
            ),
            (Method::GET, "/operator/cluster", Some("clusterStatus")),
            (
                Method::POST,
                "/operator/cluster/finalize",
                Some("finalizeCluster"),
            ),
            (
                Method::DELETE,
                "/Operator/cluster/nodes/n-1/",
                Some("forgetNode"),
            ),
            (Method::GET, "/operator/cluster/nodes/n", Some("forgetNode")),
            (Method::DELETE, "/operator/cluster/nodes/", None),
            (Method::DELETE, "/operator/cluster/nodes/n/m", None),
            (Method::GET, "/operator/backups/x", None),
            (Method::GET, "/operator/backups//", None),
        ] {
            let row = OwnRoute::find(&method, path);
            let id = row.map(|row| row.operation_id);
            assert_eq!(id, found, "{method} {path}");
        }
    }

    #[test]
    fn allow_has_every_method_of_the_path() {
        for (path, allow) in [
            ("/livez", "GET, HEAD"),
            ("/operator/backups", "GET, HEAD, POST"),
            ("/operator/cluster/nodes/n", "DELETE"),
        ] {
            let row = OwnRoute::find(&Method::PATCH, path).unwrap();
            assert_eq!(row.allow(), allow, "{path}");
        }
    }

    #[test]
    fn reads_are_what_has_get_and_the_preview_and_a_removal_reports() {
        for route in ROUTES {
            let is_read =
                route.method == routes::Method::Get || route.operation_id == "previewAction";
            let operation = Operation::Route(route);
            assert_eq!(operation.is_read(), is_read, "{}", operation.label());
        }
        let reported = Operation::all().filter(|operation| operation.is_reported());
        let reported: Vec<_> = reported.map(Operation::label).collect();
        assert!(reported.contains(&"removeTelemetry") && reported.contains(&"placeLitigationHold"));
        assert!(
            !reported.contains(&"postTelemetryBatch"),
            "agents would take the room of operators"
        );
    }
}
