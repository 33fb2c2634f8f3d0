//! Responses in gzip: those of long reads of the fleet, to clients that accept it. No secret is in such a response, and no page of another
//! site can make a browser send the key that it needs, so its length reveals nothing to an attacker who chose a part of it (BREACH).

use std::io::{self, Write as _};

use bytes::Bytes;
use deskfleet::routes::{Method, Pace, Route};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, VARY};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use crate::pages::accept::accepts;

/// Shorter bodies are sent as they are: they fit a packet, or nearly so.
const BYTES_MIN: usize = 2048;

/// Whether responses of a route are compressed for clients that accept it.
fn is_compressed(route: &Route) -> bool {
    route.pace == Pace::Slow && route.method == Method::Get && route.path.starts_with("/query/")
}

/// Whether the request accepts gzip.
pub(crate) fn accepts_gzip(request: &HeaderMap) -> bool {
    let accepted = |coding| accepts(request, &ACCEPT_ENCODING, coding);
    accepted("gzip").or_else(|| accepted("*")).unwrap_or(false)
}

/// Whether to compress a response to a request that accepts gzip or does not; its headers say so. `bytes` is its length, if it is known.
pub(crate) fn begin<B>(
    response: &mut Response<B>,
    route: Option<&Route>,
    accepts_gzip: bool,
    bytes: Option<usize>,
) -> bool {
    if response.status() != StatusCode::OK || !route.is_some_and(is_compressed) {
        return false;
    }
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    let compresses = accepts_gzip && bytes.is_none_or(|bytes| bytes >= BYTES_MIN);
    if compresses {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    compresses
}

/// Compresses a body chunk by chunk. It takes about 0.3 MB.
#[derive(Debug)]
pub(crate) struct Compressor(GzEncoder<Vec<u8>>);

impl Compressor {
    /// The fastest level: the best one makes the columns of desktops smaller by a tenth, in several times the time.
    pub(crate) fn new() -> Self {
        Self(GzEncoder::new(Vec::new(), Compression::fast()))
    }

    /// What is to be sent after the next chunk, which may be nothing.
    ///
    /// # Errors
    /// None is known: memory takes every write.
    pub(crate) fn chunk(&mut self, chunk: &[u8]) -> io::Result<Bytes> {
        self.0.write_all(chunk)?;
        Ok(std::mem::take(self.0.get_mut()).into())
    }

    /// What is to be sent after the last chunk.
    ///
    /// # Errors
    /// As [`Self::chunk`].
    pub(crate) fn finish(self) -> io::Result<Bytes> {
        Ok(self.0.finish()?.into())
    }

    /// A whole body, compressed.
    ///
    /// # Errors
    /// As [`Self::chunk`].
    pub(crate) fn whole(body: &[u8]) -> io::Result<Bytes> {
        let mut compressor = Self::new();
        compressor.0.write_all(body)?;
        compressor.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn chunks_are_one_gzip_stream_of_the_body() {
        let chunks: Vec<Vec<u8>> = (0..50_u8).map(|byte| vec![byte; 3000]).collect();
        let mut compressor = Compressor::new();
        let mut sent = Vec::new();
        for chunk in &chunks {
            sent.extend(compressor.chunk(chunk).unwrap());
        }
        sent.extend(compressor.finish().unwrap());
        let whole = Compressor::whole(&chunks.concat()).unwrap();
        for coded in [&sent[..], &whole] {
            let mut body = Vec::new();
            GzDecoder::new(coded).read_to_end(&mut body).unwrap();
            assert!(body == chunks.concat());
        }
    }

    #[test]
    fn long_read_of_the_fleet_is_compressed_and_nothing_with_secrets() {
        let compressed = deskfleet::routes::ROUTES
            .iter()
            .filter(|row| is_compressed(row));
        let paths: Vec<_> = compressed.map(|row| row.path).collect();
        assert!(paths.contains(&"/query/workspaces") && paths.contains(&"/query/export"));
        for (route, accepted, bytes, coded) in [
            ("queryWorkspaces", true, None, true),
            ("queryWorkspaces", true, Some(BYTES_MIN), true),
            ("queryWorkspaces", true, Some(BYTES_MIN - 1), false),
            ("queryWorkspaces", false, None, false),
            ("listKeys", true, None, false),
            ("previewAction", true, None, false),
        ] {
            let mut response = Response::new(());
            let mut rows = deskfleet::routes::ROUTES.iter();
            let route = rows.find(|row| row.operation_id == route);
            assert_eq!(begin(&mut response, route, accepted, bytes), coded);
            let coding = response.headers().get(CONTENT_ENCODING);
            assert_eq!(coding.is_some(), coded);
        }
    }
}
