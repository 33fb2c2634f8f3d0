//! HTTP within bounds of time and size.

use std::io;
use std::path::Path;
use std::time::Duration;

#[cfg(feature = "tls")]
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body, Error, Timeout};

/// Bytes of a response that are read. The longest of Amazon WorkSpaces, a page of 25 desktops, has some 50 KiB.
const BODY_MAX: u64 = 4 << 20;
/// How long a connection may be unused before it is not used again: shorter than servers keep theirs.
const IDLE_MAX: Duration = Duration::from_secs(5);

/// A response.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: http::HeaderMap,
    /// The whole body.
    pub body: Vec<u8>,
}

impl Response {
    /// The text of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Why there is no response.
#[derive(Debug)]
pub struct Failure {
    /// Whether the server may have read the request.
    pub is_sent: bool,
    /// What happened, in a few words.
    pub text: String,
}

/// What an agent may do.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The time of a request and its response.
    pub whole: Duration,
    /// The time until it is connected.
    pub connect: Duration,
    /// Whether a proxy that the environment names is used.
    pub proxied: bool,
}

/// A client. Certificates are checked against the CAs in `ca`, a PEM file, else against those of the system.
///
/// # Errors
///
/// One sentence, where the CAs cannot be read.
#[cfg_attr(
    not(feature = "tls"),
    expect(unused_variables, reason = "no CAs are read without TLS")
)]
pub fn agent(bounds: Bounds, ca: Option<&Path>) -> io::Result<Agent> {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(bounds.whole))
        .timeout_connect(Some(bounds.connect))
        .max_idle_age(IDLE_MAX)
        .user_agent(concat!("deskfleet/", env!("CARGO_PKG_VERSION")));
    let config = if bounds.proxied {
        config
    } else {
        config.proxy(None)
    };
    #[cfg(feature = "tls")]
    let config = config.tls_config(tls(ca)?);
    Ok(config.build().new_agent())
}

#[cfg(feature = "tls")]
fn tls(ca: Option<&Path>) -> io::Result<TlsConfig> {
    use std::sync::Arc;

    let certificates = match ca {
        Some(file) => super::pem::read_certificates(file)?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    let certificates = certificates.iter();
    let certificates: Vec<_> = certificates
        .map(|der| Certificate::from_der(der.as_ref()).to_owned())
        .collect();
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(certificates)))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build())
}

/// Sends a request, and reads the whole response.
///
/// # Errors
///
/// Where there is no response, or no whole one.
pub fn send(agent: &Agent, request: http::Request<Vec<u8>>) -> Result<Response, Failure> {
    let response = agent.run(request).map_err(|error| failure(&error))?;
    let (head, mut body): (_, Body) = response.into_parts();
    let body = body.with_config().limit(BODY_MAX).read_to_vec();
    let body = body.map_err(|error| Failure {
        is_sent: true,
        ..failure(&error)
    })?;
    Ok(Response {
        status: head.status.as_u16(),
        headers: head.headers,
        body,
    })
}

fn failure(error: &Error) -> Failure {
    let is_unsent = matches!(
        error,
        Error::HostNotFound
            | Error::ConnectionFailed
            | Error::BadUri(_)
            | Error::Http(_)
            | Error::InvalidProxyUrl
            | Error::ConnectProxyFailed(_)
            | Error::RequireHttpsOnly(_)
            | Error::TlsRequired
            | Error::Tls(_)
            | Error::Timeout(Timeout::Resolve | Timeout::Connect)
    );
    #[cfg(feature = "tls")]
    let is_unsent = is_unsent || matches!(error, Error::Rustls(_));
    let is_unconnected = matches!(error, Error::Io(error) if matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::AddrNotAvailable
    ));
    Failure {
        is_sent: !is_unsent && !is_unconnected,
        text: error.to_string(),
    }
}
