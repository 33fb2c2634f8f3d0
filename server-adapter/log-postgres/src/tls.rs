//! TLS to PostgreSQL, verified as libpq does by `sslmode`.

use std::io;
use std::path::Path;
use std::sync::Arc;

use deskfleet_client::tls::{Identity, roots, with_identity};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{self, CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

/// What is verified of the server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verification {
    None,
    /// By whom it was issued.
    Issuer,
    /// By whom, and for which host.
    Full,
}

impl Verification {
    /// What `sslmode` asks for; `None` where it is unknown. As libpq does, `require` verifies the issuer where there is a file of
    /// certificates. A file without a mode asks for all of it.
    pub(super) fn new(ssl_mode: Option<&str>, has_ca: bool) -> Option<Self> {
        Some(match (ssl_mode, has_ca) {
            (Some("verify-full"), _) | (None, true) => Self::Full,
            (Some("verify-ca"), _) | (Some("require"), true) => Self::Issuer,
            (None | Some("disable" | "prefer" | "require"), _) => Self::None,
            (Some(_), _) => return None,
        })
    }
}

/// What makes connections of TLS.
pub(super) fn connector(
    verification: Verification,
    ca: Option<&Path>,
    identity: Option<&Identity>,
) -> io::Result<MakeRustlsConnect> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let builder = match verification {
        Verification::Full => builder.with_root_certificates(roots(ca)?),
        Verification::Issuer | Verification::None => {
            let issuer = (verification == Verification::Issuer)
                .then(|| {
                    let roots = Arc::new(roots(ca)?);
                    WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
                        .build()
                        .map_err(io::Error::other)
                })
                .transpose()?;
            let verifier = Arc::new(AnyHost { issuer, provider });
            builder
                .dangerous()
                .with_custom_certificate_verifier(verifier)
        }
    };
    with_identity(builder, identity).map(MakeRustlsConnect::new)
}

/// Accepts a certificate for any host, and without `issuer` any certificate.
#[derive(Debug)]
struct AnyHost {
    issuer: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyHost {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.issuer.as_ref().map(|issuer| {
            issuer.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        });
        match verified {
            // The name is what is verified last.
            Some(Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )))
            | None => Ok(ServerCertVerified::assertion()),
            Some(verified) => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        crypto::verify_tls12_signature(message, cert, dss, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        crypto::verify_tls13_signature(message, cert, dss, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let known = &self.provider.signature_verification_algorithms;
        known.supported_schemes()
    }
}
