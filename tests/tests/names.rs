//! Names of users and computers: equivalent spellings are one name wherever names are compared; other names are not.

use std::fs;
use std::path::{Path, PathBuf};

use deskfleet::{
    Action, ActionRequest, ActivityRecord, Engine, EngineBuilder, ErrorKind, HistoryQuery,
    ManualClock, Record, Stream, Timestamp, UserView, Workspace, WorkspaceFilter, WorkspaceList,
    WorkspaceQuery,
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::stats;
use deskfleet_tests::crash::image::{Fate, Platter};
use deskfleet_tests::crash::recording::Recorder;
use proptest::prelude::*;
use redb::{Database, TableDefinition};

/// Letters, each with its spellings.
const LETTERS: [&[&str]; 17] = [
    &["a", "A"],
    &["k", "K", "\u{212a}"],
    &["å", "Å", "\u{212b}", "a\u{30a}", "A\u{30a}"],
    &["s", "S", "ſ"],
    &["ß", "ẞ"],
    &["σ", "Σ", "ς"],
    &["i", "I"],
    &["ı"],
    &["İ", "I\u{307}"],
    &["é", "É", "e\u{301}", "E\u{301}"],
    &["e", "E"],
    &["ẖ", "h\u{331}", "H\u{331}"],
    &["ǆ", "ǅ", "Ǆ"],
    &["ṩ", "Ṩ", "s\u{323}\u{307}", "S\u{307}\u{323}", "ṣ\u{307}"],
    &["д", "Д"],
    &["Ꭰ", "ꭰ"],
    &["-"],
];

/// A letter of a name, and the selector of its spelling.
type Letters = Vec<(usize, u8)>;

fn letters() -> impl Strategy<Value = Letters> {
    proptest::collection::vec((0..LETTERS.len(), any::<u8>()), 1..8)
}

/// One of the spellings of a name.
fn spelled(letters: &Letters, shift: u8) -> String {
    let spelling = |(letter, choice): &(usize, u8)| {
        let spellings = LETTERS[*letter];
        spellings[usize::from(choice.wrapping_mul(shift).wrapping_add(shift)) % spellings.len()]
    };
    letters.iter().map(spelling).collect()
}

fn is_same(one: &Letters, other: &Letters) -> bool {
    one.iter()
        .map(|(letter, _)| letter)
        .eq(other.iter().map(|(letter, _)| letter))
}

fn builder() -> EngineBuilder {
    Engine::builder().clock(ManualClock::new(time())).seed(7)
}

fn time() -> Timestamp {
    NOW.parse().unwrap()
}

fn workspace(id: &str, username: &str, computer: &str) -> Workspace {
    Workspace {
        id: id.into(),
        username: Some(username.into()),
        computer_name: Some(computer.into()),
        region: Some(computer.into()),
        state: Some("AVAILABLE".into()),
        ..Workspace::default()
    }
}

fn activity(instance: &str, username: &str, at: Timestamp) -> Record {
    Record::Activity(Box::new(ActivityRecord {
        username: username.into(),
        instance_id: instance.into(),
        activity: "Logon".into(),
        activity_time: Some(at),
        ..ActivityRecord::default()
    }))
}

fn found(engine: &Engine, filter: &WorkspaceFilter) -> Vec<String> {
    let page = engine
        .workspaces(&WorkspaceQuery {
            list: WorkspaceList::Matching(filter.clone()),
            limit: 10,
            ..WorkspaceQuery::default()
        })
        .unwrap();
    page.workspaces
        .into_iter()
        .map(|workspace| workspace.id)
        .collect()
}

fn owned(user: &UserView) -> Vec<&str> {
    user.workspaces
        .iter()
        .map(|workspace| workspace.id.as_str())
        .collect()
}

/// All reads that find the workspace `id` by `name`, its user, and by `computer`.
fn check_meets(engine: &Engine, id: &str, name: &str, computer: &str) -> Result<(), TestCaseError> {
    let user = engine.user(&format!("CORP\\{name}@corp.example")).unwrap();
    let user = user.ok_or_else(|| TestCaseError::fail(format!("no user {name:?}")))?;
    prop_assert_eq!(owned(&user), [id]);
    prop_assert_eq!(user.litigation_hold, id == "ws-1");
    let seen = user
        .last_stats
        .map(|stats| stats.record.instance_id().to_owned());
    prop_assert_eq!(seen.as_deref(), Some(id));
    prop_assert!(user.last_activity.is_some());
    for filter in [
        WorkspaceFilter {
            username: Some(name.into()),
            ..WorkspaceFilter::default()
        },
        WorkspaceFilter {
            region: Some(computer.into()),
            ..WorkspaceFilter::default()
        },
    ] {
        prop_assert_eq!(found(engine, &filter), [id], "{:?}", filter);
    }
    let parts = WorkspaceFilter {
        q: Some(name.into()),
        ..WorkspaceFilter::default()
    };
    prop_assert!(found(engine, &parts).iter().any(|found| found == id));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn spellings_of_one_name_match_everywhere_and_other_names_do_not(
        one in letters(), other in letters(), shift in 0..u8::MAX, filed in any::<bool>(),
    ) {
        prop_assume!(!is_same(&one, &other));
        let engine = builder().open_in_memory().unwrap();
        let computer = |letters: &Letters, shift| format!("PC{}", spelled(letters, shift));
        for (id, letters) in [("ws-1", &one), ("ws-2", &other)] {
            let user = format!("CORP\\{}", spelled(letters, shift));
            engine.put_workspace(workspace(id, &user, &computer(letters, shift))).unwrap();
            engine.record(stats(id, &spelled(letters, shift.wrapping_add(1)), 1, NOW)).unwrap();
            let by_computer = computer(letters, shift.wrapping_add(2));
            engine.record(activity(&by_computer, &spelled(letters, shift.wrapping_add(3)), time())).unwrap();
        }
        engine.place_hold("ws-1", "Doe v. Corp", None).unwrap();
        if filed {
            engine.file_pending().unwrap();
        }
        for step in 0..4 {
            for (id, letters) in [("ws-1", &one), ("ws-2", &other)] {
                let shift = shift.wrapping_add(step);
                check_meets(&engine, id, &spelled(letters, shift), &computer(letters, shift))?;
            }
        }
        let mut resolved: Vec<_> = engine.activity_24_hours().unwrap().into_iter().map(|view| view.workspace_id).collect();
        resolved.sort();
        prop_assert_eq!(resolved, ["ws-1", "ws-2"].map(|id| Some(id.to_owned())));

        let asked = |id: Option<&str>, letters: &Letters| ActionRequest {
            workspace_id: id.map(str::to_owned),
            sam_account: Some(spelled(letters, shift.wrapping_add(5))),
            ..ActionRequest::new(Action::Reboot, "")
        };
        let refused = engine.act(asked(Some("ws-1"), &other)).unwrap_err();
        prop_assert_eq!(refused.kind(), ErrorKind::WorkSpaceNotFound);
        engine.act(asked(Some("ws-1"), &one)).unwrap();
        engine.act(asked(None, &other)).unwrap();
        // Another spelling replaces the first, in the indexes too.
        engine.override_workspace(workspace("ws-2", &spelled(&other, shift.wrapping_add(6)), "PC-0")).unwrap();
        engine.remove_workspace("ws-2").unwrap();
        prop_assert_eq!(engine.check().unwrap().problems, Vec::<String>::new());
    }
}

/// A file whose keys are made of names as Unicode 1.1.0 folds them, by the mark in it: in lower case, and not composed.
fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/format-5-names.redb")
}

