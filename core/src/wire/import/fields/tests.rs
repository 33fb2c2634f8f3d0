//! Inventories as other tools write them.

use super::*;
use crate::wire::import::{Declared, Gathered, ImportReader};

/// What is read of a text, whole and byte by byte.
fn read(declared: Declared, text: &str) -> Gathered {
    let read = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut gathered = Gathered::default();
        let mut reader = ImportReader::new(declared, 4000);
        for piece in pieces {
            reader.push(piece, &mut gathered).unwrap();
        }
        reader.finish(&mut gathered).unwrap();
        gathered
    };
    let whole = read(&mut std::iter::once(text.as_bytes()));
    let bytes = read(&mut text.as_bytes().chunks(1));
    let shown = |of: &Gathered| {
        let Gathered {
            records,
            errors,
            warnings,
            ..
        } = of;
        format!("{records:?} {errors:?} {warnings:?} {:?}", of.mapping())
    };
    assert_eq!(shown(&bytes), shown(&whole), "{text}");
    whole
}

/// The values of the records, in the order of the fields, without those that are absent.
fn values(gathered: &Gathered) -> Vec<String> {
    let each = gathered.records.iter();
    each.map(|(_, patch)| patch.values().map(Option::unwrap_or_default).join("|"))
        .collect()
}

fn messages(gathered: &Gathered) -> Vec<String> {
    let warnings = gathered.warnings.iter();
    let warnings = warnings.map(|of| format!("{}: {}", of.line, of.message));
    let errors = gathered.errors.first().iter();
    let errors = errors.map(|of| format!("{}: {}", of.line, of.message));
    warnings.chain(errors).collect()
}

const WHOLE: &str = "ws-1|A-1|123456789012|eu-west-1|d-1|AUTO_STOP|POWER|WSP|ana|AVAILABLE";

