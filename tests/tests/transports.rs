//! The conformance cases over every transport: the same requests must return the same bytes.

use std::net::SocketAddr;

use bytes::Bytes;
use deskfleet::{CommitDriver, Engine};
use deskfleet_server::{RunningServer, ServerOptions, spawn};
use deskfleet_tests::conformance::AREAS;
use deskfleet_tests::conformance::case::{Case, Step};
use deskfleet_tests::conformance::runner::{Answer, run, run_driven, run_volatile};
use deskfleet_tests::http2::Http2;
use deskfleet_tests::socket::Socket;
use deskfleet_tests::transport::{Call, Handle, InPieces, Serviced, Transport};
use http::{Request, Response};

/// The response without the headers that may differ between transports: the content codings that are decoded before the engine, and
/// that a long read is sent in gzip after it.
fn shared(answer: &Answer) -> Answer {
    let mut shared = answer.clone();
    shared.headers.remove("accept-encoding");
    shared
        .headers
        .retain(|name, value| name != "vary" || value != "Accept-Encoding");
    shared
}

/// Runs every case over `handle` and over the other transport, and compares all responses.
fn same_as_handle<T: Transport>(driver: CommitDriver, connect: impl Fn(&Engine) -> T) {
    let everywhere = |case: &Case| !case.engine_only;
    for case in AREAS
        .iter()
        .flat_map(|(_, cases)| cases())
        .filter(everywhere)
    {
        let expected = run(&case, |engine| Handle(engine.clone()));
        let found = run_driven(&case, driver, &connect);
        for (index, (left, right)) in expected.answers.iter().zip(&found.answers).enumerate() {
            assert!(
                shared(left) == shared(right),
                "[{}] {}, answer {index}\nthrough handle: {left:?}\nthrough this:   {right:?}",
                case.row,
                case.name
            );
        }
        assert_eq!(expected.answers.len(), found.answers.len());
    }
}

#[test]
fn call_returns_the_bytes_of_handle() {
    same_as_handle(CommitDriver::Caller, |engine| Call(engine.clone()));
}

#[test]
fn tower_service_returns_the_bytes_of_handle() {
    same_as_handle(CommitDriver::Thread, |engine| Serviced(engine.clone()));
}

#[test]
fn body_in_pieces_returns_the_bytes_of_handle() {
    same_as_handle(CommitDriver::Caller, |engine| InPieces(engine.clone(), 61));
}

#[test]
fn writer_thread_returns_the_bytes_of_caller_commits() {
    same_as_handle(CommitDriver::Thread, |engine| Call(engine.clone()));
}

#[test]
fn volatile_engine_returns_the_bytes_of_a_durable_one() {
    // A medium that fails or is full is detected by a commit, which comes after the response there.
    let of_the_medium = |step: &Step| matches!(step, Step::Broken(_) | Step::Free(_));
    let mut compared = 0;
    for case in AREAS.iter().flat_map(|(_, cases)| cases()) {
        if case.engine_only || case.steps.iter().any(of_the_medium) {
            continue;
        }
        let expected = run(&case, |engine| Handle(engine.clone()));
        assert_eq!(
            expected.answers,
            run_volatile(&case).answers,
            "{}",
            case.name
        );
        compared += expected.answers.len();
    }
    assert!(compared > 1000, "only {compared} answers were compared");
}

/// A client of the server, and what runs it. The client is dropped first: a stopping server waits for its clients.
struct Served<C> {
    client: C,
    _server: RunningServer,
}

impl<C: Transport> Transport for Served<C> {
    fn send(&self, request: Request<Bytes>) -> Response<Bytes> {
        self.client.send(request)
    }
}

fn served<C>(engine: &Engine, connect: impl Fn(SocketAddr) -> C) -> Served<C> {
    let options = ServerOptions {
        // The cases call maintenance themselves.
        maintain_every: None,
        ..ServerOptions::default()
    };
    let server = spawn(engine.clone(), options).expect("a port");
    let client = connect(server.addr());
    Served {
        client,
        _server: server,
    }
}

#[test]
fn server_returns_the_bytes_of_handle() {
    same_as_handle(CommitDriver::Caller, |engine| served(engine, Socket));
}

#[test]
fn http2_returns_the_bytes_of_handle() {
    same_as_handle(CommitDriver::Thread, |engine| {
        served(engine, |address| Http2::connect(address).expect("HTTP/2"))
    });
}
