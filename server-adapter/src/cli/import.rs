//! `import`: workspaces from a file or from standard input, into a store or through a running server.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::Path;

use deskfleet::{ImportReport, WorkspaceImport};
use deskfleet_server::visible;

use super::args::ImportArgs;
use super::client::Client;
use super::client_body::{PIECE_BYTES, Pieces};
use super::configuration::Configuration;
use super::failure::Failure;
use super::output::{data, say};
use super::progress_line::ProgressLine;
use super::store::{self, must_exist_or_be_created, open_read_only, open_to_change};

pub(crate) fn run(args: &ImportArgs, configuration: &Configuration) -> Result<(), Failure> {
    let input = Input::open(&args.file)?;
    let report = if let Some(client) = args.server.client()? {
        through_server(&client, input, args.dry_run)?
    } else if args.dry_run {
        without_writing(input, args, configuration)?
    } else {
        into_store(input, &args.file, configuration, args.create)?
    };
    print(&report, args.dry_run)
}

/// Returns the report as JSON.
fn into_store(
    input: Input,
    file: &Path,
    configuration: &Configuration,
    create: bool,
) -> Result<Vec<u8>, Failure> {
    let into = store::file(configuration)?;
    if !create {
        must_exist_or_be_created(into)?;
    }
    let when_locked = format!(
        "If that is a running server, import through it:\n  \
         deskfleet import {} --url http://HOST:PORT --key-file FILE",
        file.display()
    );
    let engine = open_to_change(configuration, into, &when_locked)?;
    let report = reported(engine.import(), input, file)?;
    engine.close()?;
    Ok(report)
}

/// Checks the input against a store, which is only read, or an empty one if it is missing. Returns the report as JSON.
fn without_writing(
    input: Input,
    args: &ImportArgs,
    configuration: &Configuration,
) -> Result<Vec<u8>, Failure> {
    let file = store::file(configuration)?;
    let engine = if file.exists() {
        let when_locked =
            "If that is a running server, check through it: --url http://HOST:PORT --key-file FILE";
        open_read_only(configuration, when_locked)?
    } else {
        say!(
            "there is no store {}: checked against an empty one",
            file.display()
        );
        store::builder(configuration).open_in_memory()?
    };
    let report = reported(engine.preview_import(), input, &args.file)?;
    engine.close()?;
    Ok(report)
}

/// Imports the input; returns the report as JSON. `file` is its name.
fn reported(mut import: WorkspaceImport, input: Input, file: &Path) -> Result<Vec<u8>, Failure> {
    push_all(&mut import, input, file)?;
    let report = import
        .finish()
        .map_err(|error| Failure::caused(file.display(), &error))?;
    serde_json::to_vec(&report).map_err(|error| Failure::caused("cannot write JSON", &error))
}

/// Reads the input to its end. `file` is its name.
fn push_all(import: &mut WorkspaceImport, mut input: Input, file: &Path) -> Result<(), Failure> {
    let mut progress = ProgressLine::new(input.length);
    let mut piece = vec![0; PIECE_BYTES];
    let mut done = 0;
    loop {
        let read = match input.bytes.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                let committed = import.report().committed;
                let what = format_args!(
                    "cannot read {} after {done} bytes; at least {committed} workspaces are committed",
                    file.display()
                );
                return Err(Failure::caused(what, &error));
            }
        };
        let pushed = import.push(piece.get(..read).unwrap_or_default());
        pushed.map_err(|error| Failure::caused(file.display(), &error))?;
        progress.advance(read);
        done += read;
    }
}

/// Returns the body of the response.
fn through_server(client: &Client, input: Input, dry_run: bool) -> Result<Vec<u8>, Failure> {
    let body = Pieces::read(input.bytes, input.length)
        .map_err(|error| Failure::caused("cannot start a thread", &error))?;
    // Without a content type: the server detects the format by the first bytes.
    let target = if dry_run {
        "/operator/workspaces?dryRun=true"
    } else {
        "/operator/workspaces"
    };
    let response = client.post(target, body);
    response.map(Vec::from)
}

