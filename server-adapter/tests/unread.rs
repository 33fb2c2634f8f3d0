//! Responses that are not read: the memory that they take is bounded, they end with their key, and operators are served meanwhile.
#![cfg(feature = "http2")]

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use crate::client::Client;
use crate::served::{Served, large_day, served};
use bytes::Bytes;
use deskfleet::{Engine, NewKey, Scope, Workspace};
use deskfleet_server::ServerOptions;
use h2::client::{Builder, SendRequest};
use http::{Request, Response};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

const ROWS: &str = "/query/workspaces?limit=500";
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a test on a runtime of its own; fails instead of hanging.
fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let in_time = runtime.block_on(async { tokio::time::timeout(PATIENCE, test).await });
    in_time.unwrap();
}

/// A client that takes no byte of any body, and the end of its connection.
async fn unreading(address: SocketAddr) -> (SendRequest<Bytes>, JoinHandle<Result<(), h2::Error>>) {
    let socket = TcpStream::connect(address).await.unwrap();
    let mut builder = Builder::new();
    let handshake = builder.initial_window_size(0).handshake(socket);
    let (requests, connection) = handshake.await.unwrap();
    let end = tokio::spawn(connection);
    (requests.ready().await.unwrap(), end)
}

async fn ask(
    requests: &mut SendRequest<Bytes>,
    target: &str,
    key: &str,
) -> Response<h2::RecvStream> {
    let request = Request::get(format!("http://localhost{target}")).header("x-api-key", key);
    let (response, _) = requests
        .send_request(request.body(()).unwrap(), true)
        .unwrap();
    response.await.unwrap()
}

fn key(engine: &Engine, name: &str, scope: Scope) -> (u64, String) {
    let issued = engine.issue_key(NewKey::new(name, [scope]));
    let issued = issued.unwrap();
    (issued.info.id, issued.secret)
}

/// Workspaces whose rows make a response of about 150 KiB.
fn fleet(engine: &Engine) {
    for number in 0..500 {
        let workspace = Workspace {
            id: format!("ws-{number:04}"),
            username: Some("shared".to_owned()),
            ..Workspace::default()
        };
        engine.put_workspace(workspace).unwrap();
    }
}

fn small_budget() -> Served {
    let served = served(
        ServerOptions {
            // Each source has 64 KiB: one response takes all of it.
            responses_bytes_max: 0,
            ..ServerOptions::default()
        },
        |_| {},
    );
    fleet(&served.engine);
    served
}

#[test]
fn unread_whole_responses_above_the_budget_return_503_and_operators_are_served() {
    let served = small_budget();
    let (_, reader) = key(&served.engine, "reader", Scope::Read);
    run(async {
        let (mut requests, _end) = unreading(served.server.addr()).await;
        let first = ask(&mut requests, ROWS, &reader).await;
        assert_eq!(first.status(), 200);
        for target in [ROWS, "/metrics"] {
            let refused = ask(&mut requests, target, &reader).await;
            assert_eq!(refused.status(), 503, "{target}");
            assert_eq!(refused.headers()["retry-after"], "1", "{target}");
        }
        let free = ask(&mut requests, "/openapi.json", &reader).await;
        assert_eq!(free.status(), 200, "its bytes are shared");
        let admin = format!("x-api-key: {}\r\n", served.key);
        let mut operator = served.client();
        let hold = r#"{"matter":"m","reason":"r"}"#.to_owned();
        let length = hold.len();
        operator.send(format!(
            "PUT /operator/workspaces/ws-0001/litigation-hold HTTP/1.1\r\nhost: localhost\r\n{admin}\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{hold}"
        ));
        assert_eq!(operator.answer_to("PUT").status, 200);
        let new = r#"{"name":"another","scopes":["read"]}"#;
        let issued = operator.post("/operator/keys", &admin, new);
        assert_eq!(issued.status, 201, "{issued:?}");
        assert_eq!(operator.ask("GET", "/operator/keys", &admin).status, 200);
        let revoke = format!("/operator/keys/{}", issued.json()["id"]);
        assert_eq!(operator.ask("DELETE", &revoke, &admin).status, 200);
        let rows = served.client().ask("GET", ROWS, &admin);
        assert_eq!(rows.status, 503, "{rows:?}");
        let detail = rows.json()["detail"].to_string();
        assert!(detail.contains("responses_bytes_max"), "{detail}");
        let mut unread_body = served.client();
        let headers = format!("{admin}expect: 100-continue\r\ncontent-length: 100\r\n");
        let rows = unread_body.ask("GET", ROWS, &headers);
        assert_eq!(
            (rows.status, rows.header("connection")),
            (503, Some("close"))
        );
        assert!(unread_body.is_closed());

        // What is no longer wanted gives its room back.
        drop(first);
        while served.client().ask("GET", ROWS, &admin).status != 200 {
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn information_of_a_user_is_sent_in_chunks_and_is_whole() {
    let served = served(ServerOptions::default(), |_| {});
    for number in 0..2000 {
        let workspace = Workspace {
            id: format!("ws-{number:04}"),
            username: Some("Shared".to_owned()),
            computer_name: Some("x".repeat(200)),
            ..Workspace::default()
        };
        served.engine.put_workspace(workspace).unwrap();
    }
    let mut client = served.client();
    let target = "/api/Information/GetUserInformation?username=shared";
    client.send(format!(
        "GET {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx-api-key: {}\r\n\r\n",
        served.key
    ));
    let text = String::from_utf8(client.read_to_end()).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("transfer-encoding: chunked"), "{head}");
    assert!(body.ends_with("\r\n0\r\n\r\n"));
    let mut request = Request::get(target);
    request = request.header("x-api-key", &served.key);
    let whole = served.engine.handle(request.body(Bytes::new()).unwrap());
    let whole: serde_json::Value = serde_json::from_slice(whole.body()).unwrap();
    assert_eq!(whole["username"], "Shared");
    assert_eq!(whole["workSpaces"].as_array().unwrap().len(), 2000);
    assert_eq!(whole["litigationHold"], false);
    assert_eq!(body.matches("workSpId").count(), 2000);
}

#[test]
fn stalled_response_ends_after_the_revocation_of_its_key() {
    let options = ServerOptions {
        write_timeout: 10 * PATIENCE,
        ..ServerOptions::default()
    };
    let served = served(options, |_| {});
    fleet(&served.engine);
    let (id, reader) = key(&served.engine, "reader", Scope::Read);
    run(async {
        let (mut requests, end) = unreading(served.server.addr()).await;
        let response = ask(&mut requests, ROWS, &reader).await;
        assert_eq!(response.status(), 200);
        served.engine.revoke_key(id).unwrap();
        // Nothing but the revocation ends it before its write timeout, which is longer than the patience of the test.
        let _ = end.await.unwrap();
        drop(response);
    });
}

#[test]
fn list_that_is_being_sent_ends_after_the_revocation_of_its_key() {
    let served = served(ServerOptions::default(), |_| {});
    large_day(&served.engine);
    let (id, reader) = key(&served.engine, "reader", Scope::Read);
    let mut client: Client = served.client();
    client.send(format!(
        "GET /api/Information/Get24HourActivity HTTP/1.1\r\nhost: localhost\r\nx-api-key: {reader}\r\n\r\n"
    ));
    assert!(client.head().starts_with("http/1.1 200"));
    served.engine.revoke_key(id).unwrap();
    let rest = client.read_to_end();
    assert!(
        !rest.ends_with(b"0\r\n\r\n"),
        "{} bytes look whole",
        rest.len()
    );
}
