//! The operations that the server has beside the engine's, and that are more than a page to read.

use http::Method;

/// An operation of the server's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    /// Listing the backups.
    ListBackups,
    /// Writing a backup.
    BackUp,
    /// Writing a copy that is sent and not kept.
    DownloadBackup,
    /// The nodes of the fleet.
    Cluster,
    /// Taking a node off the list.
    ForgetNode,
    /// Signing in to the console.
    #[cfg(feature = "console")]
    Session,
}

/// What is before the name of a node in the path of [`Service::ForgetNode`].
const NODES: &str = "/operator/cluster/nodes/";

impl Service {
    /// In the order of their numbers.
    pub(crate) const ALL: &[Self] = &[
        Self::ListBackups,
        Self::BackUp,
        Self::DownloadBackup,
        Self::Cluster,
        Self::ForgetNode,
        #[cfg(feature = "console")]
        Self::Session,
    ];

    /// Its path, with the name of a parameter in braces.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::ListBackups | Self::BackUp => "/operator/backups",
            Self::DownloadBackup => "/operator/backups/download",
            Self::Cluster => "/operator/cluster",
            Self::ForgetNode => "/operator/cluster/nodes/{node}",
            #[cfg(feature = "console")]
            Self::Session => "/console/session",
        }
    }

    /// Its operation id.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ListBackups => "listBackups",
            Self::BackUp => "backUp",
            Self::DownloadBackup => "downloadBackup",
            Self::Cluster => "clusterStatus",
            Self::ForgetNode => "forgetNode",
            #[cfg(feature = "console")]
            Self::Session => "consoleSession",
        }
    }

    /// Whether it is asked for by `method`.
    pub(crate) fn takes(self, method: &Method) -> bool {
        match self {
            Self::ListBackups | Self::Cluster => method == Method::GET || method == Method::HEAD,
            Self::ForgetNode => method == Method::DELETE,
            Self::BackUp | Self::DownloadBackup => method == Method::POST,
            #[cfg(feature = "console")]
            Self::Session => method == Method::POST,
        }
    }

    /// The methods of its path.
    pub(crate) const fn allow(self) -> &'static str {
        match self {
            Self::ListBackups | Self::BackUp => "GET, HEAD, POST",
            Self::DownloadBackup => "POST",
            Self::Cluster => "GET, HEAD",
            Self::ForgetNode => "DELETE",
            #[cfg(feature = "console")]
            Self::Session => "POST",
        }
    }

    /// The one at `path` that takes `method`, else any one there. ASCII case and one trailing slash are ignored.
    pub(crate) fn at(method: &Method, path: &str) -> Option<Self> {
        let path = path.strip_suffix('/').unwrap_or(path);
        let all = Self::ALL.iter().copied();
        let mut there = all.filter(|service| service.is_at(path));
        let first = there.next()?;
        let takes = |service: &Self| service.takes(method);
        Some(
            [first]
                .into_iter()
                .chain(there)
                .find(takes)
                .unwrap_or(first),
        )
    }

    /// Whether `path`, without a slash at its end, is one of its own.
    fn is_at(self, path: &str) -> bool {
        if self == Self::ForgetNode {
            return node(path).is_some();
        }
        self.path().eq_ignore_ascii_case(path)
    }
}

/// The name of the node in the path of [`Service::ForgetNode`].
pub(crate) fn node(path: &str) -> Option<&str> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let (before, name) = path.split_at_checked(NODES.len())?;
    let is_one = before.eq_ignore_ascii_case(NODES) && !name.is_empty() && !name.contains('/');
    is_one.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_is_found_by_path_and_method() {
        for (method, path, found) in [
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
                Method::DELETE,
                "/Operator/cluster/nodes/n-1/",
                Some("forgetNode"),
            ),
            (Method::GET, "/operator/cluster/nodes/n", Some("forgetNode")),
            (Method::DELETE, "/operator/cluster/nodes/", None),
            (Method::DELETE, "/operator/cluster/nodes/n/m", None),
            (Method::GET, "/operator/backups/x", None),
            (Method::GET, "/operator/backups//", None),
            (Method::GET, "/", None),
        ] {
            let service = Service::at(&method, path);
            assert_eq!(service.map(Service::name), found, "{method} {path}");
        }
    }
}
