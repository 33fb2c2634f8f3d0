//! Bodies with a content coding.

use super::case::{Case, call};
use super::fields::RECORDS;

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![refused(), left_to_the_host()]
}

/// A body with a content coding is refused, whatever it holds; after the content type, before the size.
fn refused() -> Case {
    let coded = |line: &str, coding: &str, body: String| {
        call(line).json(body).header("content-encoding", coding)
    };
    let good = || "{}".to_owned();
    let mut case = Case::new("1 Stats content type", "content codings");
    for coding in [
        "br",
        "zstd",
        "deflate",
        "compress",
        "gzip, br",
        "identity, br",
        "x",
    ] {
        for record in &RECORDS {
            let line = format!("POST - {}", record.path);
            case = case.call(coded(&line, coding, good()).refused("UnsupportedMediaType"));
        }
        for line in [
            "POST admin /operator/telemetry",
            "POST admin /operator/workspaces",
            "PUT admin /operator/workspaces/ws-1",
            "POST admin /operator/keys",
            "POST admin /operator/actions/1/fail",
        ] {
            case = case.call(coded(line, coding, good()).refused("UnsupportedMediaType"));
        }
    }
    let stats = "POST - /api/Stats/Post";
    case.call(coded(stats, "br", "x".repeat(64 * 1024 + 1)).refused("UnsupportedMediaType"))
        .call(coded("POST read /operator/keys", "br", good()).refused("InsufficientScope"))
        .call(
            coded("POST act /api/Actions/RebootWorkSpace", "br", good())
                .refused("WorkSpaceNotFound"),
        )
        .call(call("GET - /api/Stats/queue/count").gives("0"))
        .call(coded(stats, "identity", good()))
        .call(coded(stats, "Identity", good()))
        .call(coded(stats, "", good()))
        .call(call("GET - /api/Stats/queue/count").gives("3"))
}

/// The engine decodes no coding; a server in front of it may.
fn left_to_the_host() -> Case {
    let coded = |coding: &str| {
        call("POST - /api/Stats/Post")
            .json("{}")
            .header("content-encoding", coding)
            .refused("UnsupportedMediaType")
            .answers("accept-encoding", "identity")
    };
    Case::new("1 Stats content type", "codings that a server undoes")
        .engine_only()
        .call(coded("gzip"))
        .call(coded("x-gzip"))
        .call(coded("br"))
}
