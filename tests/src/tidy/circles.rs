//! Circles of imports between files: two files that need each other are one file in two places.
//!
//! A file and those in its folder belong together: what they take from each other counts as no circle by itself.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{tokens, without_tests};
use super::tree::Source;

/// The folders whose files may form no circle.
pub const CIRCLE_FREE: &[&str] = &[
    "core/src/",
    "server-adapter/examples/abuse/",
    "server-adapter/log-nats/src/",
    "server-adapter/log-postgres/src/",
    "server-adapter/provider/src/",
    "server-adapter/src/",
    "wasm/src/",
];

/// A circle that is there.
#[derive(Debug, Clone, Copy)]
pub struct KnownCircle {
    /// Its files, in the order of their paths.
    pub files: &'static [&'static str],
    /// Why it is there.
    pub reason: &'static str,
}

/// The named exceptions. One that nothing needs any more is a violation.
pub const KNOWN_CIRCLES: &[KnownCircle] = &[];

/// Circles between the files of each of the `roots` that are not `known`, and known ones that are gone.
#[must_use]
pub fn circles(files: &[Source], roots: &[&str], known: &[KnownCircle]) -> Vec<String> {
    let mut found: Vec<Vec<&str>> = Vec::new();
    for root in roots {
        found.extend(Modules::from_files(files, root).circles());
    }
    let is_known = |circle: &[&str]| known.iter().any(|known| known.files == circle);
    let unknown = found.iter().filter(|circle| !is_known(circle));
    let gone = known
        .iter()
        .filter(|known| !found.iter().any(|circle| circle == known.files));
    unknown
        .map(|circle| format!("{} import each other", circle.join(", ")))
        .chain(gone.map(|known| format!("the circle of {} is gone", known.files.join(", "))))
        .collect()
}

/// The name of a module within its crate: `["store", "table"]`.
type Name<'a> = Vec<&'a str>;

#[derive(Default)]
struct Module<'a> {
    path: &'a str,
    /// Every path that begins at the crate, at a parent, or in a `use` at a child.
    imports: Vec<Name<'a>>,
}

/// The modules of a crate.
struct Modules<'a>(BTreeMap<Name<'a>, Module<'a>>);

impl<'a> Modules<'a> {
    fn from_files(files: &'a [Source], root: &str) -> Self {
        let named = files
            .iter()
            .filter(|file| file.is_rust())
            .filter_map(|file| {
                let inner = file.path.strip_prefix(root)?.strip_suffix(".rs")?;
                let mut name: Name<'a> = inner.split('/').collect();
                name.pop_if(|last| matches!(*last, "mod" | "lib" | "main"));
                let module = Module {
                    path: &file.path,
                    imports: imports(&tokens(without_tests(&file.code))),
                };
                Some((name, module))
            });
        Self(named.collect())
    }

    /// The files that reach each other, each circle once.
    fn circles(&self) -> BTreeSet<Vec<&'a str>> {
        let edges: BTreeMap<_, BTreeSet<_>> = self
            .0
            .iter()
            .map(|(name, module)| {
                let targets = module.imports.iter().map(|path| self.target(name, path));
                let related = |other: &Name<'a>| other.starts_with(name) || name.starts_with(other);
                (
                    name.clone(),
                    targets.filter(|other| !related(other)).collect(),
                )
            })
            .collect();
        let reached: BTreeMap<_, _> = edges
            .keys()
            .map(|name| (name, reach(&edges, name)))
            .collect();
        let together = |one: &Name<'a>, other: &Name<'a>| {
            let reaches = |from, to| {
                reached
                    .get(from)
                    .is_some_and(|reached| reached.contains(to))
            };
            reaches(one, other) && reaches(other, one)
        };
        let circle = |name: &Name<'a>| -> Vec<&'a str> {
            let others = self.0.iter().filter(|(other, _)| together(name, other));
            others.map(|(_, module)| module.path).collect()
        };
        self.0
            .keys()
            .map(circle)
            .filter(|circle| circle.len() > 1)
            .collect()
    }

    /// The module in which `path`, as it stands in the module `own`, ends: the file that has the item, also where another one hands
    /// it on.
    fn target(&self, own: &Name<'a>, path: &[&'a str]) -> Name<'a> {
        let mut at = own.clone();
        let mut path = path.to_vec();
        // A chain of names that are handed on is not longer.
        for _ in 0..8 {
            (at, path) = self.descend(at, &path);
            let Some((first, rest)) = path.split_first() else {
                break;
            };
            let handed_on = self.0.get(&at).and_then(|module| {
                let ends_here = |import: &&Name<'a>| import.last() == Some(first);
                module.imports.iter().find(ends_here)
            });
            match handed_on {
                Some(import) if at != *own => path = [import, rest].concat(),
                _ => break,
            }
        }
        at
    }

    /// Follows the names of `path` that are modules, and leaves the others.
    fn descend(&self, mut at: Name<'a>, path: &[&'a str]) -> (Name<'a>, Name<'a>) {
        let mut rest = path;
        while let Some((first, tail)) = rest.split_first() {
            match *first {
                "crate" => at.clear(),
                "self" => {}
                "super" => {
                    at.pop();
                }
                name => {
                    let child = [at.as_slice(), &[name]].concat();
                    if !self.0.contains_key(&child) {
                        break;
                    }
                    at = child;
                }
            }
            rest = tail;
        }
        (at, rest.to_vec())
    }
}

