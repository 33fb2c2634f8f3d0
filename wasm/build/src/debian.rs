//! The compiler of Debian's packages, for hosts that reach a Debian mirror but not rustup's servers.
//!
//! Debian has no package of the standard library for [`TARGET`], so it is built once from Debian's source package, for size. A
//! stamp file records the compiler and the options of that build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::toolchain::{TARGET, stdout_of};

/// rustc and cargo of a version that can compile the engine, the source of the standard library, and a linker.
const PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld-22"];
const RUSTC: &str = "/usr/bin/rustc";
const CARGO: &str = "/usr/bin/cargo";
const LINKER: &str = "/usr/lib/llvm-22/bin/wasm-ld";
const SOURCE: &str = "/usr/lib/rustlib/src/rust/library/sysroot/Cargo.toml";
/// Selects the small algorithms of the standard library instead of the fast ones: the module is a twentieth smaller.
const FEATURES: &str = "optimize_for_size";
const OPT_LEVEL: &str = "s";

/// Installs the compiler if it is missing; returns its version.
pub(crate) fn install() -> Result<String> {
    if !is_installed() {
        install_packages()?;
    }
    stdout_of(Command::new(RUSTC).arg("--version"))
}

/// Whether the compiler is installed, or can be: `apt-get` exists and the user is root.
pub(crate) fn is_available() -> bool {
    let is_root = || {
        let user = Command::new("id").arg("-u").output();
        user.is_ok_and(|user| user.stdout == b"0\n")
    };
    is_installed() || Path::new("/usr/bin/apt-get").exists() && is_root()
}

fn is_installed() -> bool {
    let files = [RUSTC, CARGO, LINKER, SOURCE];
    files.iter().all(|file| Path::new(file).exists())
}

/// Builds the standard library unless this compiler already built it with these options.
pub(crate) fn prepare_std(target: &Path) -> Result<()> {
    let version = stdout_of(Command::new(RUSTC).arg("-vV"))?;
    let stamp = sysroot(target).join("stamp");
    let stamped = format!("{version}\n{FEATURES}, opt-level {OPT_LEVEL}\n");
    if fs::read_to_string(&stamp).ok().as_ref() != Some(&stamped) {
        build_std(target)?;
        fs::write(&stamp, &stamped).map_err(|error| cannot_write(&stamp, &error))?;
    }
    Ok(())
}

/// The folder for `--sysroot`, which holds the standard library.
pub(crate) fn sysroot(target: &Path) -> PathBuf {
    folder(target).join("sysroot")
}

/// A separate folder in the target folder: two compilers would rebuild each other's artifacts.
fn folder(target: &Path) -> PathBuf {
    target.join("debian")
}

/// A cargo command that uses Debian's compiler.
pub(crate) fn cargo(target: &Path) -> Command {
    let mut cargo = Command::new(CARGO);
    cargo
        .env("RUSTC", RUSTC)
        .env("CARGO", CARGO)
        .env_remove("RUSTUP_TOOLCHAIN")
        .env("CARGO_TARGET_DIR", folder(target))
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", LINKER);
    cargo
}

fn install_packages() -> Result<()> {
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
    // A fresh host has no package lists yet.
    if apt(&install) || apt(&["update"]) && apt(&install) {
        return Ok(());
    }
    Err(format!(
        "Debian's compiler cannot be installed. On Debian 12 with its security updates, run as root: apt-get update && apt-get {}",
        install.join(" ")
    ))
}

/// Builds the standard library for exactly this compiler.
fn build_std(target: &Path) -> Result<()> {
    let built = folder(target).join("std");
    let mut build = cargo(target);
    build
        .args(["build", "--locked", "--release", "--target", TARGET])
        .args(["--features", FEATURES])
        .arg("--manifest-path")
        .arg(SOURCE)
        .env("CARGO_TARGET_DIR", &built)
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", OPT_LEVEL)
        .env("RUSTC_BOOTSTRAP", "1")
        // The first flag is required for a standard library, the second for link-time optimisation.
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            "-Zforce-unstable-if-unmarked\u{1f}-Cembed-bitcode=yes",
        );
    stdout_of(&mut build)?;
    let libraries = sysroot(target).join("lib/rustlib").join(TARGET).join("lib");
    replace_libraries(&built.join(TARGET).join("release/deps"), &libraries)?;
    fs::remove_dir_all(&built).map_err(|error| cannot_write(&built, &error))
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
        return Err(format!("{} contains no library", built.display()));
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
    format!("{} cannot be written: {error}", path.display())
}

fn cannot_read(path: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be read: {error}", path.display())
}