/// What holds for the fixture once its names are folded.
fn check_fixture(engine: &Engine) {
    assert_eq!(engine.check().unwrap().problems, Vec::<String>::new());
    let greek = ["νίκος", "ΝΊΚΟΣ", "Νι\u{301}κοσ"];
    for (names, ids, last_seen) in [
        (greek, ["ws-11"].as_slice(), Some("2026-11-20T08:01:00Z")),
        (
            ["zoë", "Zoe\u{308}", "ZOË"],
            &["ws-12"],
            Some("2026-11-20T08:06:00Z"),
        ),
        (["İnci", "I\u{307}nci", "CORP\\İNCi"], &["ws-13"], None),
        (
            ["İncİ", "I\u{307}ncI\u{307}", "İNCİ"],
            &[],
            Some("2026-11-20T08:04:00Z"),
        ),
        (
            ["jdoe", "JDOE", "jDoe@corp"],
            &["ws-14"],
            Some("2026-11-20T08:05:00Z"),
        ),
    ] {
        for name in names {
            let user = engine
                .user(name)
                .unwrap()
                .unwrap_or_else(|| panic!("no user {name}"));
            assert_eq!(owned(&user), ids, "{name}");
            let seen = user.last_seen.map(|time| time.to_string());
            assert_eq!(seen.as_deref(), last_seen, "{name}");
            assert_eq!(user.last_stats.is_some(), last_seen.is_some(), "{name}");
        }
    }
    assert_eq!(engine.user("inci").unwrap(), None);
    let resolved = &engine.activity_24_hours().unwrap()[0];
    assert_eq!(resolved.workspace_id.as_deref(), Some("ws-12"));
}

