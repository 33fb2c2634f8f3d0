//! Imports of any length through a socket.

use std::io::Write as _;

use crate::client::{Answer, Client};
use crate::served::{Served, served};
use deskfleet::{AuditAction, AuditResult, Engine};
use deskfleet_server::ServerOptions;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Bytes of the largest batch here, and so of what is read of a refused import.
const BATCH_BYTES: usize = 256 * 1024;

fn served_with_small_batches() -> Served {
    served(ServerOptions::default(), |config| {
        config.limits.batch_body_bytes = BATCH_BYTES;
    })
}

impl Served {
    /// A client that has begun a chunked import.
    fn begin_import(&self, headers: &str) -> Client {
        let mut client = self.client();
        client.send(format!(
            "POST /operator/workspaces HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n{headers}\r\n"
        ));
        client
    }

    fn begin_with_key(&self) -> Client {
        self.begin_import(&format!("x-api-key: {}\r\n", self.key))
    }

    fn has(&self, id: usize) -> bool {
        self.engine
            .workspace(&format!("ws-{id}"))
            .unwrap()
            .is_some()
    }
}

fn chunk(piece: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()
}

fn lines(ids: std::ops::Range<usize>) -> Vec<u8> {
    let line = |id| {
        format!(
            "{{\"workSpId\":\"ws-{id}\",\"username\":\"user{id}\",\"region\":\"eu-central-1\",\"state\":\"AVAILABLE\"}}\n"
        )
    };
    ids.map(line).collect::<String>().into_bytes()
}

fn ends(mut client: Client) -> Answer {
    client.send("0\r\n\r\n");
    client.answer_to("POST")
}

fn newest_row(engine: &Engine) -> (AuditAction, AuditResult, String) {
    let row = engine.admin_activity(1).unwrap().remove(0);
    (row.action, row.result, row.detail.unwrap_or_default())
}

#[test]
fn import_of_100_000_desktops_is_committed_while_it_arrives() {
    let served = served_with_small_batches();
    let mut import = served.begin_with_key();
    for part in 0..100 {
        import.send(chunk(&lines(part * 1000..(part + 1) * 1000)));
        if part == 50 {
            // Others are served meanwhile.
            let answer = served
                .client()
                .post("/api/Stats/Post", "", r#"{"username":"jdoe"}"#);
            assert_eq!(answer.status, 200);
            assert!(served.has(0), "the first part is visible before the end");
        }
    }
    let answer = ends(import);
    let report = r#"{"upserted":100000,"rejected":0,"committed":100000,"errors":[],"warnings":[]}"#;
    assert_eq!((answer.status, &*answer.body), (200, report));
    assert!(served.has(99_999));
    let row = (AuditAction::ImportWorkspaces, AuditResult::Completed);
    let detail = "100000 created, 0 updated, 0 rejected".to_owned();
    assert_eq!(newest_row(&served.engine), (row.0, row.1, detail));
}

#[test]
fn import_whose_body_breaks_off_keeps_whole_parts_and_says_how_far() {
    let served = served_with_small_batches();
    let mut import = served.begin_with_key();
    import.send(chunk(&lines(0..2500)));
    import.send("no chunk size\r\n");
    let answer = import.answer_to("POST");
    assert_eq!(answer.status, 400);
    let message = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(
        message.ends_with("The first 2000 workspaces are committed."),
        "{message}"
    );
    assert!(import.is_closed());
    assert!(served.has(1999) && !served.has(2000));
    let detail = "2000 created, 0 updated, 0 rejected".to_owned();
    assert_eq!(
        newest_row(&served.engine),
        (AuditAction::ImportWorkspaces, AuditResult::Failed, detail)
    );
}

#[test]
fn import_in_gzip_is_read_as_the_plain_one() {
    let served = served_with_small_batches();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&lines(0..20_000)).unwrap();
    let headers = format!("x-api-key: {}\r\ncontent-encoding: gzip\r\n", served.key);
    let mut import = served.begin_import(&headers);
    for piece in gzip.finish().unwrap().chunks(10_000) {
        import.send(chunk(piece));
    }
    let answer = ends(import);
    assert!(
        answer
            .body
            .starts_with(r#"{"upserted":20000,"rejected":0,"#),
        "{answer:?}"
    );
    assert!(served.has(19_999));
}

#[test]
fn import_in_gzip_that_decodes_to_too_much_returns_400() {
    let served = served_with_small_batches();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&b"x\n".repeat(2_000_000)).unwrap();
    let headers = format!(
        "x-api-key: {}\r\ncontent-type: application/x-ndjson\r\ncontent-encoding: gzip\r\n",
        served.key
    );
    let mut import = served.begin_import(&headers);
    import.send(chunk(&gzip.finish().unwrap()));
    let answer = ends(import);
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("200 times its length"), "{answer:?}");
}

#[test]
fn refused_import_is_read_no_further_than_a_batch() {
    let served = served_with_small_batches();
    let mut stranger = served.begin_import("x-api-key: none\r\n");
    for _ in 0..20 {
        stranger.try_send(chunk(&vec![b' '; BATCH_BYTES / 4]));
    }
    assert_eq!(stranger.answer_to("POST").status, 401);
    assert!(stranger.is_closed());

    let mut import = served.begin_with_key();
    import.send(chunk(b"\x1f\x8b\x08\x00"));
    for _ in 0..20 {
        import.try_send(chunk(&vec![0; BATCH_BYTES / 4]));
    }
    let answer = import.answer_to("POST");
    assert_eq!(answer.status, 400);
    assert!(
        answer.body.contains("The body is gzip-compressed"),
        "{answer:?}"
    );
    assert!(import.is_closed());
    assert!(!served.has(0));
}
