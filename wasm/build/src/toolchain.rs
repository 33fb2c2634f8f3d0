//! Which compiler makes the WebAssembly, and running it.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{Result, debian};

/// The target all of this is about.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";
/// Chooses the compiler; unset is the one that compiled this, or what can be had.
const CHOICE: &str = "DESKFLEET_WASM_TOOLCHAIN";

/// A compiler that has the standard library for [`TARGET`].
#[derive(Debug)]
pub(crate) enum Toolchain {
    /// The one cargo runs with.
    Current {
        /// What `rustc --version` says.
        version: String,
    },
    /// The one of Debian's packages.
    Debian {
        /// What `rustc --version` says.
        version: String,
    },
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Current { version } => write!(f, "{version}"),
            Self::Debian { version } => write!(f, "{version}, of Debian's packages"),
        }
    }
}

impl Toolchain {
    /// The one that the environment asks for, made ready.
    pub(crate) fn chosen(root: &Path) -> Result<Self> {
        match std::env::var(CHOICE).unwrap_or_default().as_str() {
            "" => Self::current()?.map_or_else(|| Self::fetched(root), Ok),
            "debian" => Self::debian(root),
            other => Err(format!(
                "{CHOICE} is {other:?}; leave it unset for the toolchain in use, or set it to debian"
            )),
        }
    }

    /// The one in use, if it has the standard library.
    fn current() -> Result<Option<Self>> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let sysroot = said(Command::new(&rustc).args(["--print", "sysroot"]))?;
        let version = said(Command::new(&rustc).arg("--version"))?;
        let libraries = Path::new(&sysroot).join("lib/rustlib").join(TARGET);
        let there = libraries.join("lib").is_dir();
        Ok(there.then_some(Self::Current { version }))
    }

    fn debian(root: &Path) -> Result<Self> {
        let version = debian::prepare(&target_folder(root))?;
        Ok(Self::Debian { version })
    }

    /// The one in use with the standard library that rustup downloads; where it cannot, and packages may be installed, that of
    /// Debian.
    fn fetched(root: &Path) -> Result<Self> {
        eprintln!("cargo wasm: rustup target add {TARGET}");
        let added = Command::new("rustup")
            .args(["target", "add", TARGET])
            .status();
        if added.is_ok_and(|status| status.success())
            && let Some(current) = Self::current()?
        {
            return Ok(current);
        }
        if debian::may_install() {
            eprintln!("cargo wasm: it could not; taking the compiler of Debian's packages");
            return Self::debian(root);
        }
        Err(format!(
            "no standard library for {TARGET}. Run\n\n    rustup target add {TARGET}\n\nor, on a Debian machine without \
             rustup's servers, this as root with {CHOICE}=debian, which installs Debian's packages."
        ))
    }

    /// Compiles the engine; answers where the module is.
    pub(crate) fn compile(&self, root: &Path, names: bool) -> Result<PathBuf> {
        // The texts of panics name source files; where this machine keeps them is nobody's business.
        let mut flags = remapped(root)?;
        let mut cargo = match self {
            Self::Current { .. } => {
                Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            }
            Self::Debian { .. } => {
                let target = target_folder(root);
                flags.push("\u{1f}--sysroot=");
                flags.push(debian::sysroot(&target));
                debian::cargo(&target)
            }
        };
        cargo
            .current_dir(root)
            .args(["rustc", "--locked", "--package", "deskfleet-wasm", "--lib"])
            // The library is a Rust one as well, for its tests; such a one is not optimised at link time.
            .args(["--crate-type", "cdylib"])
            .args(["--profile", "wasm", "--target", TARGET])
            .arg("--message-format=json-render-diagnostics")
            .env("CARGO_ENCODED_RUSTFLAGS", flags)
            .stderr(Stdio::inherit());
        if names {
            cargo.args(["--config", "profile.wasm.strip=false"]);
        }
        let output = cargo
            .output()
            .map_err(|error| format!("cannot run {}: {error}", cargo.get_program().display()))?;
        if !output.status.success() {
            return Err("the engine did not compile; see above".to_owned());
        }
        let messages = String::from_utf8_lossy(&output.stdout);
        module_of(&messages).ok_or_else(|| "cargo named no module that it made".to_owned())
    }
}

/// Where cargo keeps what it makes.
fn target_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Flags that take the folders of this machine out of the module.
fn remapped(root: &Path) -> Result<OsString> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let home = home.ok_or("no home folder is known; set CARGO_HOME")?;
    let mut flags = OsString::new();
    let mut remap = |from: &Path| {
        if !flags.is_empty() {
            flags.push("\u{1f}");
        }
        flags.push("--remap-path-prefix=");
        flags.push(from);
        flags.push("/=");
    };
    remap(root);
    let registries = std::fs::read_dir(home.join("registry/src"));
    for registry in registries.into_iter().flatten().flatten() {
        remap(&registry.path());
    }
    Ok(flags)
}

/// The module among the artifacts that cargo lists, one JSON object a line.
fn module_of(messages: &str) -> Option<PathBuf> {
    let artifacts = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let files = artifacts
        .filter(|message| message.pointer("/target/name") == Some(&"deskfleet_wasm".into()))
        .filter_map(|message| message.get("filenames").cloned());
    let names = files.flat_map(|files| files.as_array().cloned().unwrap_or_default());
    let mut names = names.filter_map(|name| name.as_str().map(PathBuf::from));
    names.find(|name| {
        name.extension()
            .is_some_and(|extension| extension == "wasm")
    })
}

/// What a command prints, trimmed.
pub(crate) fn said(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot run {}: {error}", command.get_program().display()))?;
    if !output.status.success() {
        return Err(format!("{command:?} failed"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_path_is_found_in_the_cargo_output() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"redb"},"filenames":["/t/redb.wasm"]}
no json
{"reason":"compiler-artifact","target":{"name":"deskfleet_wasm"},"filenames":["/t/a.rlib","/t/deskfleet_wasm.wasm"]}
{"reason":"build-finished","success":true}"#;
        assert_eq!(
            module_of(messages),
            Some(PathBuf::from("/t/deskfleet_wasm.wasm"))
        );
        assert_eq!(module_of("{}"), None);
    }
}
