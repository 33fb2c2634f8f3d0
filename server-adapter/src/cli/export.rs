//! `export`: telemetry, workspaces or the audit of a store or of a running server.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use deskfleet::ExportFormat;

use super::configuration::Configuration;
use super::export_args::{ExportArgs, FileFormat};
use super::export_file::ExportFile;
use super::export_source::{Source, Unwritten};
use super::failure::Failure;
use super::output::{counted, say};
#[cfg(feature = "parquet")]
use super::parquet;
use super::{export_records, export_rows};

pub(crate) fn run(args: ExportArgs, configuration: &Configuration) -> Result<(), Failure> {
    let format = match args.format {
        FileFormat::Ndjson => ExportFormat::Ndjson,
        FileFormat::Csv => ExportFormat::Csv,
        FileFormat::Parquet => return parquet::run(args, configuration),
    };
    let output = args.output.filter(|path| path != Path::new("-"));
    let output = Output::create(output, args.server.key_file.as_deref())?;
    let source = Source::open(&args.server, configuration)?;
    let (rows, span) = (args.rows.stream(), (args.from, args.to));
    output.write(|out| match rows {
        Ok(stream) => {
            let query = export_records::query(stream, span, args.instance);
            export_records::write(&source, &query, format, out)
        }
        Err(rows) => export_rows::write(export_rows::rows(source, rows, span), rows, format, out),
    })
}

#[cfg(not(feature = "parquet"))]
mod parquet {
    use super::{Configuration, ExportArgs, Failure};

    pub(super) fn run(_args: ExportArgs, _: &Configuration) -> Result<(), Failure> {
        let said = "this deskfleet was built without Parquet; build it with\n  \
            cargo build --release -p deskfleet-server --features parquet";
        Err(Failure(said.to_owned()))
    }
}

/// Where the rows go.
struct Output {
    /// `None` is standard output.
    file: Option<(PathBuf, ExportFile)>,
}

impl Output {
    fn create(path: Option<PathBuf>, key_file: Option<&Path>) -> Result<Self, Failure> {
        let create = |path: PathBuf| {
            let file = ExportFile::create(&path, key_file)?;
            Ok::<_, Failure>((path, file))
        };
        let file = path.map(create).transpose()?;
        Ok(Self { file })
    }

    /// Writes what `write` writes, which returns the number of rows, and says so.
    fn write(
        self,
        write: impl FnOnce(&mut dyn Write) -> Result<u64, Unwritten>,
    ) -> Result<(), Failure> {
        let (written, name) = if let Some((path, mut file)) = self.file {
            let written = through_buffer(file.writer(), write);
            let written = written.and_then(|count| {
                file.keep()?;
                Ok(count)
            });
            (written, path.display().to_string())
        } else {
            let written = through_buffer(io::stdout().lock(), write);
            if matches!(&written, Err(Unwritten::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe)
            {
                // The reader has read enough, such as `head`.
                return Ok(());
            }
            (written, "standard output".to_owned())
        };
        let count = written.map_err(|unwritten| match unwritten {
            Unwritten::Rows(failure) => failure,
            Unwritten::Output(error) => {
                Failure::caused(format_args!("cannot write to {name}"), &error)
            }
        })?;
        say!("{} written to {name}", counted(count, "row"));
        Ok(())
    }
}

fn through_buffer<W: Write>(
    out: W,
    write: impl FnOnce(&mut dyn Write) -> Result<u64, Unwritten>,
) -> Result<u64, Unwritten> {
    let mut out = BufWriter::new(out);
    let count = write(&mut out)?;
    out.flush()?;
    Ok(count)
}
