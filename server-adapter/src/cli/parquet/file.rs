//! A Parquet file being written, row group by row group.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deskfleet::Timestamp;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use crate::cli::export_file::ExportFile;
use crate::cli::failure::Failure;

use super::columns::{self, Column, ColumnKind, Object};

/// Rows of a row group.
const GROUP_ROWS_MAX: usize = 32 * 1024;
/// Bytes of its texts.
const GROUP_TEXT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A file under its temporary name, until it is kept.
pub(super) struct ParquetFile {
    path: PathBuf,
    file: ExportFile,
    writer: SerializedFileWriter<File>,
    columns: Vec<Values>,
    /// Rows of the row group, and bytes of its texts.
    rows: usize,
    text_bytes: usize,
    written: u64,
}

impl ParquetFile {
    /// `name` is that of the schema.
    pub(super) fn create(
        path: &Path,
        key_file: Option<&Path>,
        name: &str,
        columns: &[Column],
    ) -> Result<Self, Failure> {
        let failed = |error: &dyn std::error::Error| Failure::cannot_write(path.display(), error);
        let mut file = ExportFile::create(path, key_file)?;
        let out = file.writer().try_clone();
        let out = out.map_err(|error| failed(&error))?;
        let schema = parse_message_type(&schema(name, columns)).map_err(|error| failed(&error))?;
        let docs = columns.iter().filter(|column| !column.doc.is_empty());
        let docs = docs.map(|column| KeyValue::new(column.name.to_owned(), column.doc.to_owned()));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("deskfleet ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(docs.collect()))
            .build();
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties));
        Ok(Self {
            path: path.to_owned(),
            file,
            writer: writer.map_err(|error| failed(&error))?,
            columns: columns.iter().cloned().map(Values::new).collect(),
            rows: 0,
            text_bytes: 0,
            written: 0,
        })
    }

    /// Adds the rows of a record, which is a JSON object.
    pub(super) fn add(&mut self, line: &[u8]) -> Result<(), Failure> {
        columns::rows(line, |record, item| self.add_row(record, item)).map_err(|unwritten| {
            match unwritten {
                Unwritten::Line(error) => {
                    Failure::caused("a record is not the JSON of one", &error)
                }
                Unwritten::File(error) => Failure::cannot_write(self.path.display(), &error),
            }
        })
    }

    fn add_row(&mut self, record: &Object<'_>, item: Option<&Object<'_>>) -> Result<(), Unwritten> {
        for values in &mut self.columns {
            let value = values.column.value(record, item);
            self.text_bytes += values.add(value)?;
        }
        self.rows += 1;
        if self.rows < GROUP_ROWS_MAX && self.text_bytes < GROUP_TEXT_BYTES_MAX {
            return Ok(());
        }
        Ok(self.end_group()?)
    }

    fn end_group(&mut self) -> Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for values in &mut self.columns {
            if let Some(mut column) = group.next_column()? {
                values.write(&mut column)?;
                column.close()?;
            }
        }
        group.close()?;
        self.written += self.rows as u64;
        (self.rows, self.text_bytes) = (0, 0);
        Ok(())
    }

    /// Puts the file, which is whole now, in its place; returns the number of its rows.
    pub(super) fn keep(mut self) -> Result<u64, Failure> {
        let ended = self.end_group();
        let closed = ended.and_then(|()| self.writer.close());
        closed.map_err(|error| Failure::cannot_write(self.path.display(), &error))?;
        let kept = self.file.keep();
        kept.map_err(|error| Failure::cannot_write(self.path.display(), &error))?;
        Ok(self.written)
    }
}

fn schema(name: &str, columns: &[Column]) -> String {
    let column = |column: &Column| {
        let (physical, logical) = column.kind.schema_type();
        format!("OPTIONAL {physical} {}{logical};\n", column.name)
    };
    let columns: String = columns.iter().map(column).collect();
    format!("message {name} {{\n{columns}}}\n")
}

/// Why a row was not written.
enum Unwritten {
    Line(serde_json::Error),
    File(ParquetError),
}

impl From<serde_json::Error> for Unwritten {
    fn from(error: serde_json::Error) -> Self {
        Self::Line(error)
    }
}

impl From<ParquetError> for Unwritten {
    fn from(error: ParquetError) -> Self {
        Self::File(error)
    }
}

/// The values of a column in a row group.
struct Values {
    column: Column,
    /// 1 for each row that has a value, 0 for the others.
    present: Vec<i16>,
    int32: Vec<i32>,
    int64: Vec<i64>,
    float: Vec<f32>,
    double: Vec<f64>,
    text: Vec<ByteArray>,
}

impl Values {
    fn new(column: Column) -> Self {
        Self {
            column,
            present: Vec::new(),
            int32: Vec::new(),
            int64: Vec::new(),
            float: Vec::new(),
            double: Vec::new(),
            text: Vec::new(),
        }
    }

    /// Adds the value of a row, as JSON; returns the bytes of its text.
    fn add(&mut self, value: Option<&str>) -> Result<usize, serde_json::Error> {
        self.present.push(i16::from(value.is_some()));
        let Some(value) = value else { return Ok(0) };
        match self.column.kind {
            ColumnKind::Int32 => self.int32.push(serde_json::from_str(value)?),
            ColumnKind::Int64 => self.int64.push(serde_json::from_str(value)?),
            ColumnKind::Float => self.float.push(serde_json::from_str(value)?),
            ColumnKind::Double => self.double.push(serde_json::from_str(value)?),
            ColumnKind::Time => {
                let time: Timestamp = serde_json::from_str(value)?;
                self.int64.push(time.ticks().div_euclid(10));
            }
            ColumnKind::Text => {
                let text: String = serde_json::from_str(value)?;
                let length = text.len();
                // Neighbors are much alike, and a clone shares its bytes.
                let last = self
                    .text
                    .last()
                    .filter(|last| last.data() == text.as_bytes());
                let text = last.cloned().unwrap_or_else(|| text.into_bytes().into());
                self.text.push(text);
                return Ok(length);
            }
        }
        Ok(0)
    }

    /// Writes and forgets the values.
    fn write(&mut self, out: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let present = Some(self.present.as_slice());
        match self.column.kind {
            ColumnKind::Int32 => out
                .typed::<Int32Type>()
                .write_batch(&self.int32, present, None),
            ColumnKind::Int64 | ColumnKind::Time => {
                out.typed::<Int64Type>()
                    .write_batch(&self.int64, present, None)
            }
            ColumnKind::Float => out
                .typed::<FloatType>()
                .write_batch(&self.float, present, None),
            ColumnKind::Double => {
                out.typed::<DoubleType>()
                    .write_batch(&self.double, present, None)
            }
            ColumnKind::Text => out
                .typed::<ByteArrayType>()
                .write_batch(&self.text, present, None),
        }?;
        self.present.clear();
        self.int32.clear();
        self.int64.clear();
        self.float.clear();
        self.double.clear();
        self.text.clear();
        Ok(())
    }
}
