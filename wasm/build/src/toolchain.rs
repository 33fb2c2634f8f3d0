//! Finds, installs and runs the compiler for WebAssembly.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{Result, debian};

/// The target of the package.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// A choice of the standard library for [`TARGET`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Std {
    /// Of the toolchain in use; rustup installs it.
    Current,
    /// Of Debian's compiler, built here for size.
    Debian,
}

/// A compiler that has the standard library for [`TARGET`].
#[derive(Debug)]
pub(crate) struct Toolchain {
    std: Std,
    /// What `rustc --version` prints.
    version: String,
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { std, version } = self;
        match std {
            Std::Current => write!(f, "{version}"),
            Std::Debian => write!(f, "{version}, of Debian's packages"),
        }
    }
}

impl Toolchain {
    /// Installs what is missing. Without a choice: the current toolchain if it has the standard library or rustup can add it,
    /// else Debian's if that is installed or can be.
    pub(crate) fn install(std: Option<Std>) -> Result<Self> {
        if std == Some(Std::Debian) {
            return Self::debian();
        }
        if let Some(current) = Self::current()? {
            return Ok(current);
        }
        eprintln!("cargo wasm: rustup target add {TARGET}");
        let added = Command::new("rustup")
            .args(["target", "add", TARGET])
            .status();
        if added.is_ok_and(|status| status.success())
            && let Some(current) = Self::current()?
        {
            return Ok(current);
        }
        if std.is_none() && debian::is_available() {
            eprintln!("cargo wasm: rustup cannot add it; using Debian's compiler");
            return Self::debian();
        }
        Err(format!(
            "the toolchain in use has no standard library for {TARGET}. Install it with `rustup target add {TARGET}` or, on \
             Debian 12, run `cargo wasm` as root, which installs Debian's compiler."
        ))
    }

    /// The toolchain in use, if it has the standard library.
    fn current() -> Result<Option<Self>> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let sysroot = stdout_of(Command::new(&rustc).args(["--print", "sysroot"]))?;
        let version = stdout_of(Command::new(&rustc).arg("--version"))?;
        let libraries = Path::new(&sysroot).join("lib/rustlib").join(TARGET);
        let std = Std::Current;
        Ok(libraries
            .join("lib")
            .is_dir()
            .then_some(Self { std, version }))
    }

    fn debian() -> Result<Self> {
        let version = debian::install()?;
        let std = Std::Debian;
        Ok(Self { std, version })
    }

    /// Compiles the engine.
    pub(crate) fn compile(&self, root: &Path) -> Result<Compiled> {
        // Panic messages name source files: without the folders of this host, every build of the module is the same.
        let mut flags = remap_flags(root)?;
        // Each request with a key hashes one block, so small code matters more than fast code.
        flags.push("\u{1f}--cfg=sha2_backend_soft=\"compact\"");
        let mut cargo = match self.std {
            Std::Current => {
                Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            }
            Std::Debian => {
                let target = target_folder(root);
                debian::prepare_std(&target)?;
                flags.push("\u{1f}--sysroot=");
                flags.push(debian::sysroot(&target));
                debian::cargo(&target)
            }
        };
        cargo
            .current_dir(root)
            .args(["rustc", "--locked", "--package", "deskfleet-wasm", "--lib"])
            // The package is also a Rust library, for its tests; without this it would not be optimised at link time.
            .args(["--crate-type", "cdylib"])
            .args(["--profile", "wasm", "--target", TARGET])
            .arg("--message-format=json-render-diagnostics")
            .env("CARGO_ENCODED_RUSTFLAGS", flags)
            .stderr(Stdio::inherit());
        let output = cargo
            .output()
            .map_err(|error| format!("cannot run {}: {error}", cargo.get_program().display()))?;
        if !output.status.success() {
            return Err("the engine did not compile; see above".to_owned());
        }
        let messages = String::from_utf8_lossy(&output.stdout);
        compiled(&messages).ok_or_else(|| "cargo reported no module".to_owned())
    }
}

/// The target folder of cargo.
fn target_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// The flags that remove the folders of this host from the module.
fn remap_flags(root: &Path) -> Result<OsString> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let home = home.ok_or("cannot find the home folder; set CARGO_HOME")?;
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

/// What the compiler made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Compiled {
    pub(crate) module: PathBuf,
    /// The manifests of the crates in it.
    pub(crate) manifests: BTreeSet<PathBuf>,
}

/// Reads the artifacts that cargo lists, one JSON object a line; those for the host are macros and build scripts.
fn compiled(messages: &str) -> Option<Compiled> {
    let (mut module, mut manifests) = (None, BTreeSet::new());
    let artifacts = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    for artifact in artifacts {
        let files = artifact.get("filenames").and_then(Value::as_array);
        let files = files.into_iter().flatten().filter_map(Value::as_str);
        for file in files.map(Path::new) {
            if file.components().any(|part| part.as_os_str() == TARGET) {
                let manifest = artifact.get("manifest_path").and_then(Value::as_str);
                manifests.extend(manifest.map(PathBuf::from));
            }
            if file
                .extension()
                .is_some_and(|extension| extension == "wasm")
            {
                module = Some(file.to_owned());
            }
        }
    }
    Some(Compiled {
        module: module?,
        manifests,
    })
}

/// The standard output of a command, trimmed.
pub(crate) fn stdout_of(command: &mut Command) -> Result<String> {
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
    fn module_and_crates_of_the_target_are_found_in_the_cargo_output() {
        let messages = r#"{"reason":"compiler-artifact","manifest_path":"/r/Cargo.toml","filenames":["/t/wasm32-unknown-unknown/wasm/redb.rlib"]}
no json
{"reason":"compiler-artifact","manifest_path":"/m/Cargo.toml","filenames":["/t/wasm/macros.so"]}
{"reason":"compiler-artifact","manifest_path":"/d/Cargo.toml","filenames":["/t/wasm32-unknown-unknown/wasm/deskfleet_wasm.wasm"]}
{"reason":"build-finished","success":true}"#;
        let expected = Compiled {
            module: "/t/wasm32-unknown-unknown/wasm/deskfleet_wasm.wasm".into(),
            manifests: ["/d/Cargo.toml", "/r/Cargo.toml"].map(PathBuf::from).into(),
        };
        assert_eq!(compiled(messages), Some(expected));
        assert_eq!(compiled("{}"), None);
    }
}