/// A file, or standard input.
struct Input {
    bytes: Box<dyn Read + Send>,
    /// The length in bytes, if known.
    length: Option<u64>,
}

impl Input {
    /// `file` may be `-`.
    fn open(file: &Path) -> Result<Self, Failure> {
        if file == Path::new("-") {
            let bytes = Box::new(io::stdin());
            return Ok(Self {
                bytes,
                length: None,
            });
        }
        let bytes = File::open(file).map_err(|error| Failure::cannot_read(file, &error))?;
        // Pipes and devices have no length.
        let about = bytes.metadata().ok().filter(std::fs::Metadata::is_file);
        Ok(Self {
            bytes: Box::new(bytes),
            length: about.map(|about| about.len()),
        })
    }
}

/// Prints the report as data, and its lines for people; on a terminal only the lines, so that nothing is shown twice.
fn print(report: &[u8], dry_run: bool) -> Result<(), Failure> {
    let ImportReport {
        upserted,
        rejected,
        errors,
        warnings,
        mapping,
        ..
    } = serde_json::from_slice(report)
        .map_err(|error| Failure::caused("this is not the result of an import", &error))?;
    if !io::stdout().is_terminal() {
        data(String::from_utf8_lossy(report))?;
    }
    for name in mapping.iter().flatten() {
        let to = name.to.as_deref().unwrap_or("ignored");
        say!("{} -> {to}", visible(&name.from));
    }
    for warning in &warnings {
        let message = visible(&warning.message);
        say!("warning: line {}: {message}", warning.line);
    }
    for error in &errors {
        let column = error.column.map(|column| format!(", column {column}"));
        let column = column.unwrap_or_default();
        say!("line {}{column}: {}", error.line, visible(&error.message));
    }
    if (errors.len() as u64) < rejected {
        say!("{} of {rejected} errors shown", errors.len());
    }
    if dry_run && mapping.is_none() {
        return Err(Failure(format!(
            "THIS WAS NO DRY RUN: the server is older than dry runs and has imported the file: {upserted} upserted, {rejected} rejected"
        )));
    }
    if upserted == 0 && rejected == 0 {
        say!("there are no desktops in the file");
    }
    let failed = if mapping.is_some() {
        say!("{upserted} would be upserted, {rejected} rejected; nothing was written");
        "not every line would be imported"
    } else {
        say!("{upserted} upserted, {rejected} rejected");
        "not every line was imported"
    };
    match rejected {
        0 => Ok(()),
        _ => Err(Failure(failed.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use deskfleet::Engine;

    use super::*;

    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _piece: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the medium is gone"))
        }
    }

    #[test]
    fn input_that_breaks_off_says_how_far_it_was_read() {
        let line = |number| format!("{{\"workSpId\":\"ws-{number}\"}}\n");
        let lines: String = (1000..3500).map(line).collect();
        let length = lines.len();
        let input = Input {
            bytes: Box::new(io::Cursor::new(lines).chain(Broken)),
            length: None,
        };
        let builder = Engine::builder().random(getrandom::fill);
        let engine = builder.clock(std::time::SystemTime::now).open_in_memory();
        let engine = engine.unwrap();
        let mut import = engine.import();
        let Failure(message) = push_all(&mut import, input, Path::new("fleet")).unwrap_err();
        let read = format!("cannot read fleet after {length} bytes; at least ");
        // The second thousand may be in progress.
        let committed = message.strip_prefix(&read).unwrap_or_default();
        let rest = "000 workspaces are committed: the medium is gone";
        assert!(
            ["1", "2"].contains(&committed.trim_end_matches(rest)),
            "{message}"
        );
    }

    #[test]
    fn dry_run_that_an_older_server_has_imported_is_an_error() {
        let report = r#"{"upserted":2,"rejected":1,"committed":2,"errors":[],"warnings":[]}"#;
        let Failure(message) = print(report.as_bytes(), true).unwrap_err();
        let ends = "has imported the file: 2 upserted, 1 rejected";
        assert!(message.starts_with("THIS WAS NO DRY RUN: "), "{message}");
        assert!(message.ends_with(ends), "{message}");
    }
}
