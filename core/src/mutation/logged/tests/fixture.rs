//! An entry with every tag, as the version that introduced the tag wrote it.

use crate::model::{
    Action, ActionBatchRequest, ActionRequest, Attempt, AuditAction, AuditResult, FailedState,
    KeyFilter, KeyLimits, NewKey, Nullable, Record, Scope, StatsRecord, Stream, TelemetrySelection,
    Workspace, WorkspacePatch,
};
use crate::mutation::{Caller, Derived, ImportCounts, Span};

use super::samples::telemetry_of;
use super::*;

/// The entry: its head, then each mutation. A line is added with a new tag, and none is ever changed.
const ENTRY: &[&str] = &[
    "010100",
    "011b18726574656e74696f6e5f646179732e73746174733d33300a0101",
    "022206010477732d310001097376632d64c3a9736b0105504f57455201ac02046465736b",
    "030107",
    "040d080101096e6f20616e73776572",
    "051c0d0b496e76616c6964426f6479010477732d320001ac02046465736b",
    "06140477732d31036d2d3101017201ac02046465736b",
    "07060477732d3100",
    "08350201020477732d340000010000000000020753544f50504544c801000000000000000000000102ac020109010201ac02046465736b",
    "093e000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f09066167656e747301808098edc9b9e33f01010701010265750001ac0200",
    "0a0bac020101ac02046465736b",
    "0b140201808098edc9b9e33fac0280e8fdb0c5b9e33f",
    "0c470477732d330103432d33010131010265750103642d3101094155544f5f53544f50010556414c5545010550434f495001046a646f6501074f6e20666972650101ac02046465736b",
    "0d4e020477732d330103432d33010131010265750103642d3101094155544f5f53544f50010556414c5545010550434f495001046a646f6501074f6e20666972650477732d3400000000000000010000",
    "0e0e010477732d3301ac02046465736b",
    "0f3801360102000000100000000000d34ee6c63f0081008000000000200000046a646f6500000477732d318180dac409c0000000002000030132",
    "100b020477732d310477732d32",
    "1108808098edc9b9e33f",
    "120e808098edc9b9e33f010477732d33",
    "130b808098edc9b9e33f01ac02",
    "1402ad02",
    "150f01808098edc9b9e33f0001030100ff",
    "160a07020361777301023466",
    "1705070202722d",
    "181a00010477732d31010101808098edc9b9e33f01ac02046465736b",
    "190d100101640001ac02046465736b",
    "1a1d04020477732d310477732d320001016101ac02010201ac02046465736b",
    "1b090301ac02046465736b",
    "1c02ac02",
    "1d080361777302346614",
];

fn desk() -> Caller {
    Caller {
        key: Some((300, "desk".into())),
    }
}

/// What the entry holds.
fn mutations() -> Vec<Sample> {
    let act = Act {
        request: ActionRequest {
            action: Action::ChangeComputeType,
            workspace_id: Some("ws-1".into()),
            sam_account: None,
            requester: Some("svc-désk".into()),
            compute_type: Some("POWER".into()),
        },
        by: desk(),
    };
    let fail = FailAction {
        id: 8,
        state: FailedState::Unhealthy,
        detail: Some("no answer".into()),
    };
    let refusal = AuditRefusal {
        action: AuditAction::UpdateWorkspace,
        detail: "InvalidBody".into(),
        workspace_id: Some("ws-2".into()),
        requester: None,
        by: desk(),
    };
    let place = PlaceHold {
        id: "ws-1".into(),
        matter: "m-1".into(),
        reason: Some("r".into()),
        by: desk(),
    };
    let release = ReleaseHold {
        id: "ws-1".into(),
        by: Caller::HOST,
    };
    let revoke = RevokeKey {
        id: 300,
        force: true,
        by: desk(),
    };
    let remove = RemoveWorkspace {
        id: Some("ws-3".into()),
        by: desk(),
    };
    let configure = Configure {
        settings: "retention_days.stats=30\n".into(),
        founds: Some(true),
    };
    let mut all = vec![
        Sample::new(configure),
        Sample::new(act),
        Sample::new(CompleteAction(7)),
        Sample::new(fail),
        Sample::new(refusal),
        Sample::new(place),
        Sample::new(release),
        Sample::new(import()),
        Sample::new(issue()),
        Sample::new(revoke),
        Sample::new(TouchKeys(vec![(1, now()), (300, now().plus_seconds(-60))])),
    ];
    all.extend(inventory());
    all.push(Sample::new(remove));
    all.push(Sample::new(telemetry()));
    all.extend(upkeep().map(Sample::new));
    all.extend(dispatched());
    all.push(removal());
    all.push(access());
    all.extend(batches());
    all.push(lease());
    all
}

fn batches() -> [Sample; 3] {
    let mut request = ActionBatchRequest::new(Action::Terminate, ["ws-1", "ws-2"]);
    request.requester = Some("a".into());
    request.at_once = Some(300);
    request.stop_after_failures = Some(2);
    let start = StartActionBatch {
        request,
        by: desk(),
    };
    let stop = StopActionBatch { id: 3, by: desk() };
    [
        Sample::new(start),
        Sample::new(stop),
        Sample::new(Maintenance::AdvanceActionBatch(300)),
    ]
}

