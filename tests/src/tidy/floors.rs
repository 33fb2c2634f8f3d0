//! The floors of `core/src`: a file imports only from lower floors, never from another name on its own.

use super::code::tokens;
use super::tree::Source;

const CORE: &str = "core/src/";

/// The modules of core by floor, the lowest first.
pub const FLOORS: &[&[&str]] = &[
    &[
        "error",
        "limits",
        "locks",
        "nearest",
        "sorting",
        "timestamp",
    ],
    &["clock", "random", "observer", "settings"],
    &["log", "model"],
    &["config"],
    &["domain", "store"],
    &["mutation", "view"],
    &["engine_core", "wire"],
    &["api"],
    &["engine"],
    &["testing"],
    &["lib"],
];

/// Imports that climb or go sideways, and modules that stand on no floor.
#[must_use]
pub fn floors(files: &[Source], floors: &[&[&str]]) -> Vec<String> {
    let mut violations = Vec::new();
    for file in files {
        let Some(inner) = file.path.strip_prefix(CORE) else {
            continue;
        };
        let module = module_of(inner);
        let Some(own) = floor_of(floors, module) else {
            violations.push(format!("{}: `{module}` stands on no floor", file.path));
            continue;
        };
        for (line, name) in imports(&file.code, depth(inner), floors) {
            let target = if floor_of(floors, name).is_some() {
                name
            } else {
                "lib"
            };
            if target != module && floor_of(floors, target) >= Some(own) {
                violations.push(format!(
                    "{}:{line}: `{module}` imports `{name}`, which is not below it",
                    file.path
                ));
            }
        }
    }
    violations
}

fn floor_of(floors: &[&[&str]], module: &str) -> Option<usize> {
    floors.iter().position(|floor| floor.contains(&module))
}

/// `store/writer.rs` and `store/mod.rs` are `store`; `clock.rs` is `clock`.
fn module_of(inner: &str) -> &str {
    let first = inner.split('/').next().unwrap_or(inner);
    first.strip_suffix(".rs").unwrap_or(first)
}

/// How many `super::` lead from the file's module to the crate.
fn depth(inner: &str) -> usize {
    let segments = inner.matches('/').count();
    if inner.ends_with("/mod.rs") || inner == "lib.rs" {
        segments
    } else {
        segments + 1
    }
}

/// The first names of every path that begins at the crate, with their lines.
fn imports<'a>(code: &'a str, depth: usize, floors: &[&[&str]]) -> Vec<(usize, &'a str)> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut rest = tokens.as_slice();
    while let Some(((line, token), tail)) = rest.split_first() {
        rest = tail;
        match *token {
            "crate" => found.extend(first_names(*line, tail)),
            "super" => {
                let (supers, after) = climb(tail);
                rest = after;
                // In an inner test module `super` is the file itself, so only names of modules count here.
                if depth > 0 && supers >= depth {
                    let names = first_names(*line, after);
                    found.extend(
                        names
                            .into_iter()
                            .filter(|(_, name)| floor_of(floors, name).is_some()),
                    );
                }
            }
            _ => {}
        }
    }
    found
}

/// Counts `super :: super …`, the first already eaten, and leaves what follows the last.
fn climb<'t, 'a>(mut rest: &'t [(usize, &'a str)]) -> (usize, &'t [(usize, &'a str)]) {
    let mut count = 1;
    while let [(_, "::"), (_, "super"), tail @ ..] = rest {
        count += 1;
        rest = tail;
    }
    (count, rest)
}

/// The names right after `crate`: one, or those at the first level of a `{…}` group.
fn first_names<'a>(line: usize, rest: &[(usize, &'a str)]) -> Vec<(usize, &'a str)> {
    match rest {
        [(_, "::"), (_, "{"), tail @ ..] => group_names(tail),
        [(_, "::"), (_, name), ..] => vec![(line, *name)],
        _ => Vec::new(),
    }
}

fn group_names<'a>(rest: &[(usize, &'a str)]) -> Vec<(usize, &'a str)> {
    let mut names = Vec::new();
    let mut open = 1;
    let mut starts = true;
    for (line, token) in rest {
        match *token {
            "{" => open += 1,
            "}" => open -= 1,
            name if starts && open == 1 => names.push((*line, name)),
            _ => {}
        }
        starts = *token == ",";
        if open == 0 {
            break;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(path: &str, text: &str) -> usize {
        floors(&[Source::planted(path, text)], FLOORS).len()
    }

    #[test]
    fn a_planted_import_that_climbs_is_caught() {
        for (path, text) in [
            ("core/src/store/writer.rs", "use crate::api::routes;"),
            (
                "core/src/store/mod.rs",
                "use crate::{error::Result, wire::problem::Code};",
            ),
            (
                "core/src/domain/paging.rs",
                "fn f() { crate::store::open() }",
            ),
            ("core/src/model/key.rs", "use super::super::config::Config;"),
            ("core/src/clock.rs", "use super::random::SplitMix;"),
            ("core/src/mutation/apply.rs", "use crate::Engine;"),
            ("core/src/mutation/apply.rs", "use crate::*;"),
            ("core/src/attic.rs", ""),
        ] {
            assert_eq!(violations(path, &format!("{text} ")), 1, "{path}: {text}");
        }
    }

    #[test]
    fn an_import_that_descends_is_not() {
        for (path, text) in [
            (
                "core/src/store/writer.rs",
                "use crate::model::Stream; use super::codec; use crate::store::table;",
            ),
            (
                "core/src/api/mod.rs",
                "use crate::{model::{Record, Stream}, wire::body, mutation::Mutation};",
            ),
            (
                "core/src/clock.rs",
                "use crate::timestamp::Timestamp; mod tests { use super::*; use super::ManualClock; }",
            ),
            (
                "core/src/domain/paging.rs",
                "//! See crate::api.\nconst A: &str = \"crate::api\";",
            ),
            (
                "core/src/lib.rs",
                "pub use engine::Engine; pub use crate::api::routes::ROUTES;",
            ),
            ("tests/src/lib.rs", "use crate::harness;"),
        ] {
            assert_eq!(violations(path, text), 0, "{path}: {text}");
        }
    }
}
