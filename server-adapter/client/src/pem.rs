//! Certificates and keys in PEM files.

use std::fmt;
use std::io;
use std::path::Path;

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Reads all certificates of a PEM file, of which there is at least one.
///
/// # Errors
///
/// One sentence with the file.
pub fn read_certificates(file: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let pem = read(file)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match certificates {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(invalid(format_args!(
            "{} holds no certificate: it is a PEM file with BEGIN CERTIFICATE",
            file.display()
        ))),
        Err(error) => Err(invalid(format_args!(
            "{} is no PEM file: {error}",
            file.display()
        ))),
    }
}

/// Reads the CAs of a PEM file.
///
/// # Errors
///
/// One sentence with the file.
pub fn read_roots(file: &Path) -> io::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(read_certificates(file)?);
    if roots.is_empty() {
        return Err(invalid(format_args!(
            "{} holds no certificate that can be used as a CA",
            file.display()
        )));
    }
    Ok(roots)
}

/// Reads the first private key of a PEM file: PKCS#8, SEC1 or PKCS#1.
///
/// # Errors
///
/// One sentence with the file.
pub fn read_key(file: &Path) -> io::Result<PrivateKeyDer<'static>> {
    let pem = read(file)?;
    // What is wrong with a key is never shown.
    PrivateKeyDer::from_pem_slice(&pem).map_err(|_| {
        invalid(format_args!(
            "{} holds no private key that can be used: it is a PEM file with BEGIN PRIVATE KEY, BEGIN EC PRIVATE KEY or BEGIN RSA \
             PRIVATE KEY, without a passphrase",
            file.display()
        ))
    })
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    std::fs::read(file).map_err(|error| {
        let message = format!("cannot read {}: {error}", file.display());
        io::Error::new(error.kind(), message)
    })
}

fn invalid(message: fmt::Arguments<'_>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message.to_string())
}
