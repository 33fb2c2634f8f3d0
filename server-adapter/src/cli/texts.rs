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
mod tests {
    use std::io::{self, Write as _};

    use clap::{Command, CommandFactory as _};
    use clap_complete::Generator as _;
    use clap_mangen::Man;

    use super::super::args::Cli;

    /// One page: the sections of each command are parts of a section of its own.
    fn man_page(command: &Command) -> io::Result<Vec<u8>> {
        let page = Man::new(command.clone());
        let mut out = Vec::new();
        page.render_title(&mut out)?;
        page.render_name_section(&mut out)?;
        page.render_synopsis_section(&mut out)?;
        page.render_description_section(&mut out)?;
        let about_all = command.get_after_help().map(ToString::to_string);
        writeln!(out, ".PP\n{}", roff(&about_all.unwrap_or_default()))?;
        write_commands(command, &mut out)?;
        page.render_version_section(&mut out)?;
        Ok(out)
    }

    fn write_commands(command: &Command, out: &mut Vec<u8>) -> io::Result<()> {
        for command in command.get_subcommands() {
            if command.has_subcommands() {
                write_commands(command, out)?;
                continue;
            }
            let page = Man::new(command.clone());
            let mut sections = Vec::new();
            page.render_description_section(&mut sections)?;
            page.render_synopsis_section(&mut sections)?;
            page.render_options_section(&mut sections)?;
            let sections = String::from_utf8_lossy(&sections).replace(".SH ", ".SS ");
            let name = command.get_bin_name().unwrap_or_default().to_uppercase();
            writeln!(out, ".SH \"{name}\"\n{}", sections.trim_end())?;
            if let Some(examples) = command.get_after_help().map(ToString::to_string) {
                let (_, lines) = examples.split_once('\n').unwrap_or_default();
                writeln!(out, ".SS EXAMPLES\n.nf\n{}\n.fi", roff(lines))?;
            }
        }
        Ok(())
    }

    fn roff(text: &str) -> String {
        text.replace('\\', "\\\\").replace('-', "\\-")
    }

    fn texts(name: &str, command: Command) -> Vec<(String, Vec<u8>)> {
        // The tree of `help` repeats that of the commands.
        let mut command = command.disable_help_subcommand(true);
        command.set_bin_name(name);
        command.build();
        let mut files = vec![(format!("{name}.1"), man_page(&command).unwrap())];
        for shell in [
            clap_complete::Shell::Bash,
            clap_complete::Shell::Zsh,
            clap_complete::Shell::Fish,
            clap_complete::Shell::PowerShell,
        ] {
            let mut script = Vec::new();
            shell.generate(&command, &mut script);
            files.push((shell.file_name(name), script));
        }
        files
    }

    /// A file that differs from what is generated is written anew.
    #[test]
    fn completions_and_manual_page_are_those_of_the_command_line() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/completions/");
        let files = texts("deskfleet", Cli::command()).into_iter();
        #[cfg(feature = "providers")]
        let files = files.chain(texts(
            "deskfleet-provider",
            deskfleet_server::provider::command_line(),
        ));
        let mut renewed = Vec::new();
        for (name, text) in files {
            let path = format!("{folder}{name}");
            if std::fs::read(&path).ok().as_ref() != Some(&text) {
                std::fs::write(&path, text).unwrap();
                renewed.push(name);
            }
        }
        assert!(
            renewed.is_empty(),
            "{renewed:?} were out of date and are written anew: commit them"
        );
    }
}
