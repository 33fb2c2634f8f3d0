//! The files of the console against each other: what the page loads beforehand, and that nothing is loaded from elsewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/console");

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(FOLDER).join(file)).unwrap()
}

/// Every file of the console, from its folder.
fn files() -> Vec<String> {
    fn find(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap().path();
            if entry.is_dir() {
                find(&entry, found);
            } else {
                found.push(entry);
            }
        }
    }
    let mut found = vec![Path::new(FOLDER).join("index.html")];
    find(&Path::new(FOLDER).join("app"), &mut found);
    let relative = found.iter().map(|file| file.strip_prefix(FOLDER).unwrap());
    relative
        .map(|file| file.to_str().unwrap().to_owned())
        .collect()
}

fn is_of(file: &str, extension: &str) -> bool {
    Path::new(file)
        .extension()
        .is_some_and(|its| its == extension)
}

/// The lines of a script or a style that are not within a comment of their own.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| {
        let line = line.trim_start();
        !["//", "/*", "*", "<!--"]
            .iter()
            .any(|mark| line.starts_with(mark))
    })
}

/// What stands in quotes after each `mark`.
fn quoted_after<'t>(line: &'t str, mark: &str) -> Vec<&'t str> {
    let rest = line.split(mark).skip(1);
    rest.filter_map(|rest| rest.strip_prefix('"')?.split('"').next())
        .collect()
}

/// The files that `file` imports when it is loaded, as its text has them.
fn imports(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in code(text) {
        // `import … from "./a.js"`, also at the end of one over several lines; `export … from`; `import "./a.js"`.
        let named = ["from ", "from"]
            .iter()
            .flat_map(|mark| quoted_after(line, mark));
        let whole = if line.starts_with("import ") {
            quoted_after(line, "import ")
        } else {
            Vec::new()
        };
        found.extend(named.chain(whole).filter(|target| target.starts_with('.')));
    }
    found
}

/// The file that `target` names in `file`.
fn resolved(file: &str, target: &str) -> String {
    let mut names: Vec<&str> = file.split('/').collect();
    names.pop();
    for name in target.split('/') {
        match name {
            "." => {}
            ".." => drop(names.pop().unwrap()),
            name => names.push(name),
        }
    }
    names.join("/")
}

#[test]
fn imports_are_found_in_every_form() {
    let text = "import { a } from \"./a.js\";\nimport {\n    b,\n} from \"../b.js\";\nexport { c } from \"./c.js\";\nimport \"./d.js\";\n\
                export{e}from\"./e.js\";\n// import \"./x.js\"\n * @import { X } from \"./x.js\"\nconst f = () => import(\"./x.js\");\n";
    assert_eq!(
        imports(text),
        ["./a.js", "../b.js", "./c.js", "./d.js", "./e.js"]
    );
    assert_eq!(resolved("app/parts/a.js", "../b.js"), "app/b.js");
}

/// The modules that `app/main.js` imports, directly or through others.
fn imported_at_the_start() -> BTreeSet<String> {
    let mut loaded = BTreeSet::new();
    let mut pending = vec!["app/main.js".to_owned()];
    while let Some(file) = pending.pop() {
        for target in imports(&read(&file)) {
            let target = resolved(&file, target);
            if loaded.insert(target.clone()) {
                pending.push(target);
            }
        }
    }
    loaded
}

/// A module that the page does not name is found only when those that import it have come, one round trip after another. A page that
/// names others is written anew.
#[test]
fn page_preloads_exactly_the_modules_that_main_imports() {
    const LINK: &str = "<link rel=\"modulepreload\"";
    const SCRIPT: &str = "        <script type=\"module\" src=\"app/main.js\"></script>\n";
    let page = read("index.html");
    let links = imported_at_the_start().into_iter();
    let links = links.map(|file| format!("        {LINK} href=\"{file}\" />\n"));
    let expected: String = links.chain([SCRIPT.to_owned()]).collect();
    let others = page.split_inclusive('\n');
    let others: String = others.filter(|line| !line.contains(LINK)).collect();
    assert!(others.contains(SCRIPT));
    let expected = others.replace(SCRIPT, &expected);
    let is_current = page == expected;
    if !is_current {
        fs::write(Path::new(FOLDER).join("index.html"), expected).unwrap();
    }
    assert!(
        is_current,
        "index.html was out of date and is written anew: commit it"
    );
}

#[test]
fn files_name_no_other_origin() {
    for file in files() {
        if is_of(&file, "png") {
            continue;
        }
        let text = read(&file);
        for line in code(&text) {
            // The names of namespaces, which nothing loads.
            let line = line.replace("http://www.w3.org/", "");
            for forbidden in ["http://", "https://", "\"//", "url(//"] {
                assert!(!line.contains(forbidden), "{file}: {line}");
            }
        }
    }
}

/// The server has them below `/`, the npm package in its own folder.
#[test]
fn addresses_are_relative() {
    for file in files() {
        if is_of(&file, "html") || is_of(&file, "css") {
            let text = read(&file);
            for absolute in ["href=\"/", "src=\"/", "url(/", "url(\"/"] {
                assert!(!text.contains(absolute), "{file}: {absolute}");
            }
        }
    }
}
