//! The conformance cases over a real socket: the same requests must give the same bytes as through the library.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use bytes::Bytes;
use deskfleet::Engine;
use deskfleet_server::{RunningServer, ServerOptions, spawn};
use deskfleet_tests::conformance::{AREAS, case::Case, runner::run};
use deskfleet_tests::socket::Socket;
use deskfleet_tests::transport::{Handle, Transport};
use http::{Request, Response};

/// A server of its own for one case.
struct Served(RunningServer);

impl Transport for Served {
    fn send(&self, request: Request<Bytes>) -> Response<Bytes> {
        Socket(self.0.addr()).send(request)
    }
}

fn serve(engine: &Engine) -> Served {
    let options = ServerOptions {
        // The case moves the clock and says when it files.
        maintain_every: None,
        ..ServerOptions::default()
    };
    Served(spawn(engine.clone(), options).unwrap())
}

#[test]
fn the_socket_answers_what_the_library_answers() {
    let light = |case: &Case| !case.heavy;
    let mut cases = 0;
    for case in AREAS.iter().flat_map(|(_, cases)| cases()).filter(light) {
        let expected = run(&case, |engine| Handle(engine.clone()));
        let found = run(&case, serve);
        for (index, (left, right)) in expected.answers.iter().zip(&found.answers).enumerate() {
            assert_eq!(left, right, "[{}] {}, answer {index}", case.row, case.name);
        }
        assert_eq!(expected.answers.len(), found.answers.len());
        cases += 1;
    }
    assert!(cases > 0);
}
