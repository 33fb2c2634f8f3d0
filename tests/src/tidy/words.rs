//! Crates confined to a part of core, and calls core may not make.

use super::code::{tokens, without_tests};
use super::tree::Source;

const CORE: &str = "core/src/";

/// A crate and the only places in core that may name it.
#[derive(Debug, Clone, Copy)]
pub struct Confined {
    /// Name of the crate.
    pub name: &'static str,
    /// Path prefixes that may use all of it.
    pub places: &'static [&'static str],
    /// Path prefixes that may use one item of it, and that item.
    pub items: &'static [(&'static str, &'static str)],
}

/// The confined crates.
pub const CONFINED: &[Confined] = &[
    Confined {
        name: "redb",
        places: &["core/src/store/"],
        // The builder's argument and its re-export: a host brings its own storage.
        items: &[
            ("core/src/engine/", "StorageBackend"),
            ("core/src/lib.rs", "StorageBackend"),
        ],
    },
    Confined {
        name: "matchit",
        places: &["core/src/api/router.rs"],
        items: &[],
    },
    Confined {
        name: "http",
        places: &[
            "core/src/wire/",
            "core/src/api/",
            "core/src/engine/",
            "core/src/testing/",
        ],
        items: &[],
    },
    Confined {
        name: "serde_json",
        // The detail of an event is stored as JSON; rules and journals are files of JSON.
        places: &[
            "core/src/wire/",
            "core/src/model/event.rs",
            "core/src/engine_core/cluster/report.rs",
            "core/src/testing/",
        ],
        items: &[],
    },
    // Two foldings would be two opinions of which names are the same.
    Confined {
        name: "icu_normalizer",
        places: &["core/src/model/identity.rs"],
        items: &[],
    },
];

/// Paths that core may not name: the time, the environment, threads, sockets and files belong to the host, and what becomes of
/// a poisoned lock is decided once.
pub const FORBIDDEN: &[&str] = &[
    "SystemTime::now",
    "Instant::now",
    "env::var",
    "env::var_os",
    "std::thread",
    "thread::spawn",
    "std::net",
    "std::fs",
    "std::process",
    "std::env",
    "PoisonError::into_inner",
];

/// A file that may name one forbidden path.
#[derive(Debug, Clone, Copy)]
pub struct Exempt {
    /// Path of the file.
    pub path: &'static str,
    /// The forbidden path it may name.
    pub name: &'static str,
    /// Why.
    pub reason: &'static str,
}

/// The named exceptions. One that nothing needs any more is a violation.
pub const EXEMPT: &[Exempt] = &[
    Exempt {
        path: "core/src/clock.rs",
        name: "SystemTime::now",
        reason: "the clock of the feature `system`, which a host turns off to inject its own",
    },
    Exempt {
        path: "core/src/locks.rs",
        name: "PoisonError::into_inner",
        reason: "the one place that decides what becomes of a poisoned lock",
    },
    Exempt {
        path: "core/src/store/disk/file.rs",
        name: "std::fs",
        reason: "opens the file the host names, and the new file of a backup",
    },
    Exempt {
        path: "core/src/store/disk/folder.rs",
        name: "std::fs",
        reason: "makes, opens and removes the segments of the queue beside that file",
    },
    Exempt {
        path: "core/src/store/disk/damage.rs",
        name: "std::fs",
        reason: "appends what could not be read to a file beside that file",
    },
    Exempt {
        path: "core/src/store/disk/watch.rs",
        name: "std::fs",
        reason: "looks at a file that was opened",
    },
    Exempt {
        path: "core/src/store/disk/reserve.rs",
        name: "std::fs",
        reason: "makes and removes the file that keeps space beside that file",
    },
    Exempt {
        path: "core/src/store/disk/file_of_process.rs",
        name: "std::fs",
        reason: "wraps a file that was opened; its test makes one",
    },
    Exempt {
        path: "core/src/store/disk/file_of_process.rs",
        name: "std::process",
        reason: "knows a forked child, which shares the file, from the process that opened it",
    },
    Exempt {
        path: "core/src/store/writer/tests.rs",
        name: "std::thread",
        reason: "tests: threads that wait for each other",
    },
    Exempt {
        path: "core/src/store/writer/tests.rs",
        name: "thread::spawn",
        reason: "tests: threads that wait for each other",
    },
    Exempt {
        path: "core/src/engine/builder.rs",
        name: "std::thread",
        reason: "starts the thread of CommitDriver::Thread, which the host asked for",
    },
    Exempt {
        path: "core/src/engine/mod.rs",
        name: "std::thread",
        reason: "ends the thread of CommitDriver::Thread with the last engine",
    },
    Exempt {
        path: "core/src/engine_core/upkeep.rs",
        name: "std::thread",
        reason: "pauses the thread of Upkeep::Thread, which the host asked for",
    },
];

/// Uses of a confined crate outside its places.
#[must_use]
pub fn confined(files: &[Source], rules: &[Confined]) -> Vec<String> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.path.starts_with(CORE)) {
        let tokens = tokens(without_tests(&file.code));
        for rule in rules {
            if rule.places.iter().any(|place| file.path.starts_with(place)) {
                continue;
            }
            for (line, item) in uses(&tokens, rule.name) {
                let allowed = rule
                    .items
                    .iter()
                    .any(|(place, name)| file.path.starts_with(place) && *name == item);
                if !allowed {
                    violations.push(format!(
                        "{}:{line}: `{}::{item}` has its own place: {:?}",
                        file.path, rule.name, rule.places
                    ));
                }
            }
        }
    }
    violations
}

