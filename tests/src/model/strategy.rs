//! How runs are generated.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any, prop_oneof};

use super::op::{
    Desk, Doing, Instance, Jump, Kind, Limit, Mode, NewDesk, Nth, Op, Person, Post, Process,
    Rights, Rows, Sent, StateName, Telemetry, Which,
};

fn choice<T: std::fmt::Debug>(make: fn(u8) -> T, count: u8) -> impl Strategy<Value = T> {
    (0..count).prop_map(make)
}

/// States from which an action can start come more often than the many others.
fn state() -> impl Strategy<Value = StateName> {
    prop_oneof![3 => (0..4_u8).prop_map(StateName), 1 => choice(StateName, StateName::COUNT)]
}

fn new_desk() -> impl Strategy<Value = NewDesk> {
    let parts = (
        choice(Desk, Desk::COUNT),
        option::of(choice(Person, Person::COUNT)),
        state(),
        choice(Mode, Mode::COUNT),
        choice(Kind, Kind::COUNT),
    );
    parts.prop_map(|(desk, person, state, mode, kind)| NewDesk {
        desk,
        person,
        state,
        mode,
        kind,
    })
}

fn post() -> impl Strategy<Value = Post> {
    let parts = (
        choice(Telemetry, Telemetry::COUNT),
        choice(Instance, Instance::COUNT),
        option::of(choice(Person, Person::COUNT)),
        choice(Sent, Sent::COUNT),
        any::<bool>(),
    );
    parts.prop_map(|(stream, instance, person, sent, number)| Post {
        stream,
        instance,
        person,
        sent,
        number,
    })
}

/// Posts of few kinds, so that retries are common: of one instance, with believable and unbelievable times.
fn likely_retry() -> impl Strategy<Value = Post> {
    let sent = prop_oneof![Just(Sent(1)), Just(Sent(9)), Just(Sent(11)), Just(Sent(12))];
    (choice(Telemetry, Telemetry::COUNT), sent).prop_map(|(stream, sent)| Post {
        stream,
        instance: Instance(2),
        person: Some(Person(3)),
        sent,
        number: true,
    })
}

fn act() -> impl Strategy<Value = Op> {
    let on_desk = (
        choice(Doing, Doing::COUNT),
        choice(Desk, Desk::COUNT),
        choice(Kind, Kind::COUNT),
    )
        .prop_map(|(doing, desk, kind)| Op::Act(doing, Some(desk), None, kind));
    let any_target = (
        choice(Doing, Doing::COUNT),
        option::of(choice(Desk, Desk::COUNT)),
        option::of(choice(Person, Person::COUNT)),
        choice(Kind, Kind::COUNT),
    );
    prop_oneof![3 => on_desk, 2 => any_target.prop_map(|(doing, desk, person, kind)| Op::Act(doing, desk, person, kind))]
}

/// One operation.
pub fn op() -> impl Strategy<Value = Op> {
    let writes = prop_oneof![
        4 => new_desk().prop_map(Op::Put),
        2 => new_desk().prop_map(Op::Override),
        1 => vec(new_desk(), 0..4).prop_map(Op::Import),
        1 => vec(new_desk(), 0..4).prop_map(Op::PutMany),
        1 => choice(Desk, Desk::COUNT).prop_map(Op::Remove),
        2 => choice(Desk, Desk::COUNT).prop_map(Op::Hold),
        1 => choice(Desk, Desk::COUNT).prop_map(Op::Release),
        8 => act(),
        1 => choice(Nth, 8).prop_map(Op::Complete),
        1 => (choice(Nth, 8), any::<bool>()).prop_map(|(nth, why)| Op::Fail(nth, why)),
        5 => (choice(Nth, 8), choice(Process, Process::COUNT), choice(Which, Which::COUNT))
            .prop_map(|(nth, process, which)| Op::Dispatch(nth, process, which)),
        2 => (choice(Nth, 8), any::<bool>()).prop_map(|(nth, late)| Op::Note(nth, late)),
        1 => Just(Op::CompleteUnknown),
        5 => choice(Jump, Jump::COUNT).prop_map(Op::Clock),
        4 => post().prop_map(Op::Record),
        4 => likely_retry().prop_map(Op::Record),
        2 => vec(post(), 0..6).prop_map(Op::RecordAll),
        2 => Just(Op::File),
        1 => Just(Op::Maintain),
        1 => Just(Op::Reopen),
        1 => (choice(Rights, Rights::COUNT), choice(Sent, Sent::COUNT)).prop_map(|(rights, sent)| Op::IssueKey(rights, sent)),
        1 => (choice(Nth, 8), any::<bool>()).prop_map(|(nth, force)| Op::RevokeKey(nth, force)),
    ];
    let history = (
        choice(Telemetry, Telemetry::COUNT),
        choice(Instance, Instance::COUNT),
        choice(Sent, Sent::COUNT),
        choice(Sent, Sent::COUNT),
        choice(Limit, Limit::COUNT),
    );
    let reads = prop_oneof![
        1 => choice(Limit, Limit::COUNT).prop_map(Op::Walk),
        1 => (option::of(state()), option::of(choice(Person, Person::COUNT))).prop_map(|(state, person)| Op::Find(state, person)),
        1 => choice(Person, Person::COUNT).prop_map(Op::User),
        1 => Just(Op::Day),
        1 => choice(Rows, Rows::COUNT).prop_map(Op::Audit),
        2 => history.prop_map(|(stream, instance, from, to, limit)| Op::History(stream, instance, from, to, limit)),
    ];
    prop_oneof![4 => writes, 1 => reads]
}

/// A run.
pub fn ops() -> impl Strategy<Value = Vec<Op>> {
    vec(op(), 1..60)
}
