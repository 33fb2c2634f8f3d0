//! The shell completions and the manual page: generated from the command line's definition, and kept as files so that the binary
//! does not contain their generators. The build script compresses them.

use std::io::Read as _;

use clap::ValueEnum;
use flate2::read::GzDecoder;

use super::failure::Failure;
use super::output::data;

/// The bytes of a file in `completions`, in gzip.
macro_rules! compressed {
    ($file:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".gz"))
    };
}

/// A shell with completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

/// Prints the completions of a shell, as a script of it.
pub(crate) fn print_completions(shell: Shell) -> Result<(), Failure> {
    print(match shell {
        Shell::Bash => compressed!("deskfleet.bash"),
        Shell::Zsh => compressed!("_deskfleet"),
        Shell::Fish => compressed!("deskfleet.fish"),
        Shell::Powershell => compressed!("_deskfleet.ps1"),
    })
}

/// Prints the manual page, in roff.
pub(crate) fn print_man_page() -> Result<(), Failure> {
    print(compressed!("deskfleet.1"))
}

fn print(compressed: &[u8]) -> Result<(), Failure> {
    let mut text = String::new();
    GzDecoder::new(compressed)
        .read_to_string(&mut text)
        .map_err(|error| Failure::caused("cannot decompress the text", &error))?;
    data(text.trim_end())
}

#[cfg(test)]
#[path = "../../tests/texts/mod.rs"]
mod generated;

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::super::args::Cli;
    use super::generated;

    #[test]
    fn completions_and_manual_page_are_those_of_the_command_line() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/completions");
        generated::check(folder, "deskfleet", Cli::command());
    }
}