/// The lines where a path begins with `name`, and the word that follows.
fn uses<'a>(tokens: &[(usize, &'a str)], name: &str) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    let mut before = "";
    let mut rest = tokens;
    while let Some(((line, token), tail)) = rest.split_first() {
        rest = tail;
        if *token == name && before != "::" {
            match tail {
                [(_, "::"), (_, item), ..] => found.push((*line, *item)),
                _ if before == "use" => found.push((*line, "")),
                _ => {}
            }
        }
        before = token;
    }
    found
}

/// Forbidden paths that are named without an exception, and exceptions that nothing needs.
#[must_use]
pub fn forbidden(files: &[Source], names: &[&str], exempt: &[Exempt]) -> Vec<String> {
    let mut violations = Vec::new();
    let mut needed = vec![false; exempt.len()];
    for file in files.iter().filter(|file| file.path.starts_with(CORE)) {
        let tokens = tokens(without_tests(&file.code));
        for name in names {
            for line in mentions(&tokens, name) {
                let exception = exempt
                    .iter()
                    .position(|e| e.path == file.path && e.name == *name);
                match exception.and_then(|at| needed.get_mut(at)) {
                    Some(needed) => *needed = true,
                    None => {
                        violations
                            .push(format!("{}:{line}: core may not name `{name}`", file.path));
                    }
                }
            }
        }
    }
    for (exception, _) in exempt.iter().zip(needed).filter(|(_, needed)| !needed) {
        violations.push(format!(
            "the exception of {} for `{}` is not needed",
            exception.path, exception.name
        ));
    }
    violations
}

/// The lines that name `path`, written out or through a `{…}` group of a `use`.
fn mentions(tokens: &[(usize, &str)], path: &str) -> Vec<usize> {
    let Some((head, last)) = path.split_once("::") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut rest = tokens;
    while let Some(((line, token), tail)) = rest.split_first() {
        rest = tail;
        if *token != head {
            continue;
        }
        match tail {
            [(_, "::"), (_, word), ..] if *word == last => found.push(*line),
            [(_, "::"), (_, "{"), group @ ..] => {
                let inside = group.iter().take_while(|(_, token)| *token != ";");
                found.extend(
                    inside
                        .filter(|(_, token)| *token == last)
                        .map(|(line, _)| *line),
                );
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confined_count(path: &str, text: &str) -> usize {
        confined(&[Source::planted(path, text)], CONFINED).len()
    }

    #[test]
    fn a_planted_crate_outside_its_place_is_caught() {
        for (path, text) in [
            ("core/src/api/stats.rs", "use redb::Database;"),
            ("core/src/engine/builder.rs", "use redb::Database;"),
            (
                "core/src/engine/builder.rs",
                "use redb::{Database, StorageBackend};",
            ),
            ("core/src/api/auth.rs", "let r = matchit::Router::new();"),
            ("core/src/domain/paging.rs", "fn f(m: &http::Method) {}"),
            ("core/src/store/codec.rs", "use serde_json;"),
        ] {
            assert_eq!(confined_count(path, text), 1, "{path}: {text}");
        }
        for (path, text) in [
            ("core/src/store/writer.rs", "use redb::Database;"),
            ("core/src/lib.rs", "pub use redb::StorageBackend;"),
            (
                "core/src/api/auth.rs",
                "use http::header; fn f() { wire::http::x() }",
            ),
            (
                "core/src/view/page.rs",
                "/// like redb::Database\nfn redb() {}",
            ),
            ("server-adapter/src/main.rs", "use http::Request;"),
        ] {
            assert_eq!(confined_count(path, text), 0, "{path}: {text}");
        }
    }

    #[test]
    fn a_planted_call_to_the_machine_is_caught() {
        for text in [
            "let t = SystemTime::now();",
            "let t = std::time::Instant::now();",
            "use std::{fmt, thread};",
            "use std::{\n    net::TcpStream,\n};",
            "std::fs::read(path)",
            "env::var(\"HOME\")",
        ] {
            let planted = [Source::planted("core/src/clock.rs", text)];
            assert!(!forbidden(&planted, FORBIDDEN, &[]).is_empty(), "{text}");
        }
        let named = [Source::planted(
            "core/src/clock.rs",
            "/// `SystemTime::now` is one.\nuse std::time::SystemTime;",
        )];
        assert!(forbidden(&named, FORBIDDEN, &[]).is_empty());
        let tested = "#[cfg(test)]\nmod tests { use std::thread; }";
        let tested = [Source::planted("core/src/clock.rs", tested)];
        assert!(forbidden(&tested, FORBIDDEN, &[]).is_empty());
    }

    #[test]
    fn an_exception_holds_for_its_file_only_and_must_be_needed() {
        let exempt = [Exempt {
            path: "core/src/store/writer.rs",
            name: "std::thread",
            reason: "the host asked for it",
        }];
        let text = "use std::thread;";
        let count = |path| forbidden(&[Source::planted(path, text)], FORBIDDEN, &exempt).len();
        assert_eq!(count("core/src/store/writer.rs"), 0);
        // The use itself, and the exception that is not needed then.
        assert_eq!(count("core/src/store/other.rs"), 2);
    }
}