fn access() -> Sample {
    Sample::new(AuditAccess {
        action: AuditAction::QueryExport,
        detail: Some("d".into()),
        refused: None,
        by: desk(),
    })
}

fn removal() -> Sample {
    let selection = TelemetrySelection {
        instance_id: Some("ws-1".into()),
        stream: Some(Stream::Activity),
        before: Some(now()),
    };
    Sample::new(RemoveTelemetry::Begin(selection, desk()))
}

fn lease() -> Sample {
    Sample::new(TakeLease {
        provider: "aws".into(),
        instance: "4f".into(),
        seconds: 20,
    })
}

fn dispatched() -> [Sample; 2] {
    let dispatch = DispatchAction {
        id: 7,
        attempt: Attempt {
            instance: Some("4f".into()),
            ..Attempt::new(2, "aws")
        },
    };
    let note = NoteAction {
        id: 7,
        attempt: 2,
        note: "r-".into(),
    };
    [Sample::new(dispatch), Sample::new(note)]
}

fn import() -> ImportWorkspaces {
    let patch = WorkspacePatch {
        id: "ws-4".into(),
        region: Nullable::Null,
        state: "STOPPED".into(),
        ..WorkspacePatch::default()
    };
    ImportWorkspaces {
        records: vec![(1, patch), (200, WorkspacePatch::default())],
        counts: ImportCounts {
            created: 1,
            updated: 2,
            rejected: 300,
        },
        row: Some(9),
        ends: Some(AuditResult::Failed),
        by: desk(),
    }
}

fn issue() -> IssueKey {
    IssueKey {
        key: NewKey {
            name: "agents".into(),
            scopes: [Scope::Read, Scope::Ingest].into_iter().collect(),
            expires: Some(now()),
            limits: KeyLimits {
                actions: Some(vec![AuditAction::RemoveWorkspace]),
                filter: Some(KeyFilter {
                    region: Some("eu".into()),
                    directory_id: None,
                }),
                destructive_per_hour: Some(300),
            },
        },
        hash: std::array::from_fn(|place| u8::try_from(place).unwrap()),
        by: Caller::HOST,
    }
}

fn inventory() -> [Sample; 2] {
    let workspace = Workspace {
        id: "ws-3".into(),
        computer_name: Some("C-3".into()),
        account: Some("1".into()),
        region: Some("eu".into()),
        directory_id: Some("d-1".into()),
        running_mode: Some("AUTO_STOP".into()),
        compute_type_name: Some("VALUE".into()),
        protocol: Some("PCOIP".into()),
        username: Some("jdoe".into()),
        state: Some("On fire".into()),
    };
    let put = PutWorkspace {
        workspace: workspace.clone(),
        cancels_action: true,
        by: desk(),
    };
    let other = Workspace {
        id: "ws-4".into(),
        username: Some(String::new()),
        ..Workspace::default()
    };
    [
        Sample::new(put),
        Sample::new(PutWorkspaces(vec![workspace, other])),
    ]
}

fn telemetry() -> Telemetry {
    let stats = |instance: &str| {
        Record::Stats(Box::new(StatsRecord {
            instance_id: instance.into(),
            username: "jdoe".into(),
            ..StatsRecord::default()
        }))
    };
    telemetry_of(&[
        (stats("ws-1"), now()),
        (stats("ws-2"), now().plus_seconds(1)),
    ])
}

fn upkeep() -> [Maintenance; 6] {
    let span = Span {
        from: None,
        before: Some(vec![1, 0, 255]),
    };
    let activity = Derived::History(Stream::Activity);
    [
        Maintenance::Settle(vec!["ws-1".into(), "ws-2".into()]),
        Maintenance::Sweep(now()),
        Maintenance::DropTerminated(now(), vec!["ws-3".into()]),
        Maintenance::DropAudit(now(), Some(300)),
        Maintenance::DropEvents(301),
        Maintenance::DropDerived(activity, now(), span),
    ]
}

fn fixture() -> Vec<u8> {
    let digits = ENTRY.concat();
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

#[test]
fn entry_of_every_version_is_read_and_written_as_ever() {
    let expected = mutations();
    let written = |sample: &Sample| {
        let body = body_of([sample]);
        let bytes = &body[body_of([]).len()..];
        bytes
            .iter()
            .fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
    };
    let lines: Vec<_> = expected.iter().map(written).collect();
    let head = body_of([]).len();
    assert_eq!(body_of(&expected)[head..], fixture()[head..], "{lines:#?}");
    let read = read(&fixture()).unwrap();
    for ((tag, mutation), expected) in read.iter().zip(&expected) {
        assert_eq!(*tag, expected.tag);
        assert_eq!(format!("{mutation:?}"), format!("{:?}", expected.mutation));
        assert_eq!(bytes_of(&**mutation), expected.bytes);
    }
}

#[test]
fn entry_has_every_tag() {
    let tags: Vec<_> = (0..=u8::MAX).filter_map(Tag::numbered).collect();
    let read = read(&fixture()).unwrap();
    assert_eq!(
        read.into_iter().map(|(tag, _)| tag).collect::<Vec<_>>(),
        tags
    );
}
