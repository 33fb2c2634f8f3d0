//! The compiler of Debian's packages, for machines that reach a Debian mirror and not rustup's servers.
//!
//! Debian has no package of the standard library for [`TARGET`]; it is built once from Debian's source package and put beside
//! the other libraries of that compiler. A stamp tells for which compiler that was done.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::toolchain::{TARGET, said};

/// rustc and cargo in a version that can compile the engine, the source of the standard library, and a linker.
const PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld-22"];
const RUSTC: &str = "/usr/bin/rustc";
const CARGO: &str = "/usr/bin/cargo";
const LINKER: &str = "/usr/lib/llvm-22/bin/wasm-ld";
const RUSTLIB: &str = "/usr/lib/rustlib";

/// Makes the compiler ready; answers its version.
pub(crate) fn prepare() -> Result<String> {
    let source = Path::new(RUSTLIB).join("src/rust/library/sysroot/Cargo.toml");
    let all = [RUSTC, CARGO, LINKER]
        .iter()
        .all(|tool| Path::new(tool).exists());
    if !all || !source.exists() {
        install()?;
    }
    let version = said(Command::new(RUSTC).arg("-vV"))?;
    let stamp = Path::new(RUSTLIB).join(TARGET).join("deskfleet-stamp");
    if fs::read_to_string(&stamp).ok().as_deref() != Some(&version) {
        build_std(&source)?;
        fs::write(&stamp, &version).map_err(|error| cannot_write(&stamp, &error))?;
    }
    Ok(version.lines().next().unwrap_or_default().to_owned())
}

/// A cargo command that compiles with it, in a target folder of its own: two compilers would throw each other's work away.
pub(crate) fn cargo(target: &Path) -> Command {
    let mut cargo = Command::new(CARGO);
    cargo
        .env("RUSTC", RUSTC)
        .env("CARGO", CARGO)
        .env_remove("RUSTUP_TOOLCHAIN")
        .env("CARGO_TARGET_DIR", target.join("debian"))
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", LINKER);
    cargo
}

fn install() -> Result<()> {
    let apt = |arguments: &[&str]| {
        let status = Command::new("apt-get")
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdout(std::process::Stdio::null())
            .status();
        matches!(status, Ok(status) if status.success())
    };
    let mut install = vec!["install", "--yes", "--no-install-recommends"];
    install.extend(PACKAGES);
    // A fresh machine has no lists of packages yet.
    if apt(&install) || apt(&["update"]) && apt(&install) {
        return Ok(());
    }
    Err(format!(
        "apt-get could not install {}; as root, on Debian 12 with its security updates, run\n\n    apt-get update && apt-get {}",
        PACKAGES.join(" "),
        install.join(" ")
    ))
}

/// Builds the standard library for exactly this compiler, and puts it where the compiler looks.
fn build_std(manifest: &Path) -> Result<()> {
    let target = std::env::temp_dir().join(format!("deskfleet-std-{}", std::process::id()));
    let mut build = cargo(&target);
    build
        .args(["build", "--locked", "--release", "--target", TARGET])
        .arg("--manifest-path")
        .arg(manifest)
        .env("RUSTC_BOOTSTRAP", "1")
        // The second flag is what link-time optimisation needs, the first what a standard library needs.
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            "-Zforce-unstable-if-unmarked\u{1f}-Cembed-bitcode=yes",
        );
    said(&mut build)?;
    let libraries = Path::new(RUSTLIB).join(TARGET).join("lib");
    replace_libraries(
        &target.join("debian").join(TARGET).join("release/deps"),
        &libraries,
    )?;
    fs::remove_dir_all(&target).map_err(|error| cannot_write(&target, &error))
}

fn replace_libraries(built: &Path, libraries: &Path) -> Result<()> {
    if libraries.exists() {
        fs::remove_dir_all(libraries).map_err(|error| cannot_write(libraries, &error))?;
    }
    fs::create_dir_all(libraries).map_err(|error| cannot_write(libraries, &error))?;
    let entries = fs::read_dir(built).map_err(|error| cannot_read(built, &error))?;
    let mut copied = 0;
    for library in entries
        .flatten()
        .map(|entry| entry.path())
        .filter(is_library)
    {
        let to = libraries.join(library.file_name().unwrap_or_default());
        fs::copy(&library, &to).map_err(|error| cannot_write(&to, &error))?;
        copied += 1;
    }
    if copied == 0 {
        return Err(format!("{} holds no library", built.display()));
    }
    Ok(())
}

/// `sysroot` is only the package that depends on all others.
#[expect(clippy::ptr_arg, reason = "called by a filter over paths")]
fn is_library(path: &PathBuf) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    path.extension()
        .is_some_and(|extension| extension == "rlib")
        && !name.starts_with("libsysroot")
}

fn cannot_write(path: &Path, error: &std::io::Error) -> String {
    format!(
        "{} cannot be written: {error}; run this as root",
        path.display()
    )
}

fn cannot_read(path: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be read: {error}", path.display())
}
