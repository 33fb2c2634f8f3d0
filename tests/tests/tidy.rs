//! The repository as text: each check of `deskfleet_tests::tidy`, run on this repository.

use std::path::Path;
use std::sync::LazyLock;

use deskfleet_tests::tidy::{self, Tree};

#[expect(
    clippy::panic,
    reason = "only this test reads the tree; nothing can go on without it"
)]
static TREE: LazyLock<Tree> = LazyLock::new(|| {
    Tree::of_this_repository()
        .unwrap_or_else(|error| panic!("the repository cannot be read: {error}"))
});

fn assert_none(violations: &[String]) {
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

#[test]
fn core_imports_only_from_lower_floors() {
    assert_none(&tidy::floors(&TREE.files, tidy::FLOORS));
}

#[test]
fn no_files_import_each_other() {
    let circles = tidy::circles(&TREE.files, tidy::CIRCLE_FREE, tidy::KNOWN_CIRCLES);
    assert_none(&circles);
}

#[test]
fn confined_crates_stay_in_their_places() {
    assert_none(&tidy::confined(&TREE.files, tidy::CONFINED));
}

#[test]
fn core_uses_no_host_resources() {
    assert_none(&tidy::forbidden(&TREE.files, tidy::FORBIDDEN, tidy::EXEMPT));
}

#[test]
fn rust_files_are_short() {
    assert_none(&tidy::sizes(&TREE.files));
}

#[test]
fn file_names_say_what_is_inside() {
    assert_none(&tidy::file_names(&TREE.files));
}

#[test]
fn nothing_is_marked_unfinished() {
    assert_none(&tidy::unfinished(&TREE.files));
}

#[test]
fn the_root_holds_only_what_is_on_the_list() {
    assert_none(&tidy::top_level(&TREE.top_level));
}

#[test]
fn every_suite_is_in_a_program() {
    assert_none(&tidy::suites(&TREE.files));
}

#[test]
fn no_required_file_is_missing() {
    assert_none(&tidy::required_files(&TREE));
}

#[test]
fn every_decision_names_the_test_that_holds_it() {
    assert_none(&tidy::decisions(&TREE));
}

#[test]
fn every_command_of_the_readme_exists() {
    assert_none(&tidy::readme_commands(&TREE));
}

#[test]
fn every_link_of_a_document_leads_somewhere() {
    assert_none(&tidy::links(&TREE));
}

#[test]
fn every_page_of_the_server_is_in_the_tables() {
    assert_none(&tidy::page_tables(&TREE));
}

#[test]
fn every_checklist_names_files_and_names_that_exist() {
    assert_none(&tidy::checklists(&TREE));
}

#[test]
fn prose_uses_standard_words() {
    assert_none(&tidy::language(&TREE.files, tidy::UNCHECKED));
}

#[test]
fn names_say_what_they_do() {
    assert_none(&tidy::names(&TREE.files));
}

#[test]
fn dependencies_have_allowed_licences_and_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let rules = std::fs::read_to_string(root.join(".ci/deny.toml")).expect("the rules");
    for manifest in ["Cargo.toml", "fuzz/Cargo.toml"] {
        let found = tidy::dependencies(&root.join(manifest), &rules).expect("the dependencies");
        assert_none(&found);
    }
}
