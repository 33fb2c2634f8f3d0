//! Builds the npm package into `wasm/pkg`: compiles the engine, generates the glue and copies the hand-written files.
//!
//! `cargo wasm --std current` and `--std debian` select the compiler and its standard library; without it, [`toolchain`] does. Exit
//! status 3: that compiler cannot be installed here.
//!
//! The glue generator is a library here, at the version of the `wasm-bindgen` crate: one `Cargo.lock` pins both.

#![expect(clippy::print_stderr, reason = "a command says what it does")]

mod debian;
mod licences;
mod order;
mod package;
mod toolchain;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use toolchain::{Std, Toolchain};

/// Errors are sentences for the user.
type Result<T, E = String> = std::result::Result<T, E>;

/// The exit status when the requested standard library cannot be installed.
const NOT_AVAILABLE: u8 = 3;

fn main() -> ExitCode {
    let root = root();
    let failed = |message| {
        eprintln!("cargo wasm: {message}");
        ExitCode::FAILURE
    };
    let std = match parse(std::env::args().skip(1)) {
        Ok(std) => std,
        Err(message) => return failed(message),
    };
    let toolchain = match Toolchain::install(std) {
        Ok(toolchain) => toolchain,
        Err(message) => {
            failed(message);
            return NOT_AVAILABLE.into();
        }
    };
    build(&root, &toolchain).map_or_else(failed, |()| ExitCode::SUCCESS)
}

/// Parses the command line: the choice of a standard library, if there is one.
fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Std>> {
    let mut std = None;
    while let Some(argument) = arguments.next() {
        if argument != "--std" {
            return Err(format!("unknown option {argument:?}; the option is --std"));
        }
        std = match arguments.next().as_deref() {
            Some("current") => Some(Std::Current),
            Some("debian") => Some(Std::Debian),
            _ => return Err("--std takes current or debian".to_owned()),
        };
    }
    Ok(std)
}

fn build(root: &Path, toolchain: &Toolchain) -> Result<()> {
    eprintln!("cargo wasm: compiling with {toolchain}");
    let compiled = toolchain.compile(root)?;
    let pkg = root.join("wasm/pkg");
    let sizes = package::write(root, &compiled, &pkg)?;
    eprintln!("cargo wasm: {} ({sizes})", pkg.display());
    Ok(())
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap_or_else(|| Path::new("."))
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_with_a_known_std_are_parsed_and_others_are_refused() {
        let parse = |line: &str| parse(line.split_whitespace().map(str::to_owned));
        assert_eq!(parse(""), Ok(None));
        assert_eq!(parse("--std debian"), Ok(Some(Std::Debian)));
        assert!(parse("--std").is_err());
        assert!(parse("--std stock").is_err());
        assert!(parse("debian").is_err());
    }
}