#[test]
fn names_folded_by_another_unicode_are_folded_again_on_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fleet.redb");
    fs::copy(fixture(), &path).unwrap();
    assert_eq!(
        Engine::check_file(&path).unwrap().problems,
        Vec::<String>::new()
    );
    assert_eq!(
        fs::read(&path).unwrap(),
        fs::read(fixture()).unwrap(),
        "a check changes nothing"
    );
    for _ in 0..2 {
        let engine = builder().open(&path).unwrap();
        check_fixture(&engine);
        let records = engine
            .history(&HistoryQuery {
                limit: 10,
                ..HistoryQuery::new(Stream::Stats, "ws-11")
            })
            .unwrap();
        assert_eq!(records.records.len(), 2);
        engine.close().unwrap();
        assert_eq!(
            Engine::check_file(&path).unwrap().problems,
            Vec::<String>::new()
        );
    }
}

#[test]
fn check_reports_names_under_keys_of_another_unicode() {
    const META: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("meta");
    const OTHER_FOLDING: [u8; 4] = [1, 1, 0, 1];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fleet.redb");
    let set = |key: &[u8], value: &[u8]| {
        let database = Database::create(&path).unwrap();
        let transaction = database.begin_write().unwrap();
        let old = transaction
            .open_table(META)
            .unwrap()
            .insert(key, value)
            .unwrap()
            .map(|old| old.value().to_vec());
        transaction.commit().unwrap();
        old
    };
    fs::copy(fixture(), &path).unwrap();
    builder().open(&path).unwrap().close().unwrap();
    let folding = set(b"folding", &[]).unwrap();
    // The keys of another Unicode under the mark of this one.
    fs::copy(fixture(), &path).unwrap();
    assert_eq!(set(b"folding", &folding), Some(OTHER_FOLDING.to_vec()));
    let problems = Engine::check_file(&path).unwrap().problems;
    assert!(
        problems
            .iter()
            .any(|problem| problem.contains("workspace ws-11: missing from")),
        "{problems:?}"
    );
    assert!(
        problems
            .iter()
            .any(|problem| problem.contains("its key is not that of")),
        "{problems:?}"
    );
    assert_eq!(set(b"folding", &OTHER_FOLDING), Some(folding));
    assert_eq!(
        Engine::check_file(&path).unwrap().problems,
        Vec::<String>::new()
    );
    check_fixture(&builder().open(&path).unwrap());
}

#[test]
fn crash_while_names_are_folded_leaves_all_or_none_folded() {
    let recorder = Recorder::holding(fs::read(fixture()).unwrap());
    check_fixture(&builder().open_backend(recorder.backend()).unwrap());
    let mut platter = Platter::holding(fs::read(fixture()).unwrap());
    for (cut, io) in recorder.log().iter().enumerate() {
        platter.take(io);
        let cut = u64::try_from(cut).unwrap();
        for fate in [
            Fate::Lost,
            Fate::Kept,
            Fate::Mixed(cut),
            Fate::Torn(cut),
            Fate::Inside(cut),
        ] {
            let image = Recorder::holding(platter.image(fate));
            check_fixture(
                &builder()
                    .open_backend(image.backend())
                    .unwrap_or_else(|error| panic!("{cut} {fate}: {error}")),
            );
        }
    }
    assert!(recorder.len() > 5, "{} operations", recorder.len());
}
