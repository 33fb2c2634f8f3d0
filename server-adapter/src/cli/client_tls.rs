//! TLS of the commands that take `--url`.

use std::io;
use std::sync::Arc;

use deskfleet_client::tls::{Identity, client_config};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::client_files::ClientFiles;
use super::failure::Failure;

/// The trusted CAs, and the certificate of this client, if any.
pub(crate) struct ClientTls(TlsConnector);

impl ClientTls {
    pub(crate) fn new(files: &ClientFiles) -> Result<Self, Failure> {
        let identity =
            Identity::from_files(files.client_cert.as_deref(), files.client_key.as_deref());
        let config = client_config(files.ca.as_deref(), identity.as_ref());
        let config = config.map_err(|error| Failure(error.to_string()))?;
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
