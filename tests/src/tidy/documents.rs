//! What the documents claim: the test that holds a decision, the commands of the README.

use deskfleet::routes::ROUTES;

use super::tree::{Source, Tree, extension_of};

const DECISIONS: &str = "core/docs/decisions.md";
/// Characters of a decision without its tests: about two sentences.
const DECISION_MAX: usize = 350;
const README: &str = "README.md";
const CARGO_CONFIG: &str = ".cargo/config.toml";
const ARGUMENTS: &str = "server-adapter/src/cli/args.rs";
/// The commands of cargo itself that the README shows; others are aliases.
const CARGO: [&str; 8] = [
    "run", "test", "bench", "build", "check", "deb", "fuzz", "install",
];

/// Decisions that do not name an existing test function, and other text in the sections of the page. A decision is a paragraph with
/// one bold lead, and its last sentence ends before a new line that has its tests.
#[must_use]
pub fn decisions(tree: &Tree) -> Vec<String> {
    let Some(document) = tree.file(DECISIONS) else {
        return vec![format!("{DECISIONS}: missing")];
    };
    let mut violations = Vec::new();
    let mut found = 0;
    for (line, text) in section_paragraphs(&document.text) {
        if text.starts_with("**") && text.matches("**").count() == 2 {
            found += 1;
            violations.extend(wrong_decision(tree, line, &text));
        } else if !text.starts_with("## ") || text.contains('\n') {
            violations.push(format!("{DECISIONS}:{line}: not one decision"));
        }
    }
    if found == 0 {
        violations.push(format!("{DECISIONS}: no decisions"));
    }
    violations
}

/// Paragraphs after the introduction, each with the number of its first line.
fn section_paragraphs(text: &str) -> Vec<(usize, String)> {
    let mut paragraphs: Vec<(usize, String)> = Vec::new();
    let mut inside = false;
    let sections = (1..).zip(text.lines());
    for (number, line) in sections.skip_while(|(_, line)| !line.starts_with("## ")) {
        match paragraphs.last_mut() {
            Some((_, paragraph)) if inside && !line.is_empty() => {
                paragraph.push('\n');
                paragraph.push_str(line);
            }
            _ if !line.is_empty() => paragraphs.push((number, line.to_owned())),
            _ => {}
        }
        inside = !line.is_empty();
    }
    paragraphs
}

/// Tests that do not exist, or that there are none, and a decision that is long.
fn wrong_decision(tree: &Tree, line: usize, text: &str) -> Vec<String> {
    let named = text
        .rsplit_once(".\n")
        .and_then(|(decision, tests)| Some((decision, test_names(tests)?)));
    let Some((decision, names)) = named else {
        return vec![format!("{DECISIONS}:{line}: names no test")];
    };
    let missing = names.iter().filter(|name| !has_function(tree, name));
    let mut wrong: Vec<_> = missing
        .map(|name| format!("{DECISIONS}:{line}: there is no test `{name}`"))
        .collect();
    if decision.chars().count() > DECISION_MAX {
        wrong.push(format!("{DECISIONS}:{line}: shorten this decision"));
    }
    wrong
}

/// The names of a list in backticks; `None` when anything else is in it.
fn test_names(list: &str) -> Option<Vec<&str>> {
    let names = list.split(',').map(|name| {
        let name = name.trim().strip_prefix('`')?.strip_suffix('`')?;
        (!name.contains('`')).then_some(name)
    });
    names.collect()
}

/// `name` is a function anywhere or a test of the npm package, `area::name` a function in a file `area.rs`.
fn has_function(tree: &Tree, name: &str) -> bool {
    if has_package_test(tree, name) {
        return true;
    }
    let (area, name) = name.split_once("::").unwrap_or(("", name));
    let file_name = format!("/{area}.rs");
    let heads = [format!("fn {name}("), format!("fn {name}<")];
    tree.rust()
        .filter(|file| area.is_empty() || file.path.ends_with(&file_name))
        .any(|file| heads.iter().any(|head| file.code.contains(head)))
}

/// Its tests are calls whose first argument is the name.
fn has_package_test(tree: &Tree, name: &str) -> bool {
    let call = format!("est(\"{name}\", ");
    let tests = tree
        .files
        .iter()
        .filter(|file| file.path.starts_with("wasm/tests/") && file.path.ends_with(".test.mjs"));
    tests.into_iter().any(|file| file.text.contains(&call))
}

