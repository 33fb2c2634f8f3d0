//! Page tokens.

use std::sync::LazyLock;

use deskfleet::{
    Engine, ErrorKind, HistoryQuery, Record, StatsRecord, Stream, WorkspaceFilter, WorkspaceList,
    WorkspaceQuery,
};

use super::subject;

/// An engine whose lists have a second page, and a token of each.
struct Lists {
    engine: Engine,
    tokens: Vec<String>,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let engine = subject().engine;
    for id in ["ws-1", "ws-2"] {
        engine.place_hold(id, "m", None).expect("a workspace");
    }
    for id in 0..3 {
        let record = StatsRecord {
            id: Some(id),
            instance_id: "i".into(),
            ..StatsRecord::default()
        };
        let record = Record::Stats(Box::new(record));
        engine.record(record.clone()).expect("a good record");
    }
    let tokens = (0..LISTS_COUNT).filter_map(|list| page(&engine, list, None).ok().flatten());
    let tokens: Vec<_> = tokens.collect();
    assert_eq!(tokens.len(), LISTS_COUNT, "each list has a second page");
    Lists { engine, tokens }
});

const LISTS_COUNT: usize = 4;

/// The token after a page of one, or the refusal.
fn page(engine: &Engine, list: usize, token: Option<&str>) -> Result<Option<String>, ErrorKind> {
    let workspaces = match list {
        0 => engine.workspaces(&WorkspaceQuery {
            limit: 1,
            next_token: token.map(str::to_owned),
            ..WorkspaceQuery::default()
        }),
        1 => engine.workspaces(&WorkspaceQuery {
            list: WorkspaceList::OnHold,
            limit: 1,
            next_token: token.map(str::to_owned),
        }),
        2 => engine.workspaces(&WorkspaceQuery {
            list: WorkspaceList::Matching(WorkspaceFilter::default()),
            limit: 1,
            next_token: token.map(str::to_owned),
        }),
        _ => {
            let page = engine.history(&HistoryQuery {
                limit: 1,
                next_token: token.map(str::to_owned),
                ..HistoryQuery::new(Stream::Stats, "i")
            });
            return page
                .map(|page| page.next_token)
                .map_err(|error| error.kind());
        }
    };
    workspaces
        .map(|page| page.next_token)
        .map_err(|error| error.kind())
}

/// The first byte selects the list that a valid token comes from, or none; then pairs of a place and a byte edit it,
/// until a place of 255, after which text is appended. A list accepts its own token, unchanged, and refuses every other
/// as a wrong parameter.
///
/// # Panics
/// When a list accepts a token of another, or the refusal is another one.
pub fn token(input: &[u8]) {
    let Some((first, mut edits)) = input.split_first() else {
        return;
    };
    let source = usize::from(*first) % (LISTS_COUNT + 1);
    let good = LISTS.tokens.get(source).cloned().unwrap_or_default();
    let mut bytes = good.into_bytes();
    while let [place, byte, rest @ ..] = edits {
        edits = rest;
        if *place == u8::MAX {
            bytes.push(*byte);
            bytes.extend_from_slice(rest);
            break;
        }
        if let Some(target) = bytes.get_mut(usize::from(*place)) {
            *target = *byte;
        }
    }
    let Ok(token) = String::from_utf8(bytes) else {
        return;
    };
    for list in 0..LISTS_COUNT {
        let taken = page(&LISTS.engine, list, Some(&token));
        if LISTS.tokens[list] == token {
            assert!(
                taken.is_ok(),
                "list {list} refuses its own token: {taken:?}"
            );
        } else {
            // Four bytes of a SHA-256 separate an invented token from a valid one; random edits do not find them.
            assert_eq!(
                taken,
                Err(ErrorKind::InvalidParameter),
                "list {list}: {token}"
            );
        }
    }
}
