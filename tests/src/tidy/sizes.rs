//! How long a Rust file may be. How long a function may be is clippy's `too_many_lines`, in `.clippy.toml`.

use super::tree::Source;

/// Most lines of a Rust file.
pub const FILE_LINES_MAX: usize = 600;

/// Rust files that are too long.
#[must_use]
pub fn sizes(files: &[Source]) -> Vec<String> {
    let lines = |file: &Source| file.text.lines().count();
    files
        .iter()
        .filter(|file| file.is_rust() && lines(file) > FILE_LINES_MAX)
        .map(|file| {
            format!(
                "{}: {} lines, at most {FILE_LINES_MAX}",
                file.path,
                lines(file)
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_long_file_is_found() {
        let lines = |count| "// x\n".repeat(count) + "mod a;";
        let planted = |count| sizes(&[Source::planted("a.rs", &lines(count))]).len();
        assert_eq!(planted(FILE_LINES_MAX - 1), 0);
        assert_eq!(planted(FILE_LINES_MAX), 1);
    }
}
