//! Certificates that `openssl` makes for one test.
#![allow(dead_code, reason = "each suite uses a part of it")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::fs;
use std::path::Path;
use std::process::Command;

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
