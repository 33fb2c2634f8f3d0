//! The configuration of a client of TLS.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WantsClientCert;
use rustls::crypto::ring;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore};

use crate::pem::{read_certificates, read_key, read_roots};

/// The certificate that a client shows to servers that ask for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The file with the certificate and those that signed it, in PEM.
    pub certificate: PathBuf,
    /// The file with its private key, in PEM without a passphrase.
    pub key: PathBuf,
}

impl Identity {
    /// Where both files are given.
    #[must_use]
    pub fn from_files(certificate: Option<&Path>, key: Option<&Path>) -> Option<Self> {
        Some(Self {
            certificate: certificate?.to_owned(),
            key: key?.to_owned(),
        })
    }
}

/// A configuration that verifies servers with the CAs in the file `ca`, or those of the system.
///
/// # Errors
///
/// One sentence with the file that cannot be used.
pub fn client_config(ca: Option<&Path>, identity: Option<&Identity>) -> io::Result<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots(ca)?);
    with_identity(builder, identity)
}

/// The CAs in the file, or those of the system.
///
/// # Errors
///
/// One sentence, where there are none.
pub fn roots(ca: Option<&Path>) -> io::Result<RootCertStore> {
    if let Some(file) = ca {
        return read_roots(file);
    }
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map(|error| format!(" ({error})"));
        let why = why.unwrap_or_default();
        return Err(io::Error::other(format!(
            "this system has no CAs where they are expected{why}: name a file with those of the server"
        )));
    }
    Ok(roots)
}

/// The configuration that shows a certificate, if there is one.
///
/// # Errors
///
/// One sentence with the file that cannot be used.
pub fn with_identity(
    builder: ConfigBuilder<ClientConfig, WantsClientCert>,
    identity: Option<&Identity>,
) -> io::Result<ClientConfig> {
    let Some(Identity { certificate, key }) = identity else {
        return Ok(builder.with_no_client_auth());
    };
    let chain = read_certificates(certificate)?;
    let config = builder.with_client_auth_cert(chain, read_key(key)?);
    config.map_err(|error| {
        let message = format!("cannot use {}: {error}", certificate.display());
        io::Error::new(io::ErrorKind::InvalidInput, message)
    })
}
