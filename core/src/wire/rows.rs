//! Rows as JSON, CSV or NDJSON, by `format` or `Accept`; by `format` also as columns in JSON.
//!
//! CSV and NDJSON have the token in the header `X-Next-Token`, and each warning in an `X-Warning`.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response};

use crate::domain::order;
use crate::error::Result;
use crate::model::row::Decimal;
use crate::model::{Cell, Column, Row, Rows};
use crate::timestamp::Timestamp;

use super::accept;
use super::csv;
use super::json::{Json, Object};
use super::reply::{self, JSON};
use crate::domain::query::Query;

pub(super) const CSV: HeaderValue = HeaderValue::from_static("text/csv; charset=utf-8");
pub(super) const NDJSON: HeaderValue =
    HeaderValue::from_static("application/x-ndjson; charset=utf-8");
const NEXT_TOKEN: HeaderName = HeaderName::from_static("x-next-token");
const WARNING: HeaderName = HeaderName::from_static("x-warning");

/// The form of a body of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Csv,
    Ndjson,
    /// JSON with an array for each column.
    Columns,
}

impl Format {
    const ALL: [Self; 4] = [Self::Json, Self::Csv, Self::Ndjson, Self::Columns];

    fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Ndjson => "ndjson",
            Self::Columns => "columns",
        }
    }

    /// The format of the parameter `format`, else the best accepted one, else JSON.
    fn wanted(headers: &HeaderMap, query: Query<'_>) -> Result<Self> {
        if let Some(format) = query.one_of("format", &Self::ALL, Self::name)? {
            return Ok(format);
        }
        let offered = ["application/json", "text/csv", "application/x-ndjson"];
        Ok(match accept::best(headers, &offered) {
            1 => Self::Csv,
            2 => Self::Ndjson,
            _ => Self::Json,
        })
    }

    pub(crate) fn content_type(self) -> HeaderValue {
        match self {
            Self::Json | Self::Columns => JSON,
            Self::Csv => CSV,
            Self::Ndjson => NDJSON,
        }
    }
}

/// The form and the columns of a response with rows.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) format: Format,
    columns: &'static [Column],
    /// The columns that are written, in this order.
    chosen: Vec<usize>,
}

impl Shape {
    /// Reads `Accept`, `format` and `fields`.
    ///
    /// # Errors
    /// A name that is no column, or no format.
    pub(crate) fn read(
        headers: &HeaderMap,
        query: Query<'_>,
        columns: &'static [Column],
    ) -> Result<Self> {
        Self::of_some(headers, query, columns, (0..columns.len()).collect())
    }

    /// The same for a question that has only `some` of the columns, in this order.
    ///
    /// # Errors
    /// A name that is none of these columns.
    pub(crate) fn of_some(
        headers: &HeaderMap,
        query: Query<'_>,
        columns: &'static [Column],
        some: Vec<usize>,
    ) -> Result<Self> {
        let known = some.iter().filter_map(|column| columns.get(*column));
        let known: Vec<Column> = known.copied().collect();
        let mut chosen = Vec::new();
        let fields = query.get("fields").unwrap_or_default();
        for name in fields.split(',').filter(|_| !fields.is_empty()) {
            let place = order::column("fields", name, &known)?;
            let column = some.get(place).copied().unwrap_or(place);
            if !chosen.contains(&column) {
                chosen.push(column);
            }
        }
        if chosen.is_empty() {
            chosen = some;
        }
        Ok(Self {
            format: Format::wanted(headers, query)?,
            columns,
            chosen,
        })
    }

    /// 200 with a page of rows.
    pub(crate) fn response<T: Row>(&self, page: &Rows<T>) -> Response<Bytes> {
        self.response_with(page, |_| {})
    }

