//! A page out of many workspaces, and the cost of writing the same page from memory.

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]

use bytes::Bytes;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use deskfleet::{Workspace, WorkspaceQuery};
use deskfleet_benches::{Fixture, is_measuring, open, workspace};
use serde::Serialize;

const PATH: &str = "/api/Information/GetAllWorkSpaces";

fn paging(criterion: &mut Criterion) {
    let counts = if is_measuring() {
        [10_000, 1_000_000]
    } else {
        [1_000, 2_000]
    };
    for count in counts {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let fixture = open(Some(folder.path()), |_| {});
        fixture.fill(count);
        let middle = token_at(&fixture, count / 2);
        for limit in [50, 500] {
            let mut group = criterion.benchmark_group(format!("page_of_{limit}"));
            group.throughput(Throughput::Elements(limit));
            group.bench_function(format!("of_{count}"), |bencher| {
                bencher.iter_batched(
                    || fixture.get(&format!("{PATH}?limit={limit}&nextToken={middle}")),
                    |request| fixture.engine.handle(request),
                    BatchSize::SmallInput,
                );
            });
            group.finish();
        }
    }
    from_memory(criterion);
}

/// The token of the page that begins after `skipped` workspaces.
fn token_at(fixture: &Fixture, skipped: usize) -> String {
    let mut token = None;
    for _ in 0..skipped / 500 {
        let page = fixture.engine.workspaces(&WorkspaceQuery {
            limit: 500,
            next_token: token.clone(),
            ..WorkspaceQuery::default()
        });
        token = page.expect("a page").next_token;
    }
    token.expect("a page in the middle")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    work_spaces: &'a [Workspace],
    next_token: Option<&'a str>,
    has_more: bool,
}

/// The floor: the workspaces are structs already, only the JSON is written.
fn from_memory(criterion: &mut Criterion) {
    for limit in [50, 500] {
        let workspaces: Vec<_> = (0..limit).map(workspace).collect();
        let page = Page {
            work_spaces: &workspaces,
            next_token: Some("AQEAAAAAd3MtMDAwMDAwMDUw"),
            has_more: true,
        };
        let mut group = criterion.benchmark_group(format!("page_of_{limit}"));
        group.bench_function("serde_json_from_memory", |bencher| {
            bencher.iter(|| serde_json::to_vec(&page).map(Bytes::from));
        });
        group.bench_function("by_hand_from_memory", |bencher| {
            bencher.iter(|| by_hand(&page));
        });
        group.finish();
        assert_eq!(by_hand(&page), serde_json::to_vec(&page).expect("a page"));
    }
}

/// The fastest way to write such a page, without field tables: names as literals, one pass over each text.
fn by_hand(page: &Page<'_>) -> Bytes {
    let mut out = Vec::with_capacity(page.work_spaces.len() * 300 + 100);
    out.extend_from_slice(b"{\"workSpaces\":[");
    for (index, workspace) in page.work_spaces.iter().enumerate() {
        out.extend_from_slice(if index == 0 { b"{\"" } else { b",{\"" });
        for (index, (name, value)) in Workspace::FIELDS.iter().zip(workspace.values()).enumerate() {
            if index > 0 {
                out.extend_from_slice(b",\"");
            }
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":");
            text(&mut out, value);
        }
        out.push(b'}');
    }
    out.extend_from_slice(b"],\"nextToken\":");
    text(&mut out, page.next_token);
    out.extend_from_slice(b",\"hasMore\":");
    out.extend_from_slice(if page.has_more { b"true}" } else { b"false}" });
    out.into()
}

fn text(out: &mut Vec<u8>, value: Option<&str>) {
    let Some(value) = value else {
        out.extend_from_slice(b"null");
        return;
    };
    let plain = value.bytes().all(|b| b >= 0x20 && b != b'"' && b != b'\\');
    if plain {
        out.push(b'"');
        out.extend_from_slice(value.as_bytes());
        out.push(b'"');
    } else {
        serde_json::to_writer(out, value).expect("a text");
    }
}

criterion_group!(benches, paging);
criterion_main!(benches);
