//! The code of a Rust file without its comments and literals.

/// `text` with every comment and every string or character literal turned into spaces; lines stay where they were.
#[must_use]
pub fn code_of(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (is_code, length) = piece(rest, first);
        let (head, tail) = rest.split_at(length.min(rest.len()));
        if is_code {
            out.push_str(head);
        } else {
            out.extend(head.chars().map(|c| if c == '\n' { c } else { ' ' }));
        }
        rest = tail;
    }
    out
}

/// `code` up to its inline test module, which may use what the rest may not.
pub(super) fn without_tests(code: &str) -> &str {
    let end = code.find("#[cfg(test)]\nmod ");
    end.and_then(|end| code.get(..end)).unwrap_or(code)
}

/// The identifiers, `::` and single characters of `code`, each with its line, counted from 1.
pub(super) fn tokens(code: &str) -> Vec<(usize, &str)> {
    let mut tokens = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if is_word(first) {
                word_length(rest)
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            let (token, tail) = rest.split_at(length);
            tokens.push((index + 1, token));
            rest = tail.trim_start();
        }
    }
    tokens
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word_length(text: &str) -> usize {
    text.find(|c| !is_word(c)).unwrap_or(text.len())
}

/// Whether the next piece is code, and its length in bytes.
fn piece(rest: &str, first: char) -> (bool, usize) {
    if rest.starts_with("//") {
        return (false, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (false, block_comment(rest));
    }
    match first {
        '"' => (false, quoted(rest, '"')),
        '\'' => character(rest),
        c if is_word(c) => {
            let length = word_length(rest);
            match raw_string(rest, length) {
                Some(length) => (false, length),
                None => (true, length),
            }
        }
        c => (true, c.len_utf8()),
    }
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(tail) = rest.get(at..).filter(|tail| !tail.is_empty()) {
        if tail.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if tail.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += tail.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// A literal that begins with `quote`, with backslash escapes.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// A character literal, or the tick of a lifetime.
fn character(rest: &str) -> (bool, usize) {
    let mut chars = rest.chars().skip(1);
    let (second, third) = (chars.next(), chars.next());
    if second == Some('\\') || third == Some('\'') {
        (false, quoted(rest, '\''))
    } else {
        (true, 1)
    }
}

/// The length of a raw string whose prefix is the word of `prefix` bytes at the start of `rest`, if there is one.
fn raw_string(rest: &str, prefix: usize) -> Option<usize> {
    let (word, after) = rest.split_at(prefix);
    if !matches!(word, "r" | "br" | "cr") {
        return None;
    }
    let body = after.trim_start_matches('#');
    let hashes = after.len() - body.len();
    let body = body.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(prefix + hashes + 1 + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_become_spaces() {
        for (text, left) in [
            ("a // redb\nb", "a        \nb"),
            ("a/*/**/*/b", "a        b"),
            (r#"f("a \" b", 'c', '\'') g"#, "f(        ,    ,     ) g"),
            (
                "r#\"raw \" text\"# + br\"x\"",
                "                + ".trim_end(),
            ),
            ("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)"),
            ("r#type", "r#type"),
            ("'ü' \"\n\" x", "     \n  x"),
        ] {
            assert_eq!(code_of(text).trim_end(), left, "{text}");
        }
    }

    #[test]
    fn tokens_keep_paths_together_with_their_lines() {
        let words: Vec<_> = tokens("use a::b;\n c(d)").into_iter().collect();
        assert_eq!(
            words,
            [
                (1, "use"),
                (1, "a"),
                (1, "::"),
                (1, "b"),
                (1, ";"),
                (2, "c"),
                (2, "("),
                (2, "d"),
                (2, ")")
            ]
        );
    }
}