/// Commands of the README and the server's pages that name something which does not exist, and those that the README must show.
#[must_use]
pub fn readme_commands(tree: &Tree) -> Vec<String> {
    let Some(readme) = tree.file(README) else {
        return vec![format!("{README}: missing")];
    };
    let commands = shell_lines(&readme.text);
    let mut violations = Vec::new();
    for required in [
        "cargo run --release",
        "cargo suite",
        "cargo test --workspace --all-features",
    ] {
        if !commands.iter().any(|(_, command)| command == required) {
            violations.push(format!("{README}: does not show `{required}`"));
        }
    }
    let others = tree.files.iter().filter(|file| is_page(&file.path));
    for page in std::iter::once(readme).chain(others) {
        for (line, command) in shell_lines(&page.text) {
            for what in missing(tree, &command) {
                violations.push(format!("{}:{line}: `{what}` does not exist", page.path));
            }
        }
    }
    violations
}

/// A page whose commands are checked besides those of the README.
fn is_page(path: &str) -> bool {
    matches!(path, "RELEASING.md" | "server-adapter/README.md")
        || path.starts_with("server-adapter/docs/") && extension_of(path) == Some("md")
}

/// The lines of the ```` ```sh ```` blocks without prompt and comment, continuation lines joined.
fn shell_lines(text: &str) -> Vec<(usize, String)> {
    let mut commands: Vec<(usize, String)> = Vec::new();
    let mut inside = false;
    let mut continued = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```sh";
        } else if inside {
            let line = line.split(" # ").next().unwrap_or(line).trim();
            let (part, more) = line
                .strip_suffix('\\')
                .map_or((line, false), |part| (part, true));
            match commands.last_mut() {
                Some((_, command)) if continued => command.push_str(part),
                _ => commands.push((index + 1, part.to_owned())),
            }
            continued = more;
        }
    }
    commands.retain(|(_, command)| !command.is_empty() && !command.starts_with('#'));
    commands
}

/// What the command names and the repository does not have.
fn missing(tree: &Tree, command: &str) -> Vec<String> {
    let words: Vec<_> = command.split_whitespace().collect();
    let mut missing = Vec::new();
    for pair in words.windows(2) {
        let [option, value] = pair else { continue };
        let found = match *option {
            "--example" => ["core", "server-adapter"].iter().any(|package| {
                let example = format!("{package}/examples/{value}");
                let mut files = [".rs", "/main.rs"].iter();
                files.any(|end| tree.file(&format!("{example}{end}")).is_some())
            }),
            "--bench" => tree.file(&format!("benches/benches/{value}.rs")).is_some(),
            "--test" => tree.file(&format!("tests/tests/{value}.rs")).is_some(),
            "--manifest-path" => tree.file(value).is_some(),
            "-p" | "--package" if words.contains(&"cargo") => {
                in_manifests(tree, &format!("name = \"{value}\""))
            }
            "--features" => in_manifests(tree, &format!("{value} = [")),
            // Elsewhere in a command it is a user, a unit or a file.
            "deskfleet" | "target/release/deskfleet"
                if value.chars().all(|c| c.is_ascii_lowercase() || c == '-')
                    && !value.starts_with('-') =>
            {
                has_subcommand(tree, value)
            }
            _ => true,
        };
        if !found {
            missing.push(format!("{option} {value}"));
        }
    }
    if let ["cargo", subcommand, ..] = words.as_slice()
        && !CARGO.contains(subcommand)
        && !has_alias(tree, subcommand)
    {
        missing.push(format!("cargo {subcommand}"));
    }
    for word in &words {
        if word.starts_with(".ci/") && tree.file(word).is_none() {
            missing.push((*word).to_owned());
        }
        missing.extend(
            path_of(word)
                .filter(|path| !has_route(tree, path))
                .map(str::to_owned),
        );
    }
    missing
}

fn has_alias(tree: &Tree, name: &str) -> bool {
    let defined = format!("\n{name} = \"");
    tree.file(CARGO_CONFIG)
        .is_some_and(|config| config.text.contains(&defined))
}

fn in_manifests(tree: &Tree, text: &str) -> bool {
    let mut manifests = tree
        .files
        .iter()
        .filter(|file| file.path.ends_with("Cargo.toml"));
    manifests.any(|file| file.text.contains(text))
}

/// Whether the arguments of the server have a variant of the name.
fn has_subcommand(tree: &Tree, name: &str) -> bool {
    let (first, others) = name.split_at(1);
    let variant = format!("{}{others}", first.to_uppercase());
    let forms = ["(", " {", ","].map(|after| format!("\n    {variant}{after}"));
    tree.file(ARGUMENTS)
        .is_some_and(|file| forms.iter().any(|form| file.code.contains(form)))
}

/// The path of a URL of the service in a word of a command.
fn path_of(word: &str) -> impl Iterator<Item = &str> {
    let starts = ["/api/", "/operator/"];
    let start = starts.iter().find_map(|start| word.find(start));
    let path = start.and_then(|at| word.get(at..));
    path.and_then(|path| path.split(['?', '"', '\'', '`', ')']).next())
        .into_iter()
}

