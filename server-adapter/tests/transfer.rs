//! `import` and `export`: of a file, and through a running server.
#![cfg(unix)]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Command, Output};

use crate::load::{Client, Place, Served, command, done};
use serde_json::{Map, Value};

/// More than two pages, with every kind of value and with texts that need quotes.
fn fleet() -> String {
    let mut lines = String::new();
    for number in 0..1234 {
        let odd = match number % 4 {
            0 => r#","username":"o, \"ne\"\n two ","region":null"#,
            1 => r#","username":"Zoë","state":"available","runningMode":"AUTO_STOP""#,
            2 => {
                r#","computeTypeName":"STANDARD","protocol":"WSP","account":"12","directoryId":"d-1""#
            }
            _ => "",
        };
        writeln!(
            lines,
            r#"{{"workSpId":"ws-{number:05}","computerName":"PC-{number}"{odd}}}"#
        )
        .unwrap();
    }
    lines
}

/// A place with a running server, a file `key`, and a file `fleet`.
fn served() -> (Place, Served) {
    let place = Place::new();
    fs::write(place.file("key"), format!("{}\n", place.admin)).unwrap();
    fs::write(place.file("fleet"), fleet()).unwrap();
    let served = place.serve();
    (place, served)
}

fn through(place: &Place, served: &Served, line: &str) -> Command {
    let line = format!("{line} --url http://{}", served.address);
    command(place.path(), &line)
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn refused_body_is_named_by_the_command_with_its_place() {
    let (place, served) = served();
    let line = "keys issue --name n --scope admin --destructive-per-hour 2 --key-file key";
    let refused = through(&place, &served, line).output().unwrap();
    let message = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{message}");
    let reason = " $.scopes: The field scopes must not have admin beside limits";
    assert!(message.contains(reason), "{message}");
}

#[test]
fn exported_fleet_is_imported_again_unchanged() {
    let (place, served) = served();
    let imported = through(&place, &served, "import fleet --key-file key").output();
    let imported = imported.unwrap();
    assert!(imported.status.success(), "{}", text(&imported.stderr));
    assert_eq!(json(&imported)["upserted"], 1234);
    let exported = through(&place, &served, "export workspaces --key-file key").output();
    let exported = exported.unwrap();
    assert!(text(&exported.stderr).contains("1234 rows"));
    let exported = text(&exported.stdout);
    assert_eq!(exported.lines().count(), 1234);
    drop(served);

    let by_file = done(place.path(), "export workspaces");
    assert_eq!(by_file, exported, "of the file and of the server");
    done(place.path(), "export workspaces --output copy.ndjson");
    let import = command(place.path(), "import copy.ndjson --create --data copy.redb").output();
    let import = import.unwrap();
    assert!(import.status.success());
    assert_eq!(text(&import.stderr), "1234 upserted, 0 rejected\n");
    let again = done(place.path(), "export workspaces --data copy.redb");
    assert_eq!(again, exported);
}

#[test]
fn csv_export_has_a_column_for_each_field() {
    let (place, served) = served();
    let import = through(&place, &served, "import fleet --key-file key").output();
    assert!(import.unwrap().status.success());
    let line = "export workspaces --format csv --output fleet.csv --key-file key";
    let export = through(&place, &served, line).output().unwrap();
    assert!(export.status.success() && export.stdout.is_empty());
    let csv = fs::read_to_string(place.file("fleet.csv")).unwrap();
    let mut lines = csv.split("\r\n");
    assert_eq!(
        lines.next().unwrap(),
        "workSpId,computerName,account,region,directoryId,runningMode,computeTypeName,protocol,username,state"
    );
    assert_eq!(
        lines.next().unwrap(),
        "ws-00000,PC-0,,,,,,,\"o, \"\"ne\"\"\n two \","
    );
    assert_eq!(
        lines.next().unwrap(),
        "ws-00001,PC-1,,,,AUTO_STOP,,,Zoë,AVAILABLE"
    );
    assert_eq!(lines.filter(|line| !line.is_empty()).count(), 1232);
    drop(served);

    let import = command(place.path(), "import fleet.csv --create --data copy.redb").output();
    assert_eq!(text(&import.unwrap().stderr), "1234 upserted, 0 rejected\n");
    let copy = done(place.path(), "export workspaces --data copy.redb");
    assert_eq!(copy, done(place.path(), "export workspaces"));
}

#[test]
fn audit_of_a_file_is_that_of_its_server_with_a_column_for_each_member() {
    let (place, served) = served();
    let mut client = Client::connect(served.address, &place.admin).unwrap();
    for number in 0..3 {
        let action = format!("POST /api/Actions/StartWorkSpace?workSpaceId=ws-{number}");
        assert_eq!(client.ask(&action, "").unwrap().0, 404);
    }
    let export = through(&place, &served, "export audit --key-file key")
        .output()
        .unwrap();
    let of_server = text(&export.stdout).to_owned();
    assert!(text(&export.stderr).contains("4 rows"));
    drop((client, served));

    // An export through the server is a row itself; one of a file is not.
    done(place.path(), "export audit");
    let of_file = done(place.path(), "export audit");
    let (export, before) = of_file.split_once('\n').unwrap();
    assert_eq!(before, of_server);
    let export: Value = serde_json::from_str(export).unwrap();
    assert_eq!(export["action"], "QueryExport");
    assert_eq!(export["detail"], "/operator/audit limit=500");
    let newest: Map<String, Value> =
        serde_json::from_str(of_server.lines().next().unwrap()).unwrap();
    let csv = done(place.path(), "export audit --format csv");
    let mut columns: Vec<_> = csv.lines().next().unwrap().split(',').collect();
    columns.sort_unstable();
    assert_eq!(columns, newest.keys().collect::<Vec<_>>());
    let row: Vec<_> = csv.lines().nth(2).unwrap().split(',').collect();
    assert_eq!(row.first(), Some(&"4"));
    assert_eq!(
        row.get(2..6),
        Some(&["admin", "StartWorkSpace", "ws-2", ""][..])
    );
    assert_eq!(
        row.get(11..),
        Some(&["WorkSpaceNotFound", "admin", "1"][..])
    );
}

#[test]
fn import_through_a_server_reports_rejected_lines_once_and_in_order() {
    let (place, served) = served();
    let mut lines = "{\"workSpId\":\"ws-1\"}\nnonsense\n".to_owned();
    lines.push_str(&"{\"workSpId\":7}\n".repeat(200));
    fs::write(place.file("bad"), lines).unwrap();
    let mut import = through(&place, &served, "import bad");
    let output = import.env("DESKFLEET_KEY", &place.admin).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let result = json(&output);
    assert_eq!(
        (&result["upserted"], &result["rejected"]),
        (&1.into(), &201.into())
    );
    let message = text(&output.stderr);
    let named: Vec<u32> = message
        .lines()
        .filter_map(|line| {
            line.strip_prefix("line ")?
                .split([':', ','])
                .next()?
                .parse()
                .ok()
        })
        .collect();
    assert_eq!(named, (2..=101).collect::<Vec<_>>());
    assert!(message.contains("100 of 201 errors shown"), "{message}");
}

/// A server whose pages all name the same page as the next one.
fn endless_list() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let page = r#"{"workSpaces":[],"nextToken":"again","hasMore":true}"#;
    let length = page.len();
    let response = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{page}"
    );
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = BufReader::new(stream.try_clone().unwrap()).lines();
            while head.next().is_some_and(|line| !line.unwrap().is_empty()) {}
            stream.write_all(response.as_bytes()).unwrap();
        }
    });
    address
}

