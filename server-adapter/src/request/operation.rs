//! What a request asks for, as metrics and access log name it.

use deskfleet::Scope;
use deskfleet::routes::{self, Access, Answer, ROUTES, RequestBody, Route};
use http::Method;

use super::page::Page;
use super::service::Service;

/// What a request asks for. Nothing that a client sends can add one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operation {
    /// A row of the route table.
    Route(&'static Route),
    /// A page of the server's own.
    Page(Page),
    /// Another operation of the server's own.
    Service(Service),
    /// A browser asks whether a page of another origin may send a request.
    Preflight,
    /// No such path, or not with this method.
    None,
}

impl Operation {
    /// How many there are; [`Self::index`] stays below.
    pub(crate) const COUNT: usize = ROUTES.len() + Page::ALL.len() + Service::ALL.len() + 2;

    /// Every operation, in the order of [`Self::index`].
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let routes = ROUTES.iter().map(Self::Route);
        let pages = Page::ALL.iter().copied().map(Self::Page);
        let services = Service::ALL.iter().copied().map(Self::Service);
        let own = pages.chain(services);
        routes.chain(own).chain([Self::Preflight, Self::None])
    }

    /// The page or other operation of the server's own at `path`.
    pub(crate) fn own(method: &Method, path: &str) -> Option<Self> {
        let page = Page::at(path).map(Self::Page);
        page.or_else(|| Service::at(method, path).map(Self::Service))
    }

    /// Its place among all.
    pub(crate) fn index(self) -> usize {
        match self {
            Self::Route(route) => {
                let row = ROUTES.iter().position(|row| std::ptr::eq(row, route));
                row.unwrap_or(Self::COUNT - 1)
            }
            Self::Page(page) => ROUTES.len() + page as usize,
            Self::Service(service) => ROUTES.len() + Page::ALL.len() + service as usize,
            Self::Preflight => Self::COUNT - 2,
            Self::None => Self::COUNT - 1,
        }
    }

    /// Whether all responses to it share their bytes.
    pub(crate) fn is_static(self) -> bool {
        matches!(self, Self::Page(page) if !matches!(page, Page::Metrics | Page::Readyz))
    }

    /// Whether it is for operators: those who only read the fleet must not be in their way.
    pub(crate) fn is_operators(self) -> bool {
        match self {
            Self::Service(_) => true,
            Self::Route(route) => {
                let needs_more = matches!(route.access, Access::Key(scope) if scope != Scope::Read);
                // Agents send those, as many as there are.
                needs_more && route.body != RequestBody::Batch
            }
            Self::Page(_) | Self::Preflight | Self::None => false,
        }
    }

    /// Whether nothing was written where its response is lost.
    pub(crate) fn is_read(self) -> bool {
        match self {
            Self::Route(route) => {
                route.method == routes::Method::Get || route.body == RequestBody::Preview
            }
            Self::Service(service) => service.takes(&Method::GET),
            Self::Page(_) | Self::Preflight | Self::None => true,
        }
    }

    /// Whether its response reports in more than a few words what was written.
    pub(crate) fn is_reported(self) -> bool {
        match self {
            Self::Route(route) => {
                !self.is_read() && self.is_operators() && route.answer != Answer::Empty
            }
            Self::Service(_) | Self::Page(_) | Self::Preflight | Self::None => false,
        }
    }

    /// The operation id, the page's name, `preflight`, or `none`.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Route(route) => route.operation_id,
            Self::Page(page) => page.name(),
            Self::Service(service) => service.name(),
            Self::Preflight => "preflight",
            Self::None => "none",
        }
    }
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