fn has_route(tree: &Tree, path: &str) -> bool {
    let fits = |pattern: &str| {
        let (mut a, mut b) = (pattern.split('/'), path.split('/'));
        pattern.matches('/').count() == path.matches('/').count()
            && a.all(|segment| {
                b.next()
                    .is_some_and(|given| segment.starts_with('{') || segment == given)
            })
    };
    ROUTES.iter().any(|route| fits(route.path)) || in_server(tree, &format!("\"{path}\""))
}

/// Whether the sources of the server, or of the packages below it, contain `text`.
fn in_server(tree: &Tree, text: &str) -> bool {
    let is_server =
        |file: &&Source| file.path.starts_with("server-adapter/") && file.path.contains("/src/");
    tree.rust()
        .filter(is_server)
        .any(|file| file.text.contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_decision_without_its_test_is_caught() {
        let count = |text: &str| {
            let text = format!("# Decisions\n\nAn introduction.\n\n## Paths\n\n{text}\n");
            decisions(&Tree::planted(&[
                (DECISIONS, &text),
                ("tests/tests/a.rs", "fn paths_are_case_blind() {}"),
                (
                    "wasm/tests/tabs.test.mjs",
                    "everyBrowserTest(\"tab_closes\", async () => {});",
                ),
            ]))
            .len()
        };
        for (tests, violations) in [
            ("`tab_closes`", 0),
            ("`tab_crashes`", 1),
            ("`paths_are_case_blind`", 0),
            ("`no_such_test`", 1),
            ("`no_such_test`, `paths_are_case_blind`", 1),
            ("by reading", 1),
            ("`paths_are_case_blind`, by reading", 1),
            ("`paths_are_case_blind` `tab_closes`", 1),
            ("", 1),
            ("`a::paths_are_case_blind`", 0),
            ("`b::paths_are_case_blind`", 1),
        ] {
            let decision = format!("**Case** is\nignored.\n{tests}");
            assert_eq!(count(&decision), violations, "{decision}");
        }
        assert_eq!(count(""), 1);
    }

    #[test]
    fn planted_text_that_is_not_one_decision_with_tests_is_caught() {
        let count = |text: &str| {
            let text = format!("## Paths\n\n{text}\n");
            let test = ("tests/tests/a.rs", "fn t() {}");
            decisions(&Tree::planted(&[(DECISIONS, &text), test])).len()
        };
        let decision = "**Case** is `a`.\n`t`,\n`t`";
        assert_eq!(count(decision), 0);
        assert_eq!(count(&format!("{decision}\n\n## More\n\n{decision}")), 0);
        assert_eq!(count(&format!("**A** is `t`.\n\n{decision}")), 1);
        assert_eq!(count(&format!("**A** is.\n\n## More\n\n{decision}")), 1);
        assert_eq!(count(&format!("**A** is.\n{decision}\n\n{decision}")), 1);
        assert_eq!(count(&format!("It is.\n\n{decision}")), 1);
        assert_eq!(count(&format!("{decision}\n\n## More\nIt is.")), 1);
        assert_eq!(count(&format!("{decision}\n\n`t`")), 1);
        assert_eq!(count("**Case** is `a` `t`"), 1);
        assert_eq!(count("| a | b | `t` |"), 2);
        let long = "x".repeat(DECISION_MAX);
        assert_eq!(count(&format!("**Case** is {long}.\n`t`")), 1);
    }

    #[test]
    fn a_planted_command_that_does_not_exist_is_caught() {
        let good = "```sh\ncargo run --release\ncargo suite # all of it\ncargo test --workspace --all-features\n```\n";
        let count = |line: &str| {
            let text = format!("{good}```sh\n{line}\n```\n");
            let server = (ARGUMENTS, "enum Command {\n    Import(A),\n}\n");
            let aliases = (CARGO_CONFIG, "[alias]\nsuite = \"run\"\n");
            readme_commands(&Tree::planted(&[
                (README, &text),
                server,
                aliases,
                ("core/examples/a.rs", "fn main() {}"),
            ]))
            .len()
        };
        assert_eq!(count("cargo run --example a"), 0);
        assert_eq!(count("cargo run --example b"), 1);
        assert_eq!(count("cargo suite"), 0);
        assert_eq!(count("cargo sweet"), 1);
        assert_eq!(count("deskfleet import fleet.ndjson"), 0);
        assert_eq!(count("deskfleet export fleet.ndjson"), 1);
        assert_eq!(count("chown deskfleet fleet.redb"), 0);
        assert_eq!(count("curl \"$URL/api/Stats/queue/count\""), 0);
        assert_eq!(
            count("curl \\\n  \"$URL/operator/workspaces/ws-1?x=/y\""),
            0
        );
        assert_eq!(count("curl \"$URL/api/Stats/queue/length\""), 1);
        assert_eq!(count(".ci/walk"), 1);
        assert_eq!(
            readme_commands(&Tree::planted(&[(README, "nothing")])).len(),
            3
        );
    }
}
