//! The lines of an export: a record as JSON, or as CSV in flat lines.

use http::{HeaderMap, HeaderValue};

use crate::error::{EngineError, Result};
use crate::model::{FieldKind, FieldSpec, FieldValue, Fields as _, ProcessItem, Stream};
use crate::store::table::Step;
use crate::store::telemetry::rows::Rows;
use crate::timestamp::Timestamp;
use crate::view::query::export::ExportQuery;

use super::accept;
use super::csv;
use super::json::Json;
use super::list::ListBody;
use super::rows::{CSV, NDJSON};
use crate::domain::query::Query;

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportFormat {
    /// One JSON object a line: each record as posted, and its `receivedAt`.
    Ndjson,
    /// A line with the names of the columns, then a line for each record, or for each process item of a report. A field that is null or was not sent is
    /// an empty cell.
    Csv,
}

impl ExportFormat {
    const ALL: [Self; 2] = [Self::Ndjson, Self::Csv];

    /// The name, as the parameter `format` of `/query/export` has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
        }
    }

    /// The format of the parameter `format`, else the best accepted one, else NDJSON.
    pub(crate) fn wanted(headers: &HeaderMap, query: Query<'_>) -> Result<Self> {
        if let Some(format) = query.one_of("format", &Self::ALL, Self::as_str)? {
            return Ok(format);
        }
        Ok(
            match accept::best(headers, &["application/x-ndjson", "text/csv"]) {
                1 => Self::Csv,
                _ => Self::Ndjson,
            },
        )
    }

    pub(crate) fn content_type(self) -> HeaderValue {
        match self {
            Self::Ndjson => NDJSON,
            Self::Csv => CSV,
        }
    }
}

/// The query parameters of an export.
pub(crate) fn export_query(query: Query<'_>, now: Timestamp) -> Result<ExportQuery> {
    const FORM: &str = "Send stats, activity, startup or processes, such as stream=stats.";
    let stream = query.one_of("stream", &Stream::ALL, Stream::name)?;
    let stream = stream.ok_or_else(|| {
        EngineError::invalid("stream", format!("The stream field is required. {FORM}"))
    })?;
    let (from, to) = query.range(now)?;
    Ok(ExportQuery {
        stream,
        from,
        to,
        instance_id: query.text("instanceId"),
    })
}

/// Writes the lines of an export.
#[derive(Debug)]
pub(crate) struct ExportLines {
    format: ExportFormat,
    /// The rest of the report that is being written as CSV.
    items: Option<ReportItems>,
}

/// Process items of one report, each a line.
#[derive(Debug)]
struct ReportItems {
    /// The cells of the report.
    report: Vec<u8>,
    items: Vec<ProcessItem>,
    /// The place of the next one.
    next: usize,
}

impl ExportLines {
    /// The body begins with the header, if the format has one.
    pub(crate) fn begin(format: ExportFormat, stream: Stream) -> (Self, ListBody) {
        let mut head = Json::default();
        if format == ExportFormat::Csv {
            let names = fields(stream).map(|spec| spec.name).chain(["receivedAt"]);
            let items = item_fields(stream).iter().map(|spec| match spec.name {
                "username" => "processUsername",
                name => name,
            });
            for (index, name) in names.chain(items).enumerate() {
                if index > 0 {
                    head.raw(b",");
                }
                head.raw(name.as_bytes());
            }
            head.raw(b"\r\n");
        }
        let lines = Self {
            format,
            items: None,
        };
        (lines, ListBody::lines(head))
    }

    /// Writes the remaining lines of the record before; returns `Break` when the chunk is full.
    pub(crate) fn write_remaining(&mut self, body: &mut ListBody) -> Step {
        while let Some(report) = &mut self.items {
            let Some(item) = report.items.get(report.next) else {
                self.items = None;
                break;
            };
            report.next += 1;
            body.item(|json| {
                json.raw(&report.report);
                item_cells(json, Some(item));
            })?;
        }
        Step::Continue(())
    }

    /// Writes the next record, or the first of its lines; returns `Break` when the chunk is full.
    pub(crate) fn record(&mut self, body: &mut ListBody, rows: &Rows, row: usize) -> Result<Step> {
        let record = rows.borrowed(row)?;
        let received_at = rows.received_at(row);
        if self.format == ExportFormat::Ndjson {
            return Ok(body.item(|json| {
                json.object(|object| {
                    for (spec, value) in record.fields() {
                        if let Some(value) = value {
                            object.field(spec, value);
                        }
                    }
                    object.time("receivedAt", received_at);
                });
                json.raw(b"\n");
            }));
        }
        let mut items = None;
        let mut cells = |json: &mut Json| {
            for (spec, value) in record.fields() {
                if spec.kind == FieldKind::Items {
                    items = value;
                    continue;
                }
                csv::field(json, value);
                json.raw(b",");
            }
            csv::field(json, Some(&FieldValue::Time(received_at)));
        };
        if record.stream() != Stream::Processes {
            return Ok(body.item(|json| {
                cells(json);
                json.raw(b"\r\n");
            }));
        }
        let mut report = Json::default();
        cells(&mut report);
        let report = report.finish();
        Ok(match items {
            Some(FieldValue::Items(items)) if !items.is_empty() => {
                self.items = Some(ReportItems {
                    report,
                    items: items.to_vec(),
                    next: 0,
                });
                self.write_remaining(body)
            }
            // A report without processes still has a line.
            _ => body.item(|json| {
                json.raw(&report);
                item_cells(json, None);
            }),
        })
    }
}

/// The fields of a record that are one cell each.
fn fields(stream: Stream) -> impl Iterator<Item = &'static FieldSpec> {
    let fields = stream.fields().iter();
    fields.filter(|spec| spec.kind != FieldKind::Items)
}

/// The fields of the process items, where the records of a stream have some.
fn item_fields(stream: Stream) -> &'static [FieldSpec] {
    match stream {
        Stream::Processes => ProcessItem::FIELDS,
        Stream::Stats | Stream::Activity | Stream::Startup => &[],
    }
}

/// Writes the end of a line: the cells of a process item, empty ones where there is none.
fn item_cells(json: &mut Json, item: Option<&ProcessItem>) {
    for index in 0..ProcessItem::FIELDS.len() {
        json.raw(b",");
        csv::field(json, item.and_then(|item| item.get(index)).as_ref());
    }
    json.raw(b"\r\n");
}
