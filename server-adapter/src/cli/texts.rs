//! The shell completions and the manual page: generated from the command line's definition, and kept as files so that the binary
//! does not contain their generators.

use clap::ValueEnum;

/// A shell with completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

impl Shell {
    /// Its completions, as a script of it.
    pub(crate) const fn completions(self) -> &'static str {
        match self {
            Self::Bash => include_str!("../../completions/deskfleet.bash"),
            Self::Zsh => include_str!("../../completions/_deskfleet"),
            Self::Fish => include_str!("../../completions/deskfleet.fish"),
            Self::Powershell => include_str!("../../completions/_deskfleet.ps1"),
        }
    }
}

/// The manual page, in roff.
pub(crate) const MAN_PAGE: &str = include_str!("../../completions/deskfleet.1");

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
