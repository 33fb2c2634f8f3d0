//! Builds the npm package into `wasm/pkg`: compiles the engine, generates the glue and copies the hand-written files.
//!
//! `cargo wasm --names` keeps the names of functions in the module, for profilers. `--std current` and `--std debian` select the
//! compiler and its standard library; without it, [`toolchain`] does. Exit status 3: that compiler cannot be installed here.
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
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => return failed(message),
    };
    let toolchain = match Toolchain::install(options.std) {
        Ok(toolchain) => toolchain,
        Err(message) => {
            failed(message);
            return NOT_AVAILABLE.into();
        }
    };
    build(&root, &toolchain, options.names).map_or_else(failed, |()| ExitCode::SUCCESS)
}

/// The parsed command line.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    /// Whether the module keeps the names of its functions.
    names: bool,
    std: Option<Std>,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--names" => options.names = true,
                "--std" => {
                    options.std = match arguments.next().as_deref() {
                        Some("current") => Some(Std::Current),
                        Some("debian") => Some(Std::Debian),
                        _ => return Err("--std takes current or debian".to_owned()),
                    };
                }
                other => {
                    return Err(format!(
                        "unknown option {other:?}; the options are --names and --std"
                    ));
                }
            }
        }
        Ok(options)
    }
}

fn build(root: &Path, toolchain: &Toolchain, names: bool) -> Result<()> {
    eprintln!("cargo wasm: compiling with {toolchain}");
    let compiled = toolchain.compile(root, names)?;
    let pkg = root.join("wasm/pkg");
    let sizes = package::write(root, &compiled, &pkg, names)?;
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
        let parse = |line: &str| Options::parse(line.split_whitespace().map(str::to_owned));
        let given = Options {
            names: true,
            std: Some(Std::Debian),
        };
        assert_eq!(parse(""), Ok(Options::default()));
        assert_eq!(parse("--std debian --names"), Ok(given));
        assert!(parse("--std").is_err());
        assert!(parse("--std stock").is_err());
        assert!(parse("debian").is_err());
    }
}