#[test]
fn record_of_each_tool_is_the_same_desktop() {
    for text in [
        // The command line of AWS.
        r#"{"WorkspaceId":"ws-1","DirectoryId":"d-1","UserName":"ana","IpAddress":"10.0.0.1","State":"AVAILABLE","BundleId":"wsb-1",
            "SubnetId":"subnet-1","ComputerName":"A-1","VolumeEncryptionKey":"arn:aws:kms:x","RootVolumeEncryptionEnabled":true,
            "WorkspaceProperties":{"RunningMode":"AUTO_STOP","RunningModeAutoStopTimeoutInMinutes":60,"RootVolumeSizeGib":80,
            "ComputeTypeName":"POWER","Protocols":["WSP","PCOIP"]},"ModificationStates":[],"Region":"eu-west-1","AccountId":123456789012}"#,
        // PowerShell, with constants as objects.
        r#"{"WorkspaceId":"ws-1","DirectoryId":"d-1","UserName":"ana","State":{"Value":"AVAILABLE"},"ComputerName":"A-1",
            "WorkspaceProperties":{"RunningMode":{"Value":"AUTO_STOP"},"ComputeTypeName":{"value":"POWER"},
            "Protocols":{"value":["WSP"],"Count":1}},"Region":"eu-west-1","AccountId":"123456789012","ErrorCode":null}"#,
        // Steampipe.
        r#"{"workspace_id":"ws-1","directory_id":"d-1","user_name":"ana","state":"AVAILABLE","computer_name":"A-1","title":"ws-1",
            "workspace_properties":{"RunningMode":"AUTO_STOP","ComputeTypeName":"POWER","Protocols":["WSP"]},"region":"eu-west-1",
            "account_id":"123456789012","partition":"aws","akas":["x"],"tags":{"a":"b"}}"#,
        // Other surfaces.
        r#"{"WorkspaceID":"ws-1","Directory-Id":"d-1","User Name":"ana","WorkspaceState":"available","Computer Name":"A-1",
            "Running_Mode":"AutoStop","Compute":"Power","Protocol":"DCV","REGION":"eu-west-1","Account":123456789012.0}"#,
    ] {
        let gathered = read(Declared::Lines, &format!("[{text}]"));
        assert_eq!(values(&gathered), [WHOLE], "{text}");
        assert_eq!(messages(&gathered), [""; 0], "{text}");
    }
    for text in [
        // A CSV of PowerShell, and one that a European spreadsheet has saved.
        "#TYPE Selected.Amazon.WorkSpaces.Model.Workspace\r\n\
         \"WorkspaceId\",\"UserName\",\"ComputerName\",\"State\",\"DirectoryId\",\"WorkspaceProperties.RunningMode\",\"WorkspaceProperties.ComputeTypeName\",\
         \"WorkspaceProperties.Protocols\",\"Region\",\"AccountId\"\r\n\
         \"ws-1\",\"ana\",\"A-1\",\"AVAILABLE\",\"d-1\",\"AUTO_STOP\",\"POWER\",\"['WSP', 'PCOIP']\",\"eu-west-1\",\"123456789012\"\r\n",
        "sep=;\nWorkspace ID ; User Name;Computer Name;Workspace State;Directory ID;Running Mode;Compute;Protocol;Region;Account;;\n\
         ws-1 ;ana; A-1;Available;d-1;AutoStop;Power;wsp;eu-west-1;123456789012;;\n;;;;;;;;;;;\n",
        "workspace_id\tuser_name\tcomputer_name\tstate\tdirectory_id\tworkspace_properties\tregion\taccount_id\n\
         ws-1\tana\tA-1\tAVAILABLE\td-1\t\"{\"\"RunningMode\"\":\"\"AUTO_STOP\"\",\"\"ComputeTypeName\"\":\"\"POWER\"\",\"\"Protocols\"\":[\"\"WSP\"\"]}\"\
         \teu-west-1\t123456789012\n",
    ] {
        let gathered = read(Declared::Csv, text);
        assert_eq!(values(&gathered), [WHOLE], "{text}");
        assert_eq!(messages(&gathered), [""; 0], "{text}");
    }
    let report = "WorkspaceID,Billable Hours,Usage Threshold,Change Reported,Bundle Type,Initial Mode,New Mode,Username,Computer Name,DirectoryId,\
        WorkspaceTerminated,Tags,ReportDate,\nws-1,20,100,No change,STANDARD,AUTO_STOP,AUTO_STOP,ana,A-1,d-1,,\"['a', 'b']\",2026-11-01\n";
    let gathered = read(Declared::Csv, report);
    assert_eq!(
        values(&gathered),
        ["ws-1|A-1|||d-1|AUTO_STOP|STANDARD||ana|"]
    );
    assert_eq!(messages(&gathered), [""; 0]);
}

#[test]
fn mapping_names_what_was_read_and_what_was_not() {
    let text = r#"[{"WorkspaceId":"ws-1","colour":1,"WorkspaceProperties":{"ComputeTypeName":null,"Size":2}},{"State":"STOPPED","WorkspaceId":"ws-2"}]"#;
    let gathered = read(Declared::Lines, text);
    let mapping = gathered.mapping();
    let mapping: Vec<_> = mapping
        .iter()
        .map(|of| (of.from.as_str(), of.to.as_deref().unwrap_or("-")))
        .collect();
    let expected = [
        ("WorkspaceId", "workSpId"),
        ("colour", "-"),
        ("WorkspaceProperties.ComputeTypeName", "computeTypeName"),
        ("WorkspaceProperties.Size", "-"),
        ("State", "state"),
    ];
    assert_eq!(mapping, expected);
    assert_eq!(gathered.records[0].1.compute_type_name, Nullable::Null);
    let warnings = [
        "1: unknown member colour",
        "1: unknown member WorkspaceProperties.Size",
    ];
    assert_eq!(messages(&gathered), warnings);
}

