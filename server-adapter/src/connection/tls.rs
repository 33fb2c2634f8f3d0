//! TLS of a server: the files that it takes, checked before anything is served with them.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use deskfleet::Timestamp;
use deskfleet_client::{read_certificates, read_key, read_roots};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier as _;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{CertificateError, Error, InconsistentKeys, RootCertStore, ServerConfig};

/// What a client may ask for by ALPN, the preferred first.
#[cfg(feature = "http2")]
const ALPN: &[&[u8]] = &[b"h2", b"http/1.1"];
#[cfg(not(feature = "http2"))]
const ALPN: &[&[u8]] = &[b"http/1.1"];

/// A time after which no certificate is valid any more: 200 years from now.
const LATER_SECONDS: u64 = 200 * 366 * 24 * 60 * 60;

/// The certificate and key of a server, and the CA of its clients where it has one. Clones are the same.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    certificate_end: Option<Timestamp>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Reads a certificate with the chain below its CA, and its key. With `client_ca`, connections without a certificate of one of
    /// those CAs end in the handshake.
    ///
    /// # Errors
    ///
    /// One sentence with the file and what to do: it cannot be read, it holds something else, the key is of another certificate, or
    /// the certificate is not valid now.
    pub fn read(certificate: &Path, key: &Path, client_ca: Option<&Path>) -> io::Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let chain = read_certificates(certificate)?;
        let certificate_end = check_validity(certificate, &chain, &provider)?;
        let place = certificate.display();
        let certified = CertifiedKey::from_der(chain, read_key(key)?, &provider);
        let certified = certified.map_err(|error| {
            if error == Error::InconsistentKeys(InconsistentKeys::KeyMismatch) {
                return invalid(format_args!(
                    "the key in {} is of another certificate than the first one in {place}: the certificate of the server comes \
                     first, then those that signed it",
                    key.display()
                ));
            }
            invalid(format_args!("cannot use {place} and {}: {error}", key.display()))
        })?;
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?;
        let builder = match client_ca {
            Some(file) => {
                let roots = Arc::new(read_roots(file)?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
                builder.with_client_cert_verifier(verifier.map_err(io::Error::other)?)
            }
            None => builder.with_no_client_auth(),
        };
        let mut config = builder.with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
        config.alpn_protocols = ALPN.iter().map(|name| name.to_vec()).collect();
        if client_ca.is_some() {
            // A resumed session would not look at the client's certificate again, which may have expired.
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        } else {
            // Sessions are kept by the clients: there may be a hundred thousand.
            config.ticketer = ring::Ticketer::new().map_err(io::Error::other)?;
        }
        Ok(Self {
            config: Arc::new(config),
            certificate_end,
        })
    }

    /// When its certificate ends, where that is known.
    pub(crate) fn certificate_end(&self) -> Option<Timestamp> {
        self.certificate_end
    }

    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }
}

/// Refuses a certificate that no client would accept now; returns when it ends. Who signed it, and for which names, is for the clients to judge.
fn check_validity(
    file: &Path,
    chain: &[CertificateDer<'static>],
    provider: &Arc<CryptoProvider>,
) -> io::Result<Option<Timestamp>> {
    let Some((first, others)) = chain.split_first() else {
        return Ok(None);
    };
    let file = file.display();
    let unusable = |error: &dyn fmt::Display| {
        invalid(format_args!(
            "cannot use the certificate in {file}: {error}"
        ))
    };
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(chain.iter().cloned());
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
    let verifier = verifier.map_err(|error| unusable(&error))?;
    let name = ServerName::try_from("localhost").map_err(|error| unusable(&error))?;
    let now = UnixTime::now();
    // Times are looked at first.
    let date = |time: UnixTime| {
        Timestamp::from_unix_seconds(i64::try_from(time.as_secs()).unwrap_or(i64::MAX))
    };
    match verifier.verify_server_cert(first, others, &name, &[], now) {
        Err(Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) => {
            Err(invalid(format_args!(
                "the certificate in {file} expired at {}: renew it",
                date(not_after)
            )))
        }
        Err(Error::InvalidCertificate(CertificateError::NotValidYetContext {
            not_before, ..
        })) => Err(invalid(format_args!(
            "the certificate in {file} is valid from {} on, and it is {} now: wait, or set the clock",
            date(not_before),
            date(now)
        ))),
        Err(Error::InvalidCertificate(CertificateError::BadEncoding)) => {
            Err(unusable(&"it is no X.509 certificate of version 3"))
        }
        _ => {
            // Judged as of a later time, it says when it will have ended.
            let later = UnixTime::since_unix_epoch(Duration::from_secs(
                now.as_secs().saturating_add(LATER_SECONDS),
            ));
            let judged = verifier.verify_server_cert(first, others, &name, &[], later);
            Ok(match judged {
                Err(Error::InvalidCertificate(CertificateError::ExpiredContext {
                    not_after,
                    ..
                })) => Some(date(not_after)),
                _ => None,
            })
        }
    }
}

fn invalid(message: fmt::Arguments<'_>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message.to_string())
}
