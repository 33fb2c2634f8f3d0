//! Mutations of every kind, about so few things that they meet.

use std::borrow::Cow;

use proptest::array::uniform9;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use crate::model::{
    ActivityRecord, FieldValue, Fields, Record, RecordRef, Scopes, State, StatsRecord, Workspace,
    WorkspacePatch,
};
use crate::mutation::ImportCounts;
use crate::store::telemetry::arrivals::Arrivals;
use crate::timestamp::Timestamp;

use super::super::*;

/// A mutation, and what the log has of it.
#[derive(Debug)]
pub(in crate::mutation::logged) struct Sample {
    pub(super) mutation: Box<dyn AnyMutation>,
    pub(super) tag: Tag,
    pub(super) bytes: Vec<u8>,
}

impl Sample {
    pub(in crate::mutation::logged) fn new(mutation: impl Mutation) -> Self {
        let mut encoder = Encoder::default();
        mutation.encode(&mut encoder);
        Self {
            tag: mutation.tag().unwrap(),
            bytes: encoder.finish(),
            mutation: Box::new(mutation),
        }
    }
}

/// A mutation with any tag, and as often one of those without which the others find nothing.
pub(super) fn any_sample() -> impl Strategy<Value = Sample> {
    let tags: Vec<_> = (0..=u8::MAX).filter_map(Tag::numbered).collect();
    let basic = vec![
        Tag::PutWorkspace,
        Tag::PutWorkspaces,
        Tag::Act,
        Tag::Telemetry,
    ];
    prop_oneof![select(tags), select(basic)].prop_perturb(|tag, random| {
        tag.sampled(&mut TestRunner::new_with_rng(
            ProptestConfig::default(),
            random,
        ))
    })
}

/// A type of which tests draw values.
pub(in crate::mutation::logged) trait Sampled: Sized {
    fn sampled(random: &mut TestRunner) -> Self;
}

/// One of the values.
pub(in crate::mutation::logged) fn one_of<T: Copy + fmt::Debug>(
    all: &[T],
    random: &mut TestRunner,
) -> T {
    drawn(random, &(0..all.len()).prop_map(|place| all[place]))
}

fn drawn<S: Strategy>(random: &mut TestRunner, from: &S) -> S::Value {
    from.new_tree(random).unwrap().current()
}

/// Draws the values of types by strategies.
macro_rules! sampled {
    ($($name:ty: $strategy:expr,)+) => {
        $(impl Sampled for $name {
            fn sampled(random: &mut TestRunner) -> Self {
                drawn(random, &$strategy)
            }
        })+
    };
}

sampled! {
    bool: any::<bool>(),
    u8: any::<u8>(),
    u32: prop_oneof![0..4_u32, any::<u32>()],
    u64: prop_oneof![0..20_u64, any::<u64>()],
    [u8; 32]: any::<[u8; 32]>(),
    Timestamp: time(),
    String: prop_oneof![5 => id(), 1 => select(vec!["VALUE", "power", "", "huge"]).prop_map_into(), 3 => text()],
    Cow<'static, str>: text().prop_map_into(),
    Scopes: (0..16_u8).prop_map(Scopes::from_bits),
    ImportCounts: [0..9_u64, 0..9, 0..u64::MAX / 2].prop_map(|[created, updated, rejected]| ImportCounts {
        created,
        updated,
        rejected,
    }),
    Workspace: workspace(),
    WorkspacePatch: patch(),
    Box<Arrivals>: telemetry().prop_map(|telemetry| telemetry.0),
}

impl<T: Sampled> Sampled for Option<T> {
    fn sampled(random: &mut TestRunner) -> Self {
        drawn(random, &any::<bool>()).then(|| T::sampled(random))
    }
}

impl<T: Sampled> Sampled for Vec<T> {
    fn sampled(random: &mut TestRunner) -> Self {
        let length = drawn(random, &(0..4));
        (0..length).map(|_| T::sampled(random)).collect()
    }
}

impl<A: Sampled, B: Sampled> Sampled for (A, B) {
    fn sampled(random: &mut TestRunner) -> Self {
        (A::sampled(random), B::sampled(random))
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[a-c]{0,2}", 1 => any::<String>()]
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![9 => "ws-[0-3]", 1 => text()]
}

fn time() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        (0..100_i64).prop_map(|second| now().plus_seconds(second)),
        any::<i64>().prop_map(Timestamp::from_ticks),
    ]
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

fn telemetry() -> impl Strategy<Value = Telemetry> {
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
    records.prop_map(|records| telemetry_of(&records))
}

pub(super) fn telemetry_of(records: &[(Record, Timestamp)]) -> Telemetry {
    let mut arrivals = Arrivals::default();
    for (record, received_at) in records {
        let filed_at = record.sent_time().unwrap_or(*received_at);
        arrivals.push(&RecordRef::from_record(record), *received_at, filed_at);
    }
    let telemetry = Telemetry::new(arrivals);
    // Of these, no block has memory for more than its bytes.
    let bytes = Sample::new(telemetry).bytes;
    decode(Tag::Telemetry, &bytes).unwrap()
}

/// 2026-11-20T08:00:00Z
pub(super) fn now() -> Timestamp {
    Timestamp::from_unix_seconds(1_795_161_600)
}
