//! The place of TLS in a build without the feature `tls`.

/// The certificate and key of a server. Without the feature `tls` there is none.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Tls;
