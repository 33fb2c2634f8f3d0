//! Mutations of every kind, about so few things that they meet.

use proptest::array::uniform9;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

use crate::model::{
    Action, ActionRequest, ActivityRecord, Attempt, AuditAction, AuditResult, FailedState,
    FieldValue, Fields, NewKey, Record, RecordRef, RemovedTelemetry, Scopes, State, StatsRecord,
    Stream, TelemetrySelection, Workspace, WorkspacePatch,
};
use crate::mutation::{Caller, Derived, ImportCounts, Span};
use crate::store::telemetry::arrivals::Arrivals;
use crate::timestamp::Timestamp;

use super::super::*;

/// A mutation, and what the log has of it.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) mutation: Box<dyn AnyMutation>,
    pub(super) tag: Tag,
    pub(super) bytes: Vec<u8>,
}

impl Sample {
    pub(super) fn of(mutation: impl Mutation) -> Self {
        let mut encoder = Encoder::default();
        mutation.encode(&mut encoder);
        Self {
            tag: mutation.tag().unwrap(),
            bytes: encoder.finish(),
            mutation: Box::new(mutation),
        }
    }
}

pub(super) fn any_sample() -> impl Strategy<Value = Sample> {
    prop_oneof![lifecycle(), operator(), inventory(), telemetry(), upkeep()]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[a-c]{0,2}", 1 => any::<String>()]
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![9 => "ws-[0-3]", 1 => text()]
}

fn caller() -> impl Strategy<Value = Caller> {
    of((0..3_u64, text())).prop_map(|key| Caller { key })
}

fn time() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        (0..100_i64).prop_map(|second| now().plus_seconds(second)),
        any::<i64>().prop_map(Timestamp::from_ticks),
    ]
}

fn lifecycle() -> BoxedStrategy<Sample> {
    let request = (
        select(Action::ALL),
        of(id()),
        of(text()),
        of(text()),
        of(select(vec!["VALUE", "power", "", "huge"])),
    );
    let act = (request, caller()).prop_map(|(request, by)| {
        let (action, workspace_id, sam_account, requester, compute_type) = request;
        Sample::of(Act {
            request: ActionRequest {
                action,
                workspace_id,
                sam_account,
                requester,
                compute_type: compute_type.map(str::to_owned),
            },
            by,
        })
    });
    let number = || prop_oneof![1..20_u64, any::<u64>()];
    let states = vec![FailedState::Error, FailedState::Unhealthy];
    let fail = (number(), select(states), of(text()))
        .prop_map(|(id, state, detail)| Sample::of(FailAction { id, state, detail }));
    let complete = number().prop_map(|id| Sample::of(CompleteAction(id)));
    let attempt = prop_oneof![0..4_u32, any::<u32>()];
    let by = (attempt, text(), of(text())).prop_map(|(number, provider, instance)| Attempt {
        number,
        provider,
        instance,
    });
    let dispatch =
        (number(), by).prop_map(|(id, attempt)| Sample::of(DispatchAction { id, attempt }));
    let note = (number(), any::<u32>(), text())
        .prop_map(|(id, attempt, note)| Sample::of(NoteAction { id, attempt, note }));
    prop_oneof![act, complete, fail, dispatch, note].boxed()
}

fn operator() -> BoxedStrategy<Sample> {
    let refusal = (
        select(AuditAction::ALL.to_vec()),
        text(),
        of(id()),
        of(text()),
        caller(),
    );
    let refusal = refusal.prop_map(|(action, code, workspace_id, requester, by)| {
        Sample::of(AuditRefusal {
            action,
            detail: code.into(),
            workspace_id,
            requester,
            by,
        })
    });
    let access = (
        select(AuditAction::ALL.to_vec()),
        of(text()),
        of(text()),
        caller(),
    );
    let access = access.prop_map(|(action, detail, refused, by)| {
        Sample::of(AuditAccess {
            action,
            detail,
            refused: refused.map(Into::into),
            by,
        })
    });
    let place = (id(), text(), of(text()), caller()).prop_map(|(id, matter, reason, by)| {
        Sample::of(PlaceHold {
            id,
            matter,
            reason,
            by,
        })
    });
    let release = (id(), caller()).prop_map(|(id, by)| Sample::of(ReleaseHold { id, by }));
    let issue = (any::<[u8; 32]>(), 0..16_u8, text(), of(time()), caller());
    let issue = issue.prop_map(|(hash, scopes, name, expires, by)| {
        let scopes = Scopes::from_bits(scopes);
        Sample::of(IssueKey {
            key: NewKey {
                name,
                scopes,
                expires,
            },
            hash,
            by,
        })
    });
    let revoke = (0..4_u64, any::<bool>(), caller())
        .prop_map(|(id, force, by)| Sample::of(RevokeKey { id, force, by }));
    let touch = vec((0..4_u64, time()), 0..3).prop_map(|uses| Sample::of(TouchKeys(uses)));
    prop_oneof![refusal, access, place, release, issue, revoke, touch].boxed()
}

fn workspace() -> impl Strategy<Value = Workspace> {
    let state = select(State::ALL).prop_map(|state| state.as_str().to_owned());
    let values = uniform9(of(prop_oneof![text(), state]));
    (id(), values).prop_map(|(id, values)| {
        let mut all = [None; Workspace::FIELDS.len()];
        let given = values.iter().map(Option::as_deref);
        for (place, value) in all
            .iter_mut()
            .zip([Some(id.as_str())].into_iter().chain(given))
        {
            *place = value;
        }
        Workspace::of_values(all)
    })
}

