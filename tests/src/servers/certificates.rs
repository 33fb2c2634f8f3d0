//! Certificates for servers, which `openssl` makes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Writes a certificate for `localhost`, `server.pem` with its key, and that of its issuer, which is returned. `openssl` begins the command.
pub fn issue(openssl: impl Fn() -> Command, folder: &Path, issuer: &str) -> PathBuf {
    let run = |arguments: &str| {
        let output = openssl().args(arguments.split(' ')).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {arguments}: {message}");
    };
    let path = folder.display();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    let ca = format!("{path}/{issuer}.pem");
    run(&format!(
        "req -x509 {key} -keyout {path}/{issuer}.key -out {ca} -subj /CN={issuer} -days 2"
    ));
    run(&format!(
        "req {key} -keyout {path}/server.key -out {path}/server.csr -subj /CN=server"
    ));
    fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    run(&format!(
        "x509 -req -in {path}/server.csr -CA {ca} -CAkey {path}/{issuer}.key -CAcreateserial -extfile {path}/names \
         -out {path}/server.pem -days 2"
    ));
    ca.into()
}
