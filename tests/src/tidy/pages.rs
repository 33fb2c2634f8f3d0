//! The pages: their links lead somewhere, and the tables of pages name each one of the server.

use super::tree::{Source, Tree, extension_of};

/// The pages of the server. Both tables name each of them.
const PAGES: &str = "server-adapter/docs/";
const TABLES: [&str; 2] = ["README.md", "server-adapter/README.md"];

/// Links of a document to a document or a section that is not there.
#[must_use]
pub fn links(tree: &Tree) -> Vec<String> {
    let documents = tree
        .files
        .iter()
        .filter(|file| extension_of(&file.path) == Some("md"));
    let mut violations = Vec::new();
    for document in documents {
        for (line, target) in targets(&document.text) {
            if !leads_somewhere(tree, document, target) {
                let path = &document.path;
                violations.push(format!("{path}:{line}: `{target}` does not exist"));
            }
        }
    }
    violations
}

/// Pages of the server that a table of pages does not link to.
#[must_use]
pub fn page_tables(tree: &Tree) -> Vec<String> {
    let mut violations = Vec::new();
    for path in TABLES {
        let Some(table) = tree.file(path) else {
            violations.push(format!("{path}: missing"));
            continue;
        };
        let linked: Vec<_> = targets(&table.text)
            .into_iter()
            .map(|(_, target)| resolved(path, target))
            .collect();
        let pages = tree.files.iter().map(|file| file.path.as_str());
        for page in pages.filter(|page| page.starts_with(PAGES) && extension_of(page) == Some("md"))
        {
            if !linked.iter().any(|link| link == page) {
                violations.push(format!("{path}: does not link to {page}"));
            }
        }
    }
    violations
}

/// The targets of the links within the repository, each with its line. Blocks of code are left out.
fn targets(text: &str) -> Vec<(usize, &str)> {
    let mut targets = Vec::new();
    for (line, text) in prose_lines(text) {
        for (at, _) in text.match_indices("](") {
            let target = text.get(at + 2..).and_then(|rest| rest.split(')').next());
            let target = target.filter(|target| !target.contains("://"));
            targets.extend(target.map(|target| (line, target)));
        }
    }
    targets
}

/// The lines outside of blocks of code, each with its number.
fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        inside ^= is_fence;
        !inside && !is_fence
    })
}

fn leads_somewhere(tree: &Tree, document: &Source, target: &str) -> bool {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() {
        document.path.clone()
    } else {
        resolved(&document.path, path)
    };
    let Some(file) = tree.file(&path) else {
        // Pictures and the like are not in the tree.
        return !matches!(extension_of(&path), Some("md" | "rs")) && anchor.is_empty();
    };
    anchor.is_empty()
        || prose_lines(&file.text).any(|(_, line)| anchor_of(line).as_deref() == Some(anchor))
}

/// The path from the root of a target in the document at `from`, without its anchor.
fn resolved(from: &str, target: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    let path = target.split('#').next().unwrap_or(target);
    for part in path.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." | "" => {}
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// The anchor of a heading, as GitHub and docs.rs make it.
fn anchor_of(line: &str) -> Option<String> {
    let heading = line.trim_start_matches('#');
    let text = heading.strip_prefix(' ').filter(|_| heading != line)?;
    let kept = text
        .chars()
        .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
    Some(anchor.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_link_to_nothing_is_caught() {
        let count = |link: &str| {
            let page = format!("# A page\n\n[text]({link})\n");
            let other = "# Other\n\n## `keys` and `/readyz`, both\n\n```sh\n# no heading\n```\n";
            links(&Tree::planted(&[("docs/a.md", &page), ("b.md", other)])).len()
        };
        for good in [
            "../b.md",
            "../b.md#keys-and-readyz-both",
            "#a-page",
            "picture.png",
            "https://example.com/c.md#d",
        ] {
            assert_eq!(count(good), 0, "{good}");
        }
        for bad in [
            "b.md",
            "../c.md",
            "../b.md#key",
            "#no-heading",
            "../b.md#no-heading",
        ] {
            assert_eq!(count(bad), 1, "{bad}");
        }
    }

    #[test]
    fn a_page_that_is_in_no_table_is_caught() {
        let page = ("server-adapter/docs/keys.md", "# Keys");
        let root = "[keys](server-adapter/docs/keys.md#limits)";
        let table = ("server-adapter/README.md", "[keys](docs/keys.md)");
        assert_eq!(
            page_tables(&Tree::planted(&[page, ("README.md", root), table])).len(),
            0
        );
        assert_eq!(
            page_tables(&Tree::planted(&[page, ("README.md", ""), table])).len(),
            1
        );
        assert_eq!(page_tables(&Tree::planted(&[page])).len(), 2);
    }
}