fn patch() -> impl Strategy<Value = WorkspacePatch> {
    let values = uniform9(of(of(text())));
    (id(), values).prop_map(|(id, values)| {
        let mut patch = WorkspacePatch::default();
        assert!(patch.set(0, FieldValue::Text(id.into())));
        for (place, value) in values.into_iter().enumerate() {
            let value = value
                .map(|value| value.map_or(FieldValue::Null, |text| FieldValue::Text(text.into())));
            assert!(value.is_none_or(|value| patch.set(place + 1, value)));
        }
        patch
    })
}

fn inventory() -> BoxedStrategy<Sample> {
    let put = (workspace(), any::<bool>(), caller()).prop_map(|(workspace, cancels_action, by)| {
        Sample::of(PutWorkspace {
            workspace,
            cancels_action,
            by,
        })
    });
    let several = vec(workspace(), 0..3).prop_map(|all| Sample::of(PutWorkspaces(all)));
    let remove = (of(id()), caller()).prop_map(|(id, by)| Sample::of(RemoveWorkspace { id, by }));
    let import = (
        vec((any::<u64>(), patch()), 0..3),
        [0..9_u64, 0..9, 0..u64::MAX / 2],
        of(0..20_u64),
        of(select(AuditResult::ALL.to_vec())),
        caller(),
    );
    let import = import.prop_map(|(records, counts, row, ends, by)| {
        let [created, updated, rejected] = counts;
        Sample::of(ImportWorkspaces {
            records,
            counts: ImportCounts {
                created,
                updated,
                rejected,
            },
            row,
            ends,
            by,
        })
    });
    prop_oneof![3 => put, 1 => several, 1 => remove, 2 => import].boxed()
}

fn telemetry() -> BoxedStrategy<Sample> {
    let stats =
        (id(), text(), of(time()), of(any::<i64>())).prop_map(|(id, user, sent, memory)| {
            Record::Stats(Box::new(StatsRecord {
                instance_id: id.into(),
                username: user.into(),
                update_time: sent,
                physical_memory: memory,
                ..StatsRecord::default()
            }))
        });
    let activity = (text(), of(time())).prop_map(|(activity, at)| {
        Record::Activity(Box::new(ActivityRecord {
            activity: activity.into(),
            activity_time: at,
            ..ActivityRecord::default()
        }))
    });
    let records = vec((prop_oneof![stats, activity], time()), 0..6);
    records
        .prop_map(|records| Sample::of(telemetry_of(&records)))
        .boxed()
}

fn selection() -> impl Strategy<Value = TelemetrySelection> {
    let selection = (of(id()), of(select(Stream::ALL.to_vec())), of(time()));
    selection.prop_map(|(instance_id, stream, before)| TelemetrySelection {
        instance_id,
        stream,
        before,
    })
}

fn upkeep() -> BoxedStrategy<Sample> {
    let ids = || vec(id(), 0..3);
    let key = || of(vec(any::<u8>(), 0..4));
    let settle = ids().prop_map(Maintenance::Settle);
    let sweep = time().prop_map(Maintenance::Sweep);
    let terminated = (ids(), time()).prop_map(|(ids, at)| Maintenance::DropTerminated(ids, at));
    let audit = (time(), of(0..20_u64)).prop_map(|(at, after)| Maintenance::DropAudit(at, after));
    let events = (0..20_u64).prop_map(Maintenance::DropEvents);
    let derived = (select(Derived::ALL.to_vec()), time(), key(), key());
    let derived = derived
        .prop_map(|(of, at, from, before)| Maintenance::DropDerived(of, at, Span { from, before }));
    let keys = (of(vec(any::<u8>(), 0..4)), of(vec(any::<u8>(), 0..4)));
    let keys = keys.prop_map(|(from, before)| Span { from, before });
    let removal = prop_oneof![
        (selection(), caller()).prop_map(|(it, by)| RemoveTelemetry::Begin(it, by)),
        (selection(), select(Derived::ALL.to_vec()), keys)
            .prop_map(|(it, of, span)| RemoveTelemetry::Take(it, of, span)),
        (0..9_u64, 0..9_u64, 0..9_u64).prop_map(|(row, removed, kept)| {
            RemoveTelemetry::End(row, RemovedTelemetry { removed, kept })
        }),
    ];
    let others = prop_oneof![1 => settle, 1 => sweep, 1 => terminated, 1 => audit, 1 => events, 3 => derived];
    prop_oneof![8 => others.prop_map(Sample::of), 3 => removal.prop_map(Sample::of)].boxed()
}

pub(super) fn telemetry_of(records: &[(Record, Timestamp)]) -> Telemetry {
    let mut arrivals = Arrivals::default();
    for (record, received_at) in records {
        let filed_at = record.sent_time().unwrap_or(*received_at);
        arrivals.push(&RecordRef::of(record), *received_at, filed_at);
    }
    let telemetry = Telemetry::new(arrivals);
    // Of these, no block has memory for more than its bytes.
    let bytes = Sample::of(telemetry).bytes;
    decode(Tag::Telemetry, &bytes).unwrap()
}

/// 2026-11-20T08:00:00Z
pub(super) fn now() -> Timestamp {
    Timestamp::from_unix_seconds(1_795_161_600)
}
