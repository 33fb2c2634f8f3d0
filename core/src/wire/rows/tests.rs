use http::header::{ACCEPT, CONTENT_TYPE};

use crate::model::row::row;
use crate::timestamp::Timestamp;

use super::*;

row! {
    /// A row.
    pub(super) struct Sample {
        /// Name.
        name: Option<String> = "name",
        /// Load in percent.
        cpu: Option<f64> = "cpu",
        /// Count.
        count: u64 = "count",
        /// Flag.
        flag: bool = "onHold",
        /// Time.
        at: Timestamp = "at",
    }
}

fn page() -> Rows<Sample> {
    let row = |name: Option<&str>, cpu| Sample {
        name: name.map(str::to_owned),
        cpu,
        count: u64::MAX,
        flag: true,
        at: Timestamp::UNIX_EPOCH,
    };
    Rows {
        next_token: Some("dG9rZW4".to_owned()),
        warnings: vec!["One.".to_owned(), "Two.".to_owned()],
        ..Rows::whole(
            vec![row(Some("=\"a\""), Some(12.0)), row(None, None)],
            Timestamp::UNIX_EPOCH,
        )
    }
}

fn shape(accept: &str, query: &str) -> Result<Shape> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, accept.parse().unwrap());
    Shape::read(&headers, Query::new(Some(query)), Sample::COLUMNS)
}

fn body(response: Response<Bytes>) -> String {
    String::from_utf8(response.into_body().to_vec()).unwrap()
}

#[test]
fn page_in_json_has_rows_token_moment_and_warnings() {
    let response = shape("*/*", "").unwrap().response_with(&page(), |object| {
        object.value("stepSeconds", &300);
    });
    assert_eq!(
        response.headers()[CONTENT_TYPE],
        "application/json; charset=utf-8"
    );
    assert!(!response.headers().contains_key(NEXT_TOKEN));
    let row = r#""count":9223372036854775807,"onHold":true,"at":"1970-01-01T00:00:00Z"}"#;
    assert_eq!(
        body(response),
        format!(
            r#"{{"rows":[{{"name":"=\"a\"","cpu":12.0,{row},{{"name":null,"cpu":null,{row}],"nextToken":"dG9rZW4","hasMore":true,"at":"1970-01-01T00:00:00Z","warnings":["One.","Two."],"stepSeconds":300}}"#
        )
    );
}

#[test]
fn page_in_csv_and_ndjson_has_token_and_warnings_in_headers() {
    let csv = shape("text/csv", "fields=cpu,name")
        .unwrap()
        .response(&page());
    let lines = shape("application/x-ndjson", "fields=cpu,name")
        .unwrap()
        .response(&page());
    for (response, media_type) in [(&csv, "text/csv"), (&lines, "application/x-ndjson")] {
        let headers = response.headers();
        assert_eq!(
            headers[CONTENT_TYPE],
            format!("{media_type}; charset=utf-8")
        );
        assert_eq!(headers[NEXT_TOKEN], "dG9rZW4");
        let warnings: Vec<_> = headers.get_all(WARNING).iter().collect();
        assert_eq!(warnings, ["One.", "Two."]);
    }
    assert_eq!(body(csv), "cpu,name\r\n12.0,\"'=\"\"a\"\"\"\r\n,\r\n");
    assert_eq!(
        body(lines),
        "{\"cpu\":12.0,\"name\":\"=\\\"a\\\"\"}\n{\"cpu\":null,\"name\":null}\n"
    );
}

#[test]
fn page_in_columns_has_an_array_for_each_column_and_their_length() {
    let end = r#""nextToken":"dG9rZW4","hasMore":true,"at":"1970-01-01T00:00:00Z","warnings":["One.","Two."],"stepSeconds":300}"#;
    let response = shape("text/csv", "format=columns&fields=onHold,name,cpu")
        .unwrap()
        .response_with(&page(), |object| {
            object.value("stepSeconds", &300);
        });
    assert_eq!(
        response.headers()[CONTENT_TYPE],
        "application/json; charset=utf-8"
    );
    let columns = r#"{"onHold":[true,true],"name":["=\"a\"",null],"cpu":[12,null]}"#;
    assert_eq!(
        body(response),
        format!(r#"{{"columns":{columns},"count":2,{end}"#)
    );
    let empty = Rows::<Sample>::whole(Vec::new(), Timestamp::UNIX_EPOCH);
    let response = shape("", "format=columns&fields=name")
        .unwrap()
        .response(&empty);
    assert!(body(response).starts_with(r#"{"columns":{"name":[]},"count":0,"nextToken":null,"#));
}

#[test]
fn accept_header_selects_the_format_with_json_as_default() {
    for (accept, expected) in [
        ("", Format::Json),
        ("image/png", Format::Json),
        ("*/*", Format::Json),
        ("text/*", Format::Csv),
        ("text/csv", Format::Csv),
        ("TEXT/CSV; header=present", Format::Csv),
        ("text/csv;q=0.5, application/json;q=0.4", Format::Csv),
        ("text/csv;q=0.5, */*", Format::Json),
        ("application/x-ndjson, text/csv;q=0.9", Format::Ndjson),
        ("application/json;q=0, application/*;q=0.1", Format::Ndjson),
    ] {
        assert_eq!(shape(accept, "").unwrap().format, expected, "{accept}");
    }
}

#[test]
fn format_goes_before_accept() {
    for (format, expected) in [
        ("json", Format::Json),
        ("CSV", Format::Csv),
        ("ndjson", Format::Ndjson),
        ("columns", Format::Columns),
        ("", Format::Ndjson),
    ] {
        let query = format!("format={format}");
        let shape = shape("application/x-ndjson", &query).unwrap();
        assert_eq!(shape.format, expected, "{format}");
    }
    let refused = shape("text/csv", "format=xlsx").unwrap_err();
    assert_eq!(refused.parameter(), Some("format"));
    let message = "The value 'xlsx' is not valid. Send one of json, csv, ndjson, columns.";
    assert_eq!(refused.context(), message);
}

#[test]
fn fields_are_written_once_in_the_order_in_which_they_are_asked_for() {
    let names = |query: &str| -> Vec<&str> { shape("", query).unwrap().names().collect() };
    assert_eq!(names("fields=ONHOLD,cpu,onHold"), ["onHold", "cpu"]);
    assert_eq!(names("fields="), ["name", "cpu", "count", "onHold", "at"]);
    let repeated = format!("fields={}", "cpu,".repeat(10_000) + "cpu");
    assert_eq!(names(&repeated), ["cpu"]);
    let refused = shape("", "fields=name,onhlod").unwrap_err();
    assert_eq!(refused.parameter(), Some("fields"));
    assert_eq!(
        refused.context(),
        "There is no column 'onhlod'. Did you mean 'onHold'?"
    );
    assert!(shape("", "fields=name,").is_err());
}
