//! The files of the console, which the build script finds and compresses: the page at `/`, all others below `/app/`.

use std::io::Read as _;
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::read::GzDecoder;
use http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

use crate::response::compression::accepts_gzip;

// `FILES`: the page, then the others in the order of their paths.
include!(concat!(env!("OUT_DIR"), "/console.rs"));

/// Only scripts and styles of the server load, and a script makes HTML from text only through the policy `deskfleet`.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types deskfleet",
);

/// A file of the console.
#[derive(Debug)]
pub(crate) struct File {
    path: &'static str,
    content_type: &'static str,
    /// The tag of the content with any coding, so it is weak.
    tag: &'static str,
    /// Whether another content would have another path, by a hash in it.
    is_kept: bool,
    gzip: &'static [u8],
    /// The content without gzip, once a client wanted it.
    plain: OnceLock<Bytes>,
}

impl File {
    const fn new(
        path: &'static str,
        content_type: &'static str,
        tag: &'static str,
        is_kept: bool,
        gzip: &'static [u8],
    ) -> Self {
        Self {
            path,
            content_type,
            tag,
            is_kept,
            gzip,
            plain: OnceLock::new(),
        }
    }

    /// The file at exactly `path`.
    pub(crate) fn find(path: &str) -> Option<&'static Self> {
        let others = FILES.get(1..).unwrap_or_default();
        others.iter().find(|file| file.path == path)
    }

    /// The content; empty only after a fault of the build script.
    fn plain(&self) -> Bytes {
        let inflated = || {
            let mut content = Vec::new();
            let read = GzDecoder::new(self.gzip).read_to_end(&mut content);
            read.map(|_| content.into()).unwrap_or_default()
        };
        self.plain.get_or_init(inflated).clone()
    }

    /// The file in the coding that the request accepts; 304 if the client has it.
    pub(crate) fn response(&self, request: &HeaderMap) -> Response<Bytes> {
        let mut response = Response::default();
        let headers = response.headers_mut();
        let cached = if self.is_kept {
            "public, max-age=31536000, immutable"
        } else {
            // A client that did not revalidate it might use a file of an earlier server.
            "no-cache"
        };
        for (name, value) in [
            (ETAG, self.tag),
            (CACHE_CONTROL, cached),
            (VARY, "Accept-Encoding"),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (REFERRER_POLICY, "no-referrer"),
            (
                HeaderName::from_static("cross-origin-opener-policy"),
                "same-origin",
            ),
            (
                HeaderName::from_static("cross-origin-resource-policy"),
                "same-origin",
            ),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if self.is_known(request) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return response;
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        *response.body_mut() = if accepts_gzip(request) {
            let headers = response.headers_mut();
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            Bytes::from_static(self.gzip)
        } else {
            self.plain()
        };
        response
    }

    /// Whether the client says that it has this content.
    fn is_known(&self, request: &HeaderMap) -> bool {
        let lists = request.get_all(IF_NONE_MATCH).iter();
        let mut tags = lists.flat_map(|list| list.to_str().unwrap_or_default().split(','));
        tags.any(|tag| {
            let tag = tag.trim();
            tag == "*" || tag == self.tag || self.tag.strip_prefix("W/") == Some(tag)
        })
    }
}

/// The page, with its policy.
pub(crate) fn page(request: &HeaderMap) -> Response<Bytes> {
    let page = FILES.first().map(|page| page.response(request));
    let mut response = page.unwrap_or_default();
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(VARY, HeaderValue::from_static("Accept, Accept-Encoding"));
    response
}