#[test]
fn field_that_is_given_twice_with_different_values_is_an_error_with_both_names() {
    let differ =
        |names: &str| format!("{names}, and have different values: leave one of them out.");
    for (text, message) in [
        (
            r#"{"workSpId":"ws-1","WorkspaceId":"ws-2"}"#,
            differ("1: $.WorkspaceId: workSpId and WorkspaceId both mean workSpId"),
        ),
        (
            r#"{"workSpId":"ws-1","ComputeType":"POWER","WorkspaceProperties":{"ComputeTypeName":"VALUE"}}"#,
            differ(
                "1: $.WorkspaceProperties.ComputeTypeName: ComputeType and WorkspaceProperties.ComputeTypeName both mean computeTypeName",
            ),
        ),
        (
            r#"{"workSpId":"ws-1","account":null,"AccountId":"1"}"#,
            differ("1: $.AccountId: account and AccountId both mean account"),
        ),
        (
            r#"{"workSpId":"ws-1","State":"STOPPED","state":"STOPPED","STATE":"STOPPED"}"#,
            "1: $.state: the property is given twice.".to_owned(),
        ),
    ] {
        let gathered = read(Declared::Lines, &format!("[{text}]"));
        assert_eq!(messages(&gathered), [message], "{text}");
        assert_eq!(gathered.records.len(), 0);
    }
    let text = "WorkspaceId,State,WorkspaceState,workSpId\nws-1,STOPPED,Stopped,\nws-2,STOPPED,ERROR,ws-2\n";
    let gathered = read(Declared::Csv, text);
    assert_eq!(values(&gathered), ["ws-1|||||||||STOPPED"]);
    let message = differ("3: State and WorkspaceState both mean state");
    assert_eq!(messages(&gathered), [message]);
    let same = r#"[{"workSpId":"ws-1","WorkspaceId":"ws-1","RunningMode":"AutoStop","WorkspaceProperties":{"RunningMode":"AUTO_STOP"}}]"#;
    assert_eq!(
        values(&read(Declared::Lines, same)),
        ["ws-1|||||AUTO_STOP||||"]
    );
}

