//! Builds the npm package into `wasm/pkg`: compiles the engine, generates the glue and lays the hand-written files beside it.
//!
//! `cargo wasm --names` keeps the names of functions in the module, for profilers.
//!
//! The glue generator is a library here, at the version of the crate that it generates for: one `Cargo.lock` holds both.

#![expect(clippy::print_stderr, reason = "a command says what it does")]

mod debian;
mod package;
mod toolchain;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use toolchain::Toolchain;

/// A sentence for the person at the keyboard.
type Result<T> = std::result::Result<T, String>;

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(said) => {
            eprintln!("cargo wasm: {said}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<()> {
    let names = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--names") => true,
        Some(other) => return Err(format!("{other:?} is no option; there is --names")),
    };
    let root = root();
    let toolchain = Toolchain::chosen(&root)?;
    eprintln!("cargo wasm: compiling with {toolchain}");
    let module = toolchain.compile(&root, names)?;
    let pkg = root.join("wasm/pkg");
    let sizes = package::write(&root, &module, &pkg, names)?;
    eprintln!("cargo wasm: {} ({sizes})", pkg.display());
    Ok(())
}

/// The root of the repository this was compiled in.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap_or_else(|| Path::new("."))
        .to_owned()
}
