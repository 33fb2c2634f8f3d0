//! TLS of the commands that take `--url`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deskfleet_server::{read_certificates, read_key, read_roots};
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::failure::Failure;
use super::server_args::ServerArgs;

/// The variable that names the CAs of OpenSSL and of many programs.
const CA_VARIABLE: &str = "SSL_CERT_FILE";
/// Where systems keep the CAs that they trust.
const CA_FILES: &[&str] = &[
    // Debian, Ubuntu, Arch, Gentoo.
    "/etc/ssl/certs/ca-certificates.crt",
    // Fedora, RHEL.
    "/etc/pki/tls/certs/ca-bundle.crt",
    // SUSE.
    "/etc/ssl/ca-bundle.pem",
    // Alpine, macOS, OpenBSD.
    "/etc/ssl/cert.pem",
    // FreeBSD.
    "/usr/local/etc/ssl/cert.pem",
];

/// Which servers are trusted, and the certificate of this client where it has one.
pub(crate) struct ClientTls(TlsConnector);

impl ClientTls {
    pub(crate) fn new(args: &ServerArgs) -> Result<Self, Failure> {
        let failure = |error: io::Error| Failure(error.to_string());
        let unusable = |error: rustls::Error| Failure::caused("cannot use TLS", &error);
        let roots = match &args.ca {
            Some(file) => read_roots(file),
            None => read_roots(&system_roots()?),
        };
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_root_certificates(roots.map_err(failure)?);
        let config = match (&args.client_cert, &args.client_key) {
            (Some(certificate), Some(key)) => {
                let chain = read_certificates(certificate).map_err(failure)?;
                let key = read_key(key).map_err(failure)?;
                let what = format_args!("cannot use {}", certificate.display());
                builder
                    .with_client_auth_cert(chain, key)
                    .map_err(|error| Failure::caused(what, &error))?
            }
            _ => builder.with_no_client_auth(),
        };
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }

    /// The connection after its handshake with the server of that name or address.
    pub(crate) async fn connect(
        &self,
        host: &str,
        socket: TcpStream,
    ) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        self.0.connect(name, socket).await
    }
}

fn system_roots() -> Result<PathBuf, Failure> {
    if let Some(file) = std::env::var_os(CA_VARIABLE) {
        return Ok(file.into());
    }
    let mut files = CA_FILES.iter().map(Path::new);
    let found = files.find(|file| file.exists()).map(Path::to_owned);
    found.ok_or_else(|| {
        Failure(
            "this system has no file of CAs where it is expected: name one with --ca".to_owned(),
        )
    })
}
