//! The shell completions and the manual page of a command, as files that are generated anew from the definition of its command line.

use std::io::{self, Write as _};

use clap::Command;
use clap_complete::Generator as _;
use clap_mangen::Man;

/// Writes the files in `folder` anew that differ from what is generated.
///
/// # Panics
///
/// If there are any: they are to be committed.
pub(crate) fn check(folder: &str, name: &str, command: Command) {
    let mut renewed = Vec::new();
    for (name, text) in texts(name, command) {
        let path = format!("{folder}/{name}");
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
