//! The checklists of `core/docs/extending.md`: what they name exists.

use super::code::is_word;
use super::tree::{Source, Tree};

const CHECKLISTS: &str = "core/docs/extending.md";
/// The sections that the page must have.
const SECTIONS: [&str; 5] = [
    "## An endpoint",
    "## A table",
    "## A telemetry stream",
    "## A storage backend",
    "## An output format",
];

/// Files that a checklist names and that do not exist, names that are in no file of their item, and missing sections.
#[must_use]
pub fn checklists(tree: &Tree) -> Vec<String> {
    let Some(page) = tree.file(CHECKLISTS) else {
        return vec![format!("{CHECKLISTS}: missing")];
    };
    let mut violations: Vec<_> = SECTIONS
        .iter()
        .filter(|section| !page.text.lines().any(|line| line == **section))
        .map(|section| format!("{CHECKLISTS}: `{section}` is missing"))
        .collect();
    for (line, item) in items(&page.text) {
        for problem in problems(tree, &item) {
            violations.push(format!("{CHECKLISTS}:{line}: {problem}"));
        }
    }
    violations
}

/// The items of numbered lists, with the line on which each begins. Indented lines continue an item.
fn items(text: &str) -> Vec<(usize, String)> {
    let mut items: Vec<(usize, String)> = Vec::new();
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        let starts = line.starts_with(|c: char| c.is_ascii_digit()) && line.contains(". ");
        if starts {
            items.push((index + 1, line.to_owned()));
        } else if let Some((_, item)) = items.last_mut().filter(|_| inside && line.starts_with(' '))
        {
            item.push('\n');
            item.push_str(line);
        }
        inside = starts || (inside && line.starts_with(' '));
    }
    items
}

fn problems(tree: &Tree, item: &str) -> Vec<String> {
    let quoted = || item.split('`').skip(1).step_by(2);
    let named: Vec<_> = quoted().filter(|text| is_path(text)).collect();
    let in_named = |file: &&Source| named.iter().any(|path| file.path.starts_with(path));
    let files: Vec<_> = tree.files.iter().filter(in_named).collect();
    let has_word = |name: &str| {
        let mut words = files
            .iter()
            .flat_map(|file| file.text.split(|c| !is_word(c)));
        words.any(|word| word == name)
    };
    let exists = |path: &str| {
        tree.files
            .iter()
            .any(|file| file.path == path || (path.ends_with('/') && file.path.starts_with(path)))
    };
    let mut problems = Vec::new();
    for path in named.iter().filter(|path| !exists(path)) {
        problems.push(format!("`{path}` does not exist"));
    }
    if named.is_empty() {
        problems.push("names no file".to_owned());
    }
    for name in quoted().filter(|text| text.chars().all(is_word)) {
        if !has_word(name) {
            problems.push(format!("`{name}` is in none of the files of its item"));
        }
    }
    problems
}

/// A path from the root: `README.md`, `core/src/`.
fn is_path(text: &str) -> bool {
    !text.contains(' ') && (text.contains('/') || text.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(item: &str) -> usize {
        let text = format!("{}\n\n{item}\n", SECTIONS.join("\n"));
        let tree = Tree {
            files: [
                (CHECKLISTS, text.as_str()),
                ("core/src/a.rs", "enum Endpoint {}"),
            ]
            .map(|(path, text)| Source::planted(path, text))
            .into(),
            top_level: Vec::new(),
        };
        checklists(&tree).len()
    }

    #[test]
    fn item_whose_files_and_names_exist_passes() {
        assert_eq!(
            violations("1. Add it to `Endpoint`\n   in `core/src/a.rs`."),
            0
        );
        assert_eq!(violations("1. Add it to `Endpoint` in `core/src/`."), 0);
    }

    #[test]
    fn item_with_a_missing_file_or_name_is_reported() {
        assert_eq!(violations("1. See `core/src/b.rs`."), 1);
        assert_eq!(violations("1. See `core/tests/`."), 1);
        assert_eq!(
            violations("1. Add it to `Endpoints`\n   in `core/src/a.rs`."),
            1
        );
        assert_eq!(violations("1. Add it to the list."), 1);
    }

    #[test]
    fn page_without_a_section_is_reported() {
        let tree = Tree {
            files: vec![Source::planted(CHECKLISTS, "# Extending\n")],
            top_level: Vec::new(),
        };
        assert_eq!(checklists(&tree).len(), SECTIONS.len());
    }
}
