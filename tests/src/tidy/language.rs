//! Words that comments, documents and names do not use, each with a standard term for it.

use super::code::tokens;
use super::tree::{Source, extension_of};

/// A word or phrase, and what to write instead. Case does not matter.
pub const REPLACED: &[(&str, &str)] = &[
    ("; answers", "returns"),
    ("all that waits", "pending"),
    ("answers how", "returns"),
    ("answers what", "returns"),
    ("answers whether", "returns"),
    ("begins anew", "restarts"),
    ("begun anew", "restarted"),
    ("enemies", "attackers"),
    ("enemy", "attacker"),
    ("exact reader", "strict parser"),
    ("had by", "install with"),
    ("herald", "waker"),
    ("heralds", "wakers"),
    ("made up", "synthetic, generated"),
    ("made-up", "synthetic, generated"),
    ("mend", "fix"),
    ("mended", "fixed"),
    ("nobody knows", "unknown"),
    ("so many", "`n`"),
    ("stranger", "untrusted client"),
    ("strangers", "untrusted clients"),
    ("tells", "returns, reports, says"),
    ("told", "notified, reported"),
    ("twin", "duplicate"),
    ("twins", "duplicates"),
    ("weather", "fault schedule"),
    ("what waits", "pending"),
    ("whoever", "the caller"),
    ("wish", "signal, command"),
];

/// An identifier that Rust code does not use, and what to write instead. After `fn ` it is refused as the name of a function.
pub const REFUSED_NAMES: &[(&str, &str)] = &[
    ("fn at", "`bind`, `find`, `set_time`: a verb"),
    ("fn end", "`finish`, `stop`, `finish_file`"),
    (
        "fn look",
        "`check_image`, `load_next`: a verb with its object",
    ),
    (
        "fn note",
        "`record_event`, `add_row`: a verb with its object",
    ),
    ("fn of", "`new`, `from_parts`, `for_stream`, `read`"),
    ("fn place", "`position`, `slot`, `index_at`, `read_key`"),
    ("fn rest", "`remaining`, `write_remaining`"),
    ("fn with", "`from_parts`, `merge`, `with_entry`"),
    ("said", "`message`, `text`"),
];

/// Files and folders that are not checked.
pub const UNCHECKED: &[&str] = &[
    // Lists the words.
    "tests/src/tidy/language.rs",
];

/// Replaced words outside the unchecked files.
#[must_use]
pub fn language(files: &[Source], unchecked: &[&str]) -> Vec<String> {
    let mut violations = Vec::new();
    for file in files {
        if unchecked.iter().any(|path| file.path.starts_with(path)) {
            continue;
        }
        for (index, line) in file.text.lines().enumerate() {
            let Some(prose) = prose(file, line) else {
                continue;
            };
            for (word, instead) in REPLACED.iter().filter(|(word, _)| has_word(&prose, word)) {
                violations.push(format!(
                    "{}:{}: instead of `{word}`: {instead}",
                    file.path,
                    index + 1
                ));
            }
        }
    }
    violations
}

/// Refused identifiers in the code of Rust files.
#[must_use]
pub fn names(files: &[Source]) -> Vec<String> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let mut previous = "";
        for (line, token) in tokens(&file.code) {
            let refused = REFUSED_NAMES.iter().find(|(name, _)| {
                let function = name.strip_prefix("fn ");
                function.map_or(*name == token, |name| previous == "fn" && name == token)
            });
            if let Some((name, instead)) = refused {
                violations.push(format!(
                    "{}:{line}: instead of `{name}`: {instead}",
                    file.path
                ));
            }
            previous = token;
        }
    }
    violations
}

/// The text for people in a line, in lower case and without what is in code font: a line of a document, a comment, the name
/// of a function.
fn prose(file: &Source, line: &str) -> Option<String> {
    let line = line.trim();
    let text = match extension_of(&file.path)? {
        "md" => line.to_owned(),
        "rs" | "js" | "mjs" | "ts" => {
            let starts = ["//", "/*", "* "];
            if starts.iter().any(|start| line.starts_with(start)) {
                line.to_owned()
            } else if let Some((_, comment)) = line.split_once(" // ") {
                comment.to_owned()
            } else {
                let (_, name) = line.split_once("fn ")?;
                let name = name.split(['(', '<']).next()?;
                name.replace('_', " ")
            }
        }
        _ => return None,
    };
    let outside_code = text.split('`').step_by(2).collect::<Vec<_>>().join("`");
    Some(outside_code.to_lowercase())
}

/// Whether `word` is in `text`, not as a part of a longer word.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (text.get(..at), text.get(at + word.len()..));
        !before.is_some_and(|text| text.ends_with(char::is_alphanumeric))
            && !after.is_some_and(|text| text.starts_with(char::is_alphanumeric))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        language(&[Source::planted(path, text)], &["core/src/old/"]).len()
    }

    #[test]
    fn replaced_word_in_prose_is_reported() {
        for (path, text) in [
            ("tests/src/disk.rs", "/// Fails when told to.\nfn f() {}"),
            ("tests/src/disk.rs", "let a = 1; // so many"),
            ("tests/src/disk.rs", "fn whoever_reads() {}"),
            ("wasm/js/engine.js", "/**\n * Whoever asks.\n */"),
            ("core/docs/decisions.md", "**Pages.** Of Strangers."),
        ] {
            assert_eq!(count(path, text), 1, "{path}: {text}");
        }
    }

    #[test]
    fn replaced_word_in_code_in_a_longer_word_or_unchecked_is_not_reported() {
        for (path, text) in [
            ("tests/src/disk.rs", "let told = \"whoever\";"),
            (
                "tests/src/disk.rs",
                "/// The user `twin`, and recommended names.\nfn f() {}",
            ),
            ("tests/tests/a.csv", "whoever"),
            ("core/src/old/mod.rs", "// so many"),
        ] {
            assert_eq!(count(path, text), 0, "{path}: {text}");
        }
    }

    #[test]
    fn refused_name_in_code_is_reported() {
        for text in [
            "fn of(a: u8) {}",
            "pub const fn with<R>(read: R) {}",
            "let said = 1;",
        ] {
            assert_eq!(
                names(&[Source::planted("core/src/a.rs", text)]).len(),
                1,
                "{text}"
            );
        }
        for text in [
            "fn of_stream() {}",
            "let end = option::of(text);",
            "// fn of\nlet text = \"said\";",
        ] {
            assert_eq!(
                names(&[Source::planted("core/src/a.rs", text)]).len(),
                0,
                "{text}"
            );
        }
    }
}
