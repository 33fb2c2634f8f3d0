//! Servers with certificates that `openssl` makes for one test, and their clients.
#![allow(dead_code, reason = "each suite uses a part of it")]
#![expect(
    clippy::print_stderr,
    reason = "a test that cannot go on fails; one that is skipped says so"
)]

use std::fs;
use std::io::Read;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::load::{Place, Served};

/// Fails a test instead of hanging; nothing is measured by it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
pub(crate) const TLS: &str = "--tls-cert server.pem --tls-key server.key";
/// A client, after its handshake.
pub(crate) type Client = StreamOwned<ClientConnection, TcpStream>;

const CURVE: &str = "ec -pkeyopt ec_paramgen_curve:prime256v1";

/// Whether the programs that a test needs are here; says so where one is not.
pub(crate) fn has(programs: &[&str]) -> bool {
    programs.iter().all(|program| {
        let is_here = Command::new(program).arg("version").output().is_ok();
        if !is_here {
            eprintln!("skipped: {program} is not installed");
        }
        is_here
    })
}

pub(crate) fn openssl(folder: &Path, line: &str) {
    let mut openssl = Command::new("openssl");
    let output = openssl.args(line.split_whitespace()).current_dir(folder);
    let output = output.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "openssl {line}: {message}");
}

/// Writes the CA `name.pem` with its key `name.key`.
pub(crate) fn authority(folder: &Path, name: &str) {
    openssl(
        folder,
        &format!(
            "req -x509 -newkey {CURVE} -nodes -keyout {name}.key -out {name}.pem -days 2 -subj /CN={name} \
             -addext basicConstraints=critical,CA:TRUE"
        ),
    );
}

/// Writes the certificate `name.pem` for localhost with its key `name.key`, signed by the CA `by`.
pub(crate) fn certificate(folder: &Path, name: &str, by: &str) {
    certificate_with(folder, name, by, CURVE);
}

/// The same with a kind of key.
pub(crate) fn certificate_with(folder: &Path, name: &str, by: &str, key: &str) {
    request(folder, name, key);
    openssl(
        folder,
        &format!(
            "x509 -req -in {name}.csr -CA {by}.pem -CAkey {by}.key -CAcreateserial -days 2 -extfile extensions -out {name}.pem"
        ),
    );
}

/// The same with a certificate that was valid on one day of 2020.
pub(crate) fn expired_certificate(folder: &Path, name: &str, by: &str) {
    let config = "[ca]\ndefault_ca=all\n[all]\ndatabase=issued\nnew_certs_dir=.\ndefault_md=sha256\nserial=number\npolicy=any\n\
        [any]\ncommonName=supplied\n";
    fs::write(folder.join("config"), config).unwrap();
    fs::write(folder.join("issued"), "").unwrap();
    request(folder, name, CURVE);
    openssl(
        folder,
        &format!(
            "ca -batch -notext -create_serial -config config -cert {by}.pem -keyfile {by}.key -in {name}.csr -out {name}.pem \
             -startdate 20200101000000Z -enddate 20200102000000Z -extfile extensions"
        ),
    );
}

fn request(folder: &Path, name: &str, key: &str) {
    let extensions = "subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n";
    fs::write(folder.join("extensions"), extensions).unwrap();
    openssl(
        folder,
        &format!(
            "req -new -newkey {key} -nodes -keyout {name}.key -out {name}.csr -subj /CN={name}"
        ),
    );
}

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
