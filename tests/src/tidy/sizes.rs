//! How long a Rust file and a function may be.

use super::code::is_word;
use super::tree::Source;

/// Most lines of a Rust file.
pub const FILE_LINES_MAX: usize = 400;
/// Most lines of a function, from its `fn` to its closing brace.
pub const FUNCTION_LINES_MAX: usize = 70;

/// Rust files and functions that are too long.
#[must_use]
pub fn sizes(files: &[Source]) -> Vec<String> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let lines = file.text.lines().count();
        if lines > FILE_LINES_MAX {
            violations.push(format!(
                "{}: {lines} lines, at most {FILE_LINES_MAX}",
                file.path
            ));
        }
        for (line, length) in functions(&file.code) {
            if length > FUNCTION_LINES_MAX {
                violations.push(format!(
                    "{}:{line}: a function of {length} lines, at most {FUNCTION_LINES_MAX}",
                    file.path
                ));
            }
        }
    }
    violations
}

/// First line and length of every function with a body.
fn functions(code: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = code
        .get(from..)
        .and_then(|rest| rest.find("fn "))
        .map(|at| at + from)
    {
        from = at + 3;
        let (before, after) = code.split_at(at);
        if before.ends_with(is_word) {
            continue;
        }
        if let Some(length) = body_lines(after) {
            found.push((before.matches('\n').count() + 1, length));
        }
    }
    found
}

/// Lines from the start of `text`, a function, to its closing brace; `None` when it has no body.
fn body_lines(text: &str) -> Option<usize> {
    let mut brackets = 0_i32;
    let mut braces = 0_i32;
    let mut lines = 1;
    for c in text.chars() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets -= 1,
            ';' if braces == 0 && brackets == 0 => return None,
            '{' => braces += 1,
            '}' if braces <= 1 => return (braces == 1).then_some(lines),
            '}' => braces -= 1,
            '\n' => lines += 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_long_file_and_a_planted_long_function_are_caught() {
        let long_file = "// x\n".repeat(FILE_LINES_MAX + 1) + "mod a;";
        assert_eq!(sizes(&[Source::planted("a.rs", &long_file)]).len(), 1);
        let body = "    x();\n".repeat(FUNCTION_LINES_MAX - 1);
        let planted = format!("impl A {{\nfn long(\n) {{\n{body}}}\nfn short() {{}}\n}}");
        let violations = sizes(&[Source::planted("a.rs", &planted)]);
        assert_eq!(violations, ["a.rs:2: a function of 72 lines, at most 70"]);
    }

    #[test]
    fn functions_are_measured_to_their_closing_brace() {
        let code = "trait T { fn a(&self) -> [u8; 4]; }\nfn b(f: fn(u8)) {\n if x { }\n}\nmacro { fn $n() {} }";
        assert_eq!(functions(code), [(2, 3), (5, 1)]);
    }
}
