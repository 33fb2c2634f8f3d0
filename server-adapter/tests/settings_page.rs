//! `docs/all-settings.md` has every setting, with its default and the beginning of its text, as `deskfleet config` prints them.
#![cfg(unix)]

use std::fs;

use crate::load::done;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/all-settings.md");
/// Its default follows from the host.
const OF_THE_HOST: &str = "server.slow_reads_max";

#[derive(Debug, PartialEq, Eq)]
struct Setting {
    name: String,
    default: String,
    text: String,
}

/// The settings that `deskfleet config` prints, in its order.
fn printed(output: &str) -> Vec<Setting> {
    let mut settings = Vec::new();
    let (mut section, mut texts) = ("", Vec::<&str>::new());
    for line in output.lines() {
        // Those of a webhook are comments as long as there is none.
        let (is_comment, content) = line
            .strip_prefix("# ")
            .map_or((false, line), |content| (true, content));
        if let Some(named) = content
            .strip_suffix(']')
            .filter(|_| content.starts_with('['))
        {
            section = named.trim_matches(['[', ']']);
        } else if let Some((name, _)) = content
            .strip_suffix(" # default")
            .and_then(|row| row.split_once(" = "))
        {
            let last = texts.pop().unwrap_or_default();
            let (_, default) = last.rsplit_once("; default ").expect("a default");
            let separator = if section.is_empty() { "" } else { "." };
            settings.push(Setting {
                name: format!("{section}{separator}{name}"),
                default: default.to_owned(),
                text: texts.join(" "),
            });
            texts.clear();
        } else if is_comment {
            texts.push(content);
        }
    }
    settings
}

/// The rows of the page, in its order.
fn documented(page: &str) -> Vec<Setting> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let setting = |row: &str| {
        let (name, rest) = row.split_once("` | ").expect("a name");
        let (default, text) = rest.split_once("| ").expect("a default");
        Setting {
            name: name.to_owned(),
            default: default.trim().trim_matches('`').to_owned(),
            text: text.trim_end_matches(" |").to_owned(),
        }
    };
    rows.map(setting).collect()
}

#[test]
fn page_has_every_setting_with_its_default_and_text() {
    let folder = tempfile::TempDir::new().unwrap();
    let printed = printed(&done(folder.path(), "config"));
    let documented = documented(&fs::read_to_string(DOCUMENT).unwrap());
    let names = |settings: &[Setting]| -> Vec<String> {
        settings
            .iter()
            .map(|setting| setting.name.clone())
            .collect()
    };
    assert!(printed.len() > 90, "{}", printed.len());
    assert_eq!(names(&documented), names(&printed));
    for (row, setting) in documented.iter().zip(&printed) {
        let default = if setting.default == "\"none\"" {
            ""
        } else {
            &setting.default
        };
        assert!(row.name == OF_THE_HOST || row.default == default, "{row:?}");
        let is_first = !row.text.is_empty() && setting.text.starts_with(&row.text);
        assert!(is_first, "{row:?}: {}", setting.text);
    }
}