/// All that is reached from `start`.
fn reach<'a>(
    edges: &BTreeMap<Name<'a>, BTreeSet<Name<'a>>>,
    start: &Name<'a>,
) -> BTreeSet<Name<'a>> {
    let mut reached = BTreeSet::new();
    let mut left = vec![start];
    while let Some(name) = left.pop() {
        let new = edges.get(name).into_iter().flatten();
        left.extend(new.filter(|next| reached.insert((*next).clone())));
    }
    reached
}

/// The paths of a file.
fn imports<'a>(tokens: &[(usize, &'a str)]) -> Vec<Name<'a>> {
    let mut found = Vec::new();
    let words: Vec<&str> = tokens.iter().map(|(_, token)| *token).collect();
    for (index, word) in words.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| words.get(before));
        let begins = matches!(*word, "crate" | "super" | "self") && before != Some(&"::");
        if begins || before == Some(&"use") {
            tree(words.get(index..).unwrap_or_default(), &[], &mut found);
        }
    }
    found
}

/// Adds the paths of a `use` tree, or of a path in an expression, that begins with `prefix`; returns what follows it.
fn tree<'w, 'a>(
    mut words: &'w [&'a str],
    prefix: &[&'a str],
    found: &mut Vec<Name<'a>>,
) -> &'w [&'a str] {
    let mut path = prefix.to_vec();
    loop {
        match words {
            ["{", rest @ ..] => {
                words = rest;
                while !matches!(words, [] | ["}", ..]) {
                    words = tree(words, &path, found);
                    words = words.strip_prefix(&[","]).unwrap_or(words);
                }
                return words.get(1..).unwrap_or_default();
            }
            [name, "::", rest @ ..] => {
                path.push(name);
                words = rest;
            }
            [name, "as", alias, rest @ ..] => {
                path.extend([name, alias]);
                found.push(path);
                return rest;
            }
            [name, rest @ ..] => {
                path.push(name);
                found.push(path);
                return rest;
            }
            [] => return words,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)], known: &[KnownCircle]) -> Vec<String> {
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| Source::planted(&format!("core/src/{path}"), text))
            .collect();
        circles(&files, CIRCLE_FREE, known)
    }

    #[test]
    fn planted_circle_is_found() {
        let two = [
            ("a.rs", "use crate::b::{self, B};"),
            ("b.rs", "fn b() { crate::a::run() }"),
        ];
        assert_eq!(
            found(&two, &[]),
            ["core/src/a.rs, core/src/b.rs import each other"]
        );
        let three = [
            ("s/mod.rs", "mod a; mod b; mod c;"),
            ("s/a.rs", "use super::b::B;"),
            ("s/b.rs", "use crate::{error::E, s::c::C};"),
            ("s/c.rs", "fn c(a: super::a::A) { let _ = 0; }"),
            ("error.rs", "pub struct E;"),
        ];
        assert_eq!(found(&three, &[]).len(), 1);
    }

    #[test]
    fn circle_through_a_name_handed_on_is_found() {
        let files = [
            (
                "s/mod.rs",
                "mod a; mod b; pub use a::A; pub(crate) use b::B as C;",
            ),
            ("s/a.rs", "use super::C; pub struct A;"),
            ("s/b.rs", "use crate::s::A; pub struct B;"),
        ];
        assert_eq!(found(&files, &[]).len(), 1);
    }

    #[test]
    fn file_and_its_folder_are_no_circle() {
        let files = [
            ("s/mod.rs", "mod a; use a::A; pub fn lock() {}"),
            (
                "s/a.rs",
                "use super::lock; use crate::e::E; mod tests { use super::*; }",
            ),
            (
                "e.rs",
                "pub struct E; // crate::s::a::A\n#[cfg(test)]\nmod tests { use crate::s::A; }",
            ),
        ];
        assert_eq!(found(&files, &[]), [""; 0]);
    }

    #[test]
    fn known_circle_is_accepted_and_must_be_there() {
        let known = [KnownCircle {
            files: &["core/src/a.rs", "core/src/b.rs"],
            reason: "planted",
        }];
        let circle = [("a.rs", "use crate::b::B;"), ("b.rs", "use crate::a::A;")];
        assert_eq!(found(&circle, &known), [""; 0]);
        assert_eq!(
            found(&circle[..1], &known),
            ["the circle of core/src/a.rs, core/src/b.rs is gone"]
        );
    }
}