#[test]
fn export_of_a_list_that_repeats_its_token_fails() {
    let place = Place::new();
    fs::write(place.file("key"), "dfk_x\n").unwrap();
    let address = endless_list();
    let line = format!("export workspaces --key-file key --url http://{address}");
    let output = command(place.path(), &line).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr);
    assert!(message.contains("the list does not end"), "{message}");
}

#[test]
fn refused_key_ends_import_and_export_with_its_reason() {
    let (place, served) = served();
    let wrong = "dfk_wrong";
    fs::write(
        place.file("large"),
        "{\"workSpId\":\"ws-1\"}\n".repeat(400_000),
    )
    .unwrap();
    fs::write(place.file("kept"), "an earlier export").unwrap();
    for line in ["import large", "export workspaces --output kept"] {
        let output = through(&place, &served, line)
            .env("DESKFLEET_KEY", wrong)
            .output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}");
        let message = text(&output.stderr);
        assert!(message.contains("401 InvalidApiKey"), "{line}: {message}");
        assert!(
            message.contains("--key-file") && !message.contains(wrong),
            "{message}"
        );
    }
    let kept = fs::read_to_string(place.file("kept")).unwrap();
    assert_eq!(kept, "an earlier export");
    let output = through(&place, &served, "export workspaces")
        .output()
        .unwrap();
    assert!(text(&output.stderr).contains("needs an API key"));
}