#[test]
fn value_that_no_field_takes_is_an_error_that_says_what_is_expected() {
    for (member, message) in [
        (
            r#""State":5"#,
            "$.State: invalid type: integer `5`, expected a string or null.",
        ),
        (
            r#""ComputeType":true"#,
            "$.ComputeType: invalid type: boolean `true`, expected a string or null.",
        ),
        (
            r#""UserName":[1]"#,
            "$.UserName: invalid type: sequence, expected a string or null.",
        ),
        (
            r#""UserName":{"a":1}"#,
            "$.UserName: an object without a member Value, expected a string or null.",
        ),
        (
            r#""UserName":{"Value":{"Value":"a"}}"#,
            "$.UserName: invalid type: map, expected a string or null.",
        ),
        (
            r#""UserName":1.5"#,
            "$.UserName: invalid type: floating point `1.5`, expected a string or null.",
        ),
    ] {
        let gathered = read(
            Declared::Lines,
            &format!(r#"[{{"WorkspaceId":"ws-1",{member}}}]"#),
        );
        assert_eq!(messages(&gathered), [format!("1: {message}")], "{member}");
    }
    for (member, value) in [
        (r#""UserName":4711"#, "ws-1||||||||4711|"),
        (r#""UserName":true"#, "ws-1||||||||true|"),
        (r#""Protocols":[]"#, "ws-1|||||||||"),
        (r#""Protocols":["PCoIP","WSP"]"#, "ws-1|||||||PCOIP||"),
        (r#""Protocols":[{"Value":"DCV"},5]"#, "ws-1|||||||WSP||"),
        (r#""WorkspaceProperties":null"#, "ws-1|||||||||"),
        (
            r#""WorkspaceProperties":[{"RunningMode":"MANUAL"}]"#,
            "ws-1|||||||||",
        ),
    ] {
        let gathered = read(
            Declared::Lines,
            &format!(r#"[{{"WorkspaceId":"ws-1",{member}}}]"#),
        );
        assert_eq!(values(&gathered), [value], "{member}");
    }
}

#[test]
fn record_that_is_nested_too_deep_is_an_error_in_every_member() {
    for name in ["Protocols", "Value", "WorkspaceProperties", "UserName", "x"] {
        for level in [r#"[{"Value":"#, "[", r#"{"Value":"#, r#"{"Protocols":"#] {
            let nested = level.repeat(10_000);
            let text = format!(r#"{{"workSpId":"ws-1","{name}":{nested}"#);
            let read = read_json(text.as_bytes(), &mut Gathered::default().names_of(1));
            let found = read.unwrap_err().0.found;
            let is_type = found.starts_with("invalid type: ");
            let is_typed = name == "UserName" || level == r#"{"Value":"#;
            assert!(
                found == "nested deeper than 32 levels" || is_type && is_typed,
                "{name} {level}: {found}"
            );
        }
    }
    let (begin, end) = (r#"[{"Value":"#.repeat(15), "}]".repeat(15));
    let text = format!(r#"[{{"workSpId":"ws-1","Protocols":{begin}"WSP"{end}}}]"#);
    assert_eq!(values(&read(Declared::Lines, &text)), ["ws-1|||||||WSP||"]);
}

#[test]
fn unknown_value_of_each_field_is_kept_with_one_warning() {
    let record = r#"{"workSpId":"ws-1","state":"On fire","runningMode":"AUTO_STOPP","computeTypeName":"HUGE","protocol":"RDP"}"#;
    let gathered = read(Declared::Lines, &format!("[{record},{record}]"));
    let kept = "ws-1|||||AUTO_STOPP|HUGE|RDP||On fire";
    assert_eq!(values(&gathered), [kept, kept]);
    let expected = [
        "1: unknown state On fire; it is kept as it is",
        "1: unknown runningMode AUTO_STOPP; did you mean AUTO_STOP?",
        "1: unknown computeTypeName HUGE; it is kept as it is",
        "1: unknown protocol RDP; it is kept as it is",
    ];
    assert_eq!(messages(&gathered), expected);
}

#[test]
fn rounded_account_is_kept_with_a_warning_that_says_how_to_export_it() {
    for text in [
        "workSpId,account\nws-1,1.1E+11\nws-2,1.1E+11\n",
        "workSpId;account\nws-1;1,1E+11\n",
        "[{\"workSpId\":\"ws-1\",\"AccountId\":1.1E+11}]",
    ] {
        let gathered = read(Declared::Nothing, text);
        assert!(values(&gathered)[0].contains("1E+11"), "{text}");
        let [message] = &messages(&gathered)[..] else {
            panic!("{text}")
        };
        assert!(
            message
                .ends_with("format that column as text, and export it again with all its digits"),
            "{message}"
        );
    }
}

#[test]
fn csv_as_people_have_it_makes_no_desktop_of_what_is_none() {
    let text = "\u{feff}workSpId,username,region\r\n ws-1 , ana ,\r\n,,,,\r\n   \r\nworkSpId,username,region\r\nws-2,\"b, c \",'=x\r\n,,\r\n\
        \u{feff}region,WORKSPID\r\neu-west-1,ws-3\r\n#TYPE X,\r\n";
    let gathered = read(Declared::Nothing, text);
    assert_eq!(
        values(&gathered),
        [
            "ws-1||||||||ana|",
            "ws-2|||=x|||||b, c |",
            "ws-3|||eu-west-1||||||"
        ]
    );
    assert_eq!(messages(&gathered), [""; 0]);
    let lines: Vec<u64> = gathered.records.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 6, 9]);
    // What PowerShell writes in place of an object.
    let text = "WorkspaceId,Protocols,WorkspaceProperties\nws-1,System.Collections.Generic.List`1[System.String],Amazon.WorkSpaces.Model.WorkspaceProperties\n";
    let gathered = read(Declared::Csv, text);
    assert_eq!(values(&gathered), ["ws-1|||||||||"]);
    let found = messages(&gathered);
    let names = ["Protocols", "WorkspaceProperties"];
    assert_eq!(found.len(), names.len());
    for (message, name) in found.iter().zip(names) {
        let begin = format!("2: {name} holds the name of a type");
        assert!(message.starts_with(&begin), "{message}");
    }
}

#[test]
fn header_in_another_spelling_makes_no_desktop() {
    let text = "WorkspaceId,State\nws-1,AVAILABLE\nworkSpId,state\nWorkspace ID,State\nws-2,STOPPED\nUserName,workspace_id\nana,ws-3\n";
    let gathered = read(Declared::Csv, text);
    let expected = [
        "ws-1|||||||||AVAILABLE",
        "ws-2|||||||||STOPPED",
        "ws-3||||||||ana|",
    ];
    assert_eq!(values(&gathered), expected);
    // A desktop may be called as a field is, and a user as the id.
    let gathered = read(
        Declared::Csv,
        "WorkspaceId,UserName\nState,ana\nws-2,workspace_id\n",
    );
    assert_eq!(
        values(&gathered),
        ["State||||||||ana|", "ws-2||||||||workspace_id|"]
    );
}

#[test]
fn properties_that_are_a_text_are_read_or_warned_of() {
    let own = "ws-1|||||AUTO_STOP|STANDARD|WSP||";
    let text = |properties: &str| {
        let quoted = properties.replace('"', "\"\"");
        let csv = format!("WorkspaceId,WorkspaceProperties\nws-1,\"{quoted}\"\n");
        let member = serde_json::to_string(properties).unwrap();
        let json = format!(r#"[{{"WorkspaceId":"ws-1","WorkspaceProperties":{member}}}]"#);
        [read(Declared::Csv, &csv), read(Declared::Json, &json)]
    };
    for properties in [
        "@{RunningMode=AUTO_STOP; ComputeTypeName=STANDARD; Protocols=WSP; RootVolumeSizeGib=80;}",
        "@{ComputeTypeName=Standard;RunningMode=AutoStop;Protocols={WSP, PCOIP}}",
        "{'RunningMode': 'AUTO_STOP', 'RootVolumeSizeGib': 80, 'ComputeTypeName': 'STANDARD', 'Protocols': ['WSP', 'PCOIP']}",
        r#"{"RunningMode":"AUTO_STOP","ComputeTypeName":"STANDARD","Protocols":["WSP"]}"#,
    ] {
        for gathered in text(properties) {
            assert_eq!(values(&gathered), [own], "{properties}");
            assert_eq!(messages(&gathered), [""; 0], "{properties}");
        }
    }
    for properties in ["{RunningMode}", "map[a:b]", "{\"a\":", "80"] {
        for gathered in text(properties) {
            assert_eq!(values(&gathered), ["ws-1|||||||||"], "{properties}");
            let [warning] = &messages(&gathered)[..] else {
                panic!("{properties}")
            };
            let expected =
                "WorkspaceProperties cannot be read, and is ignored: it must be an object in JSON";
            assert!(warning.ends_with(expected), "{warning}");
            let mapping = gathered.mapping();
            assert_eq!(
                (&*mapping[1].from, &mapping[1].to),
                ("WorkspaceProperties", &None)
            );
        }
    }
    let list = "System.Collections.Generic.List`1[System.String]";
    let gathered = text(&format!("@{{RunningMode=MANUAL; Protocols={list}}}"));
    for gathered in gathered {
        assert_eq!(values(&gathered), ["ws-1|||||MANUAL||||"]);
        assert!(
            messages(&gathered)[0]
                .contains("WorkspaceProperties.Protocols holds the name of a type")
        );
    }
    let json = format!(r#"[{{"workSpId":"ws-1","Protocols":"{list}"}}]"#);
    let gathered = read(Declared::Json, &json);
    assert_eq!(values(&gathered), ["ws-1|||||||||"]);
    assert!(messages(&gathered)[0].starts_with("1: Protocols holds the name of a type"));
}

#[test]
fn empty_text_is_null() {
    let record = r#"[{"workSpId":"ws-1","State":"","RunningMode":{"Value":""},"UserName":"","Protocols":[""]}]"#;
    let gathered = read(Declared::Json, record);
    assert_eq!(messages(&gathered), [""; 0]);
    let patch = &gathered.records[0].1;
    assert_eq!(patch.state, Nullable::Null);
    assert_eq!(patch.running_mode, Nullable::Null);
    assert_eq!(patch.username, Nullable::Null);
}

#[test]
fn column_of_a_report_stands_for_a_field_that_the_record_lacks() {
    let text = "WorkspaceID,New Mode,WorkspaceTerminated,RunningMode,State\n\
        ws-1,ALWAYS_ON,Yes,,\nws-2,ALWAYS_ON,Yes,MANUAL,STOPPED\nws-3,,No,,\nws-4,No change,,,\n";
    let gathered = read(Declared::Csv, text);
    let expected = [
        "ws-1|||||ALWAYS_ON||||TERMINATED",
        "ws-2|||||MANUAL||||STOPPED",
        "ws-3|||||||||",
        "ws-4|||||||||",
    ];
    assert_eq!(values(&gathered), expected);
    assert_eq!(messages(&gathered), [""; 0]);
    let json = r#"[{"workspaceTerminated":"Yes","newMode":"AUTO_STOP","workspaceID":"ws-1"},{"newMode":1,"workspaceID":"ws-2"}]"#;
    let gathered = read(Declared::Json, json);
    assert_eq!(
        values(&gathered),
        ["ws-1|||||AUTO_STOP||||TERMINATED", "ws-2|||||||||"]
    );
}

#[test]
fn line_that_sums_up_a_report_is_skipped_and_no_desktop_is() {
    let text = "WorkspaceId,Billable Hours,Cost,UserName\n\
        ws-1,20,3,ana\nTotal,20,\"$3.00\",\ngrand total:,\"1,020.5\",,\nTotal,,,\nTotal,20,,ana\nTotal,n/a,,\nws-total,20,,\n";
    let gathered = read(Declared::Csv, text);
    let found = values(&gathered);
    let ids: Vec<_> = found
        .iter()
        .filter_map(|values| values.split('|').next())
        .collect();
    assert_eq!(ids, ["ws-1", "Total", "Total", "Total", "ws-total"]);
    let warnings = [
        "1: unknown column Cost",
        "3: the line of Total sums up others, and is skipped",
        "4: the line of grand total: sums up others, and is skipped",
    ];
    assert_eq!(messages(&gathered), warnings);
}

#[test]
fn text_after_white_space_is_read_as_without() {
    for space in ["", " ", "\r\n    "] {
        let text = format!(
            r#"{{"WorkspaceId":{space}"ws-1","WorkspaceProperties":{space}"@{{RunningMode=AUTO_STOP}}","WorkspaceTerminated":{space}"Yes"}}"#
        );
        let gathered = read(Declared::Json, &text);
        assert_eq!(values(&gathered), ["ws-1|||||AUTO_STOP||||TERMINATED"]);
    }
}

#[test]
fn record_without_an_id_is_an_error_that_names_what_may_be_it() {
    for (record, end) in [
        (r#"{"State":"AVAILABLE","Id":"ws-1"}"#, "; is it Id?"),
        (r#"{"workspace":"ws-1"}"#, "; is it workspace?"),
        (r#"{"DirectoryId":"d-1","colour":"ws-1"}"#, "."),
    ] {
        let gathered = read(Declared::Lines, record);
        let message = messages(&gathered).pop();
        let expected = format!("1: $: no member is workSpId or WorkspaceId{end}");
        assert_eq!(message, Some(expected), "{record}");
    }
    let names =
        r#"[{"workSpId":"ws-1","name":"a","_ctx":{},"sp_ctx":{},"sp_connection_name":"aws"}]"#;
    assert_eq!(messages(&read(Declared::Json, names)), [""; 0]);
}
