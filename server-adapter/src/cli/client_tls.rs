//! TLS of the commands that take `--url`.

use std::io;
use std::sync::Arc;

use deskfleet_server::{read_certificates, read_key, read_roots};
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::client_files::ClientFiles;
use super::failure::Failure;

/// The trusted CAs, and the certificate of this client, if any.
pub(crate) struct ClientTls(TlsConnector);

impl ClientTls {
    pub(crate) fn new(files: &ClientFiles) -> Result<Self, Failure> {
        let failure = |error: io::Error| Failure(error.to_string());
        let unusable = |error: rustls::Error| Failure::caused("cannot use TLS", &error);
        let roots = match &files.ca {
            Some(file) => read_roots(file).map_err(failure)?,
            None => system_roots()?,
        };
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_root_certificates(roots);
        let config = match (&files.client_cert, &files.client_key) {
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

fn system_roots() -> Result<RootCertStore, Failure> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map(|error| format!(" ({error})"));
        return Err(Failure(format!(
            "this system has no CAs where they are expected{}: name a file with --ca",
            why.unwrap_or_default()
        )));
    }
    Ok(roots)
}
