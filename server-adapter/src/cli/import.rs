//! `import`: workspaces from a file of JSON lines or of one JSON array.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use deskfleet::limits::{BULK_UPSERT_CHUNK, LINE_ERRORS_MAX};
use deskfleet::{Engine, ErrorKind, Workspace, error_chain};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::args::ImportArgs;
use super::client::{Client, Pieces};
use super::failure::Failure;
use super::output::{data_json, say};
use super::store::{builder, must_exist, open};

/// A workspace, or why it is none, with its line; in an array, with its place counted from 1.
type Numbered = (u64, serde_json::Result<Workspace>);
/// Ends at the first error of reading.
type Lines<'a> = Box<dyn Iterator<Item = Result<Numbered, Failure>> + 'a>;

/// What became of the lines; written as the response of `POST /operator/workspaces`.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Outcome {
    upserted: u64,
    rejected: u64,
    /// The first of the rejected ones.
    errors: Vec<LineError>,
}

#[derive(Debug, Serialize, Deserialize)]
struct LineError {
    line: u64,
    message: String,
}

/// Imports a file, or standard input, into a store or through a running server.
pub(crate) fn run(args: ImportArgs) -> Result<(), Failure> {
    if let Some(url) = args.server.url {
        let client = Client::new(url, args.server.key_file.as_deref())?;
        return through_server(&client, &args.file);
    }
    into_store(&args.file, &args.store.file, args.create)
}

fn into_store(file: &Path, into: &Path, create: bool) -> Result<(), Failure> {
    let what = format!("cannot read {}", file.display());
    let mut input = BufReader::new(Input::open(file)?.bytes);
    let mut lines = lines(&mut input, &what)?;
    if !create {
        must_exist(into)
            .map_err(|failure| Failure(format!("{failure}, or make one with --create")))?;
    }
    let engine = open(builder(), into, &when_locked(file))?;
    let mut outcome = Outcome::default();
    loop {
        let chunk: Vec<Numbered> = lines
            .by_ref()
            .take(BULK_UPSERT_CHUNK)
            .collect::<Result<_, _>>()?;
        if chunk.is_empty() {
            break;
        }
        store(&engine, chunk, &mut outcome)?;
    }
    engine.close()?;
    report(&outcome)
}

fn through_server(client: &Client, file: &Path) -> Result<(), Failure> {
    let input = Input::open(file)?;
    let body = Pieces::read(input.bytes, input.length)
        .map_err(|error| Failure::caused("cannot start a thread", &error))?;
    let answer = client.post("/operator/workspaces", body);
    let answer = answer.map_err(|failure| {
        Failure(format!(
            "{failure}\nWhat was committed before that stays; it is safe to import the file again."
        ))
    })?;
    let outcome = serde_json::from_slice(&answer).map_err(|error| {
        Failure::caused(
            "the server's response is not the result of an import",
            &error,
        )
    })?;
    report(&outcome)
}

/// A file, or standard input.
struct Input {
    bytes: Box<dyn Read + Send>,
    /// In bytes, where it is known.
    length: Option<u64>,
}

impl Input {
    /// `file` may be `-`.
    fn open(file: &Path) -> Result<Self, Failure> {
        if file == Path::new("-") {
            let bytes = Box::new(std::io::stdin());
            return Ok(Self {
                bytes,
                length: None,
            });
        }
        let what = format_args!("cannot read {}", file.display());
        let bytes = File::open(file).map_err(|error| Failure::caused(what, &error))?;
        // Pipes and devices have no length.
        let about = bytes.metadata().ok().filter(std::fs::Metadata::is_file);
        Ok(Self {
            bytes: Box::new(bytes),
            length: about.map(|about| about.len()),
        })
    }
}

/// The result as data, what was rejected for people.
fn report(outcome: &Outcome) -> Result<(), Failure> {
    data_json(outcome)?;
    for error in &outcome.errors {
        say!("line {}: {}", error.line, error.message);
    }
    let shown = outcome.errors.len() as u64;
    if shown < outcome.rejected {
        say!("{shown} of {} errors shown", outcome.rejected);
    }
    say!(
        "{} upserted, {} rejected",
        outcome.upserted,
        outcome.rejected
    );
    match outcome.rejected {
        0 => Ok(()),
        _ => Err(Failure("not every line was imported".to_owned())),
    }
}

fn when_locked(file: &Path) -> String {
    format!(
        "If that is a running server, import through it:\n  \
         deskfleet import {} --url http://127.0.0.1:8080 --key-file FILE",
        file.display()
    )
}

/// The workspaces of `input`; what its first character says decides how they are written.
fn lines<'a>(input: &'a mut dyn BufRead, what: &'a str) -> Result<Lines<'a>, Failure> {
    let unreadable = move |error: std::io::Error| Failure::caused(what, &error);
    if first_byte(input).map_err(unreadable)? == Some(b'[') {
        let values: Vec<Value> =
            serde_json::from_reader(input).map_err(|error| Failure::caused(what, &error))?;
        let workspaces = values.into_iter().map(serde_json::from_value);
        return Ok(Box::new((1..).zip(workspaces).map(Ok)));
    }
    let lines = (1..)
        .zip(input.split(b'\n'))
        .filter_map(move |(number, line)| match line {
            Ok(line) if line.trim_ascii().is_empty() => None,
            Ok(line) => Some(Ok((number, serde_json::from_slice(&line)))),
            Err(error) => Some(Err(unreadable(error))),
        });
    Ok(Box::new(lines))
}

/// The first byte that is no space, left unread. Line ends stay unread too: lines are counted.
fn first_byte(input: &mut dyn BufRead) -> std::io::Result<Option<u8>> {
    const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
    if input.fill_buf()?.starts_with(BYTE_ORDER_MARK) {
        input.consume(BYTE_ORDER_MARK.len());
    }
    let start = input.fill_buf()?;
    Ok(start
        .iter()
        .copied()
        .find(|byte| !byte.is_ascii_whitespace()))
}

/// Stores a chunk in one commit, or one by one where one of them is refused.
fn store(engine: &Engine, chunk: Vec<Numbered>, outcome: &mut Outcome) -> Result<(), Failure> {
    let mut good = Vec::with_capacity(chunk.len());
    for (line, workspace) in chunk {
        match workspace {
            Ok(workspace) => good.push((line, workspace)),
            Err(error) => outcome.reject(line, without_line(&error)),
        }
    }
    let workspaces = good.iter().map(|(_, workspace)| workspace.clone());
    match engine.put_workspaces(workspaces.collect()) {
        Ok(count) => {
            outcome.upserted += count;
            return Ok(());
        }
        Err(error) if error.kind() == ErrorKind::InvalidParameter => {}
        Err(error) => return Err(error.into()),
    }
    for (line, workspace) in good {
        match engine.put_workspace(workspace) {
            Ok(()) => outcome.upserted += 1,
            Err(error) if error.kind() == ErrorKind::InvalidParameter => {
                outcome.reject(line, error_chain(&error));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

impl Outcome {
    fn reject(&mut self, line: u64, message: String) {
        self.rejected += 1;
        if self.errors.len() < LINE_ERRORS_MAX {
            self.errors.push(LineError { line, message });
        }
    }
}

/// serde's own message counts lines within the one line it was given.
fn without_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((message, _)) if error.column() > 0 => {
            format!("{message} at byte {}", error.column())
        }
        _ => text,
    }
}