#[test]
fn output_replaces_no_store_key_or_link_and_only_when_it_is_whole() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let (place, served) = served();
    fs::create_dir(place.file("folder")).unwrap();
    fs::write(place.file("kept"), "an earlier export").unwrap();
    symlink(place.file("kept"), place.file("link")).unwrap();
    symlink(place.file("deskfleet.redb"), place.file("kept.part")).unwrap();
    for (output, message) in [
        ("deskfleet.redb", "is a store"),
        ("./key", "is the file of the key"),
        ("link", "is a symbolic link"),
        ("kept", "kept.part is a symbolic link"),
        ("folder", "is no regular file"),
        ("missing/file", "cannot write to missing/file"),
    ] {
        let line = format!("export workspaces --key-file key --output {output}");
        let refused = through(&place, &served, &line).output().unwrap();
        assert_eq!(refused.status.code(), Some(1), "{output}");
        assert!(text(&refused.stderr).contains(message), "{output}");
    }
    let key = fs::read_to_string(place.file("key")).unwrap();
    assert_eq!(key.trim(), place.admin);
    let kept = || fs::read_to_string(place.file("kept")).unwrap();
    assert_eq!(kept(), "an earlier export");
    drop(served);
    done(place.path(), "check");

    fs::remove_file(place.file("kept.part")).unwrap();
    fs::write(place.file("kept.part"), "of an export that was killed").unwrap();
    let empty = "export workspaces --output kept --data missing.redb";
    let failed = command(place.path(), empty).output().unwrap();
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(kept(), "an earlier export");
    assert!(!place.file("kept.part").exists());
    done(place.path(), "export workspaces --output kept");
    assert_eq!(kept(), "");
    let mode = fs::metadata(place.file("kept")).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    assert!(!place.file("kept.part").exists());
}

#[test]
fn export_whose_reader_ends_early_ends_without_an_error() {
    let (place, served) = served();
    let import = through(&place, &served, "import fleet --key-file key").output();
    assert!(import.unwrap().status.success());
    let mut export = through(&place, &served, "export workspaces --key-file key");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = export.stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
}

#[test]
fn wrong_combinations_of_options_exit_with_2() {
    let place = Place::new();
    for line in [
        "import f --url http://127.0.0.1:1 --data d",
        "import f --url http://127.0.0.1:1 --create",
        "import f --url https://127.0.0.1:1 --client-cert c",
        "import f --url 127.0.0.1:8080",
        "import f --key-file k",
        "export",
        "export keys",
        "export workspaces --format xml",
    ] {
        let output = command(place.path(), line).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}");
    }
}

#[test]
fn dry_run_prints_the_mapping_and_writes_nothing() {
    let described = r#"{"Workspaces":[{"WorkspaceId":"ws-1","UserName":"ana","IpAddress":"10.0.0.1","WorkspaceProperties":{"RunningMode":"AUTO_STOP"}},{"State":"STOPPED"}]}"#;
    let lines = "\
        WorkspaceId -> workSpId\n\
        UserName -> username\n\
        IpAddress -> ignored\n\
        WorkspaceProperties.RunningMode -> runningMode\n\
        State -> state\n\
        line 2, column 1: $: no member is workSpId or WorkspaceId.\n\
        1 would be upserted, 1 rejected; nothing was written\n";
    let (place, served) = served();
    fs::write(place.file("desktops"), described).unwrap();
    let mut import = through(&place, &served, "import desktops --dry-run");
    let output = import.env("DESKFLEET_KEY", &place.admin).output().unwrap();
    let message = text(&output.stderr);
    assert!(message.starts_with(lines), "{message}");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(json(&output)["mapping"][0]["to"], "workSpId");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("desktops"), described).unwrap();
    let checked = || {
        let output = command(folder.path(), "import desktops --dry-run").output();
        text(&output.unwrap().stderr).to_owned()
    };
    let message = checked();
    assert!(message.contains(lines), "{message}");
    assert!(!folder.path().join("deskfleet.redb").exists());
    done(folder.path(), "keys issue --name a --scope admin --create");
    let message = checked();
    assert!(message.contains(lines), "{message}");
    let listed = done(folder.path(), "export workspaces");
    assert_eq!(listed, "");
}

#[test]
fn import_makes_a_store_only_when_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("fleet"), fleet()).unwrap();
    let output = command(folder.path(), "import fleet").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("--create"));
    assert!(!folder.path().join("deskfleet.redb").exists());
    done(folder.path(), "import fleet --create");
    done(folder.path(), "import fleet");
}