    /// 200 with a page of rows; in JSON `more` writes further members of the body.
    pub(crate) fn response_with<T: Row>(
        &self,
        page: &Rows<T>,
        mut more: impl FnMut(&mut Object<'_>),
    ) -> Response<Bytes> {
        let rows: Vec<_> = page.rows.iter().map(|row| row as &dyn Row).collect();
        let Rows {
            next_token,
            at,
            warnings,
            ..
        } = page;
        self.body(&rows, (next_token, *at, warnings), &mut more)
    }

    fn body(
        &self,
        rows: &[&dyn Row],
        (next_token, at, warnings): (&Option<String>, Timestamp, &Vec<String>),
        more: &mut dyn FnMut(&mut Object<'_>),
    ) -> Response<Bytes> {
        let mut json = Json::with_capacity(256);
        if matches!(self.format, Format::Csv | Format::Ndjson) {
            self.lines(&mut json, rows);
            let response = reply::ok(self.format.content_type(), json.finish());
            return with_headers(response, next_token.as_deref(), warnings);
        }
        json.object(|object| {
            if self.format == Format::Columns {
                object.member("columns", |json| self.columns(json, rows));
                object.value("count", &rows.len());
            } else {
                object.member("rows", |json| self.array(json, rows));
            }
            object.value("nextToken", next_token);
            object.value("hasMore", &next_token.is_some());
            object.time("at", at);
            object.value("warnings", warnings);
            more(object);
        });
        reply::ok(JSON, json.finish())
    }

    /// Writes all columns of rows as an array of JSON.
    pub(crate) fn whole_rows<T: Row>(json: &mut Json, columns: &'static [Column], rows: &[T]) {
        let shape = Self {
            format: Format::Json,
            columns,
            chosen: (0..columns.len()).collect(),
        };
        let rows: Vec<_> = rows.iter().map(|row| row as &dyn Row).collect();
        shape.array(json, &rows);
    }

    /// Writes rows as an array of JSON.
    fn array(&self, json: &mut Json, rows: &[&dyn Row]) {
        json.array(rows, |json, row| self.object(json, *row));
    }

    /// Writes rows as an object of JSON, with an array for each column.
    fn columns(&self, json: &mut Json, rows: &[&dyn Row]) {
        json.object(|object| {
            for (name, column) in self.names().zip(&self.chosen) {
                object.member(name, |json| {
                    json.array(rows, |json, row| short_cell(json, row.cell(*column)));
                });
            }
        });
    }

    /// Writes rows line by line: CSV with its header, or NDJSON.
    fn lines(&self, json: &mut Json, rows: &[&dyn Row]) {
        self.head(json);
        for row in rows {
            self.line(json, *row);
        }
    }

    /// Writes the text before the lines: the names of the columns of a CSV.
    pub(crate) fn head(&self, json: &mut Json) {
        if self.format == Format::Csv {
            csv::line(json, self.names().map(Cell::Text));
        }
    }

    /// Writes a line of CSV or NDJSON.
    pub(crate) fn line(&self, json: &mut Json, row: &dyn Row) {
        if self.format == Format::Csv {
            return csv::line(json, self.chosen.iter().map(|column| row.cell(*column)));
        }
        self.object(json, row);
        json.raw(b"\n");
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        let column = |index: &usize| self.columns.get(*index);
        self.chosen
            .iter()
            .filter_map(column)
            .map(|column| column.name)
    }

    fn object(&self, json: &mut Json, row: &dyn Row) {
        json.object(|object| {
            for (name, column) in self.names().zip(&self.chosen) {
                object.member(name, |json| cell(json, row.cell(*column)));
            }
        });
    }
}

/// A cell whose number has no `.0`, as a page of columns is long.
fn short_cell(json: &mut Json, value: Cell<'_>) {
    // Above that, doubles do not hold hundredths exactly.
    if let Cell::Number(number) = value
        && number.abs() < 1e13
    {
        return json.raw(Decimal::of_rounded(number).to_string().as_bytes());
    }
    cell(json, value);
}

fn cell(json: &mut Json, cell: Cell<'_>) {
    match cell {
        Cell::Null => json.null(),
        Cell::Text(text) => json.text(text),
        Cell::Int(value) => json.value(&value),
        Cell::Number(value) => json.value(&value),
        Cell::Bool(value) => json.value(&value),
        Cell::Time(time) => json.time(time),
        Cell::Texts(texts) => json.array(texts, |json, text| json.text(text)),
    }
}

/// The response with token and warnings in headers. Both are visible ASCII, as a header must be.
fn with_headers(
    mut response: Response<Bytes>,
    next_token: Option<&str>,
    warnings: &[String],
) -> Response<Bytes> {
    let token = next_token.map(|token| (NEXT_TOKEN, token));
    let warnings = warnings.iter().map(|message| (WARNING, message.as_str()));
    for (name, text) in token.into_iter().chain(warnings) {
        if let Ok(value) = HeaderValue::from_str(text) {
            response.headers_mut().append(name, value);
        }
    }
    response
}

#[cfg(test)]
mod tests;
