//! The configuration in force as `deskfleet config` prints it: TOML that loads as the same configuration.

use std::fmt::Write as _;
use std::path::Path;

use deskfleet::settings::{each, values};
use deskfleet_server::WebhookOptions;

use super::{Configuration, Settings, shown};
use crate::cli::failure::Failure;
use crate::cli::output::data;

/// A table of TOML and its lines.
struct Table {
    name: String,
    lines: String,
}

impl Configuration {
    /// Writes the configuration to standard output.
    ///
    /// # Errors
    /// When it cannot be written, or standard output is the file that was read.
    pub(crate) fn print(&self) -> Result<(), Failure> {
        let file = self.file();
        if is_stdout(file) {
            let file = file.display();
            return Err(Failure(format!(
                "standard output is {file}, which the shell has emptied before the settings in it could be read. Write another \
                 file: deskfleet config > new.toml"
            )));
        }
        data(self.to_toml().trim_end())
    }

    /// Each setting with its text, form, default, value and source.
    pub(crate) fn to_toml(&self) -> String {
        let mut settings = self.settings.clone();
        let webhooks = &mut settings.notifications.webhooks.0;
        // Without a webhook its settings are a comment.
        let has_webhooks = !webhooks.is_empty();
        webhooks.resize_with(webhooks.len().max(1), WebhookOptions::default);
        let mut defaults = Settings::default();
        let default_webhooks = &mut defaults.notifications.webhooks.0;
        default_webhooks.resize_with(webhooks.len(), WebhookOptions::default);
        let mut defaults = values(&mut defaults).into_iter();
        // Settings without a table come first: after the head of a table they would be in it.
        let mut tables = vec![Table {
            name: String::new(),
            lines: String::new(),
        }];
        each(&mut settings, &mut |setting| {
            let (table, key) = setting.name.rsplit_once('.').unwrap_or(("", setting.name));
            let found = tables.iter().position(|known| known.name == table);
            let place = found.unwrap_or_else(|| {
                let head = match table.rsplit_once('.') {
                    Some((group, number)) if number.parse::<usize>().is_ok() => {
                        format!("[[{group}]]\n")
                    }
                    _ => format!("[{table}]\n"),
                };
                tables.push(Table {
                    name: table.to_owned(),
                    lines: head,
                });
                tables.len() - 1
            });
            let Some(Table { lines, .. }) = tables.get_mut(place) else {
                return;
            };
            for line in setting.text.lines() {
                let _ = writeln!(lines, "# {}", line.trim());
            }
            if let Some((_, default)) = defaults.next() {
                let _ = writeln!(
                    lines,
                    "# {}; default {default}",
                    capitalised(&setting.expected())
                );
            }
            let source = self.sources.get(setting.name);
            let source = source.map_or_else(|| "default".to_owned(), ToString::to_string);
            let value = shown(setting.name, &setting.get());
            let _ = writeln!(lines, "{key} = {value} # {source}\n");
        });
        let texts = tables.into_iter().map(|table| {
            let is_comment = !has_webhooks && table.name.starts_with("webhooks.");
            if is_comment {
                commented(&table.lines)
            } else {
                table.lines
            }
        });
        texts.collect()
    }
}

/// The same lines as a comment.
fn commented(lines: &str) -> String {
    let commented = lines.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line if line.starts_with('#') => format!("{line}\n"),
        line => format!("# {line}\n"),
    });
    commented.collect()
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

#[cfg(unix)]
fn is_stdout(file: &Path) -> bool {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::MetadataExt as _;

    let stdout = std::io::stdout().as_fd().try_clone_to_owned();
    let stdout = stdout.and_then(|stdout| std::fs::File::from(stdout).metadata());
    let (Ok(stdout), Ok(file)) = (stdout, std::fs::metadata(file)) else {
        return false;
    };
    file.is_file() && (stdout.dev(), stdout.ino()) == (file.dev(), file.ino())
}

#[cfg(not(unix))]
fn is_stdout(_file: &Path) -> bool {
    false
}
