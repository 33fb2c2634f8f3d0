//! Servers with certificates that `openssl` makes for one test, and their clients.
#![allow(dead_code, reason = "each suite uses a part of it")]

use std::fs;
use std::io::Read;
use std::net::TcpStream;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

pub(crate) use crate::certificates::{
    authority, certificate, certificate_with, expired_certificate, has, openssl,
};
use crate::load::{Place, Served};

/// Fails a test instead of hanging; nothing is measured by it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
pub(crate) const TLS: &str = "--tls-cert server.pem --tls-key server.key";
/// A client, after its handshake.
pub(crate) type Client = StreamOwned<ClientConnection, TcpStream>;

/// A place with the CA `ca` and a certificate `server` of it; `None` where `openssl` or `curl` is missing.
pub(crate) fn certificate_folder() -> Option<Place> {
    if !has(&["openssl", "curl"]) {
        return None;
    }
    let place = Place::new();
    authority(place.path(), "ca");
    certificate(place.path(), "server", "ca");
    fs::write(place.file("key"), &place.admin).unwrap();
    Some(place)
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Runs curl against the server, with its CA.
pub(crate) fn curl(place: &Place, served: &Served, options: &str, path: &str) -> Output {
    let url = format!("https://localhost:{}{path}", served.address.port());
    let options = options.split_whitespace();
    let mut curl = Command::new("curl");
    curl.args(["-sS", "-i", "--cacert", "ca.pem"]).args(options);
    curl.arg(url).current_dir(place.path()).output().unwrap()
}

/// A client that trusts `ca`, after its handshake.
pub(crate) fn connect(place: &Place, served: &Served) -> Client {
    let mut roots = RootCertStore::empty();
    let ca = CertificateDer::from_pem_file(place.file("ca.pem")).unwrap();
    roots.add(ca).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let mut session = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut socket = TcpStream::connect(served.address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    while session.is_handshaking() {
        session.complete_io(&mut socket).unwrap();
    }
    StreamOwned::new(session, socket)
}

/// Reads until `what` has come.
pub(crate) fn read_until(stream: &mut impl Read, what: &str) -> String {
    let mut read = Vec::new();
    let mut room = [0; 4096];
    loop {
        let count = stream.read(&mut room).unwrap();
        assert_ne!(count, 0, "{}", String::from_utf8_lossy(&read));
        read.extend_from_slice(room.get(..count).unwrap());
        let text = String::from_utf8_lossy(&read);
        if text.contains(what) {
            return text.into_owned();
        }
    }
}
