//! What a rule is: its members with their bounds, how it is read, and which requests it meets.

use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;

use crate::api::routes::ROUTES;
use crate::error::{EngineError, ErrorKind, Result};
use crate::locks::lock;
use crate::nearest::nearest;
use crate::wire::problem::Code;

/// The operation of a rule that meets every request, also one to a path without an operation.
pub const ANY_OPERATION: &str = "*";
/// Most rules of a double.
const RULES_MAX: usize = 1000;

/// What a member of a rule takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberKind {
    /// An operation id of the OpenAPI document, or [`ANY_OPERATION`].
    Operation,
    /// The name of a [`StorageFault`].
    Storage,
    /// A [`Code`].
    Code,
    /// A whole number from the first to the second.
    Count(u64, u64),
}

/// A member of a rule: the same in Rust, in JavaScript and in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: MemberKind,
    /// Its meaning, in one sentence.
    pub text: &'static str,
}

const OPERATION: &str = "operation";
const STORAGE: &str = "storage";
const CODE: &str = "code";
const STATUS: &str = "status";
const TIMES: &str = "times";
const AFTER: &str = "after";
const LATENCY: &str = "latency";

/// The members of a rule. This table is the declaration that all surfaces share.
pub const MEMBERS: &[Member] = &[
    Member {
        name: OPERATION,
        kind: MemberKind::Operation,
        text: "Operation id of the requests that the rule meets, or `*` for every request.",
    },
    Member {
        name: STORAGE,
        kind: MemberKind::Storage,
        text: "How the storage fails, in place of `operation`.",
    },
    Member {
        name: CODE,
        kind: MemberKind::Code,
        text: "Code of the refusal; its status and its body are those of the engine.",
    },
    Member {
        name: STATUS,
        kind: MemberKind::Count(400, 599),
        text: "Status of an empty response, as a proxy sends it; beside `code` it must be the status of the code.",
    },
    Member {
        name: TIMES,
        kind: MemberKind::Count(1, 1_000_000),
        text: "How often the rule applies; without it until the double is reset.",
    },
    Member {
        name: AFTER,
        kind: MemberKind::Count(0, 1_000_000),
        text: "How many requests, writes or syncs it lets through first; 0 without it.",
    },
    Member {
        name: LATENCY,
        kind: MemberKind::Count(0, 600_000),
        text: "Milliseconds that a response, or a sync of `slow`, is held back; less when the clock of the double is advanced meanwhile.",
    },
];

/// How the storage of a double fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StorageFault {
    /// No space is free: writes are refused with `LowDisk`, except those that free space or revoke keys. `after` and `times` count commits.
    Full,
    /// Each sync takes `latency`. `after` and `times` count syncs.
    Slow,
    /// A write stores its first half and fails. `after` and `times` count writes.
    Torn,
    /// A sync succeeds without making anything durable, which a power cut shows. `after` and `times` count syncs.
    LostSync,
}

impl StorageFault {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Full, Self::Slow, Self::Torn, Self::LostSync];

    /// Its name in a rule.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Slow => "slow",
            Self::Torn => "torn",
            Self::LostSync => "lost-sync",
        }
    }
}

/// A fault of a double: requests of one operation that are refused or held back, or a storage that fails.
///
/// Rules are tried in the order in which they were given; the first one that applies to a request is the only one. [`MEMBERS`] has the
/// bounds, which [`Double::fail`](super::Double::fail) checks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use = "a rule does nothing until it is given to a double"]
pub struct Rule {
    pub(super) operation: Option<String>,
    pub(super) storage: Option<StorageFault>,
    pub(super) code: Option<Code>,
    pub(super) status: Option<u16>,
    times: Option<u64>,
    after: u64,
    pub(super) latency: Option<u64>,
}

impl Rule {
    /// A rule for the requests of an operation id, or of [`ANY_OPERATION`].
    pub fn operation(id: impl Into<String>) -> Self {
        Self {
            operation: Some(id.into()),
            ..Self::default()
        }
    }

    /// A rule for the storage.
    pub fn storage(fault: StorageFault) -> Self {
        Self {
            storage: Some(fault),
            ..Self::default()
        }
    }

    /// Refuses with the status and the body that the engine has for this code.
    pub fn code(mut self, code: Code) -> Self {
        self.code = Some(code);
        self
    }

    /// Responds with this status and no body, as a proxy does: 400 to 599. Beside [`Self::code`] it must be the status of the code.
    pub fn status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Applies at most so often: 1 to 1 000 000.
    pub fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    /// Lets `count` requests, writes or syncs through first: 0 to 1 000 000.
    pub fn after(mut self, count: u64) -> Self {
        self.after = count;
        self
    }

    /// Holds the response back, or each sync of [`StorageFault::Slow`]: at most 10 minutes, in whole milliseconds. The wait ends early
    /// when the clock of the double is advanced by as much.
    pub fn latency(mut self, latency: Duration) -> Self {
        self.latency = Some(u64::try_from(latency.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// Reads rules from JSON: one, or a list of them.
    ///
    /// # Errors
    /// The line and the column of what is wrong, with the name that was most likely meant.
    pub fn parse(json: &str) -> std::result::Result<Vec<Self>, RulesError> {
        if json.trim_start().starts_with('{') {
            return Ok(vec![serde_json::from_str(json).map_err(RulesError)?]);
        }
        serde_json::from_str(json).map_err(RulesError)
    }

    fn set(&mut self, member: &Member, value: &Value) -> std::result::Result<(), String> {
        let text = || {
            let text = value.as_str();
            text.ok_or_else(|| format!("{} must be a string", member.name))
        };
        match member.kind {
            MemberKind::Operation => self.operation = Some(text()?.to_owned()),
            MemberKind::Storage => {
                let all = StorageFault::ALL.into_iter();
                let fault = named("storage fault", text()?, all, StorageFault::as_str)?;
                self.storage = Some(fault);
            }
            MemberKind::Code => {
                let all = Code::ALL.iter().copied();
                self.code = Some(named("code", text()?, all, Code::as_str)?);
            }
            // `check` has the bounds, also for rules from Rust.
            MemberKind::Count(..) => {
                let number = value.as_u64().unwrap_or(u64::MAX);
                match member.name {
                    STATUS => self.status = Some(u16::try_from(number).unwrap_or(u16::MAX)),
                    TIMES => self.times = Some(number),
                    AFTER => self.after = number,
                    _ => self.latency = Some(number),
                }
            }
        }
        Ok(())
    }

    fn count(&self, name: &str) -> Option<u64> {
        match name {
            STATUS => self.status.map(u64::from),
            TIMES => self.times,
            AFTER => Some(self.after),
            LATENCY => self.latency,
            _ => None,
        }
    }

    /// Checks what single members cannot: bounds, and which members go together.
    fn check(&self) -> std::result::Result<(), String> {
        for member in MEMBERS {
            if let (MemberKind::Count(least, most), Some(count)) =
                (member.kind, self.count(member.name))
                && !(least..=most).contains(&count)
            {
                let name = member.name;
                return Err(format!(
                    "{name} must be a whole number from {least} to {most}"
                ));
            }
        }
        match (&self.operation, self.storage) {
            (Some(operation), None) => self.check_operation(operation),
            (None, Some(fault)) => self.check_storage(fault),
            _ => Err("a rule has either operation or storage".to_owned()),
        }
    }

    fn check_operation(&self, operation: &str) -> std::result::Result<(), String> {
        if operation != ANY_OPERATION {
            let all = ROUTES.iter().map(|route| route.operation_id);
            named("operation", operation, all, |id| id)?;
        }
        match (self.code, self.status) {
            (Some(code), Some(status)) if code.status() != status => Err(format!(
                "status {status} is not that of {}, which is {}; leave one of them out",
                code.as_str(),
                code.status()
            )),
            (None, None) if self.latency.is_none() => {
                Err("a rule for an operation has code, status or latency".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn check_storage(&self, fault: StorageFault) -> std::result::Result<(), String> {
        if self.code.is_some() || self.status.is_some() {
            return Err("a rule for the storage has neither code nor status".to_owned());
        }
        match (fault, self.latency) {
            (StorageFault::Slow, None) => Err("storage slow needs latency".to_owned()),
            (StorageFault::Slow, _) | (_, None) => Ok(()),
            (_, Some(_)) => Err("latency is for operations and for storage slow".to_owned()),
        }
    }

    /// Whether it meets the requests of this operation.
    pub(super) fn meets(&self, operation: Option<&str>) -> bool {
        let own = self.operation.as_deref();
        own == Some(ANY_OPERATION) || (own.is_some() && own == operation)
    }
}

/// The one of `all` with this name.
fn named<'a, T: Copy>(
    what: &str,
    name: &str,
    all: impl Iterator<Item = T> + Clone,
    text: fn(T) -> &'a str,
) -> std::result::Result<T, String> {
    let found = all.clone().find(|one| text(*one) == name);
    found.ok_or_else(|| format!("there is no {what} {name:?}{}", hint(name, all.map(text))))
}

fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!("; did you mean {near:?}?"))
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Rule;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rule")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Rule, A::Error> {
                let (mut rule, mut seen) = (Rule::default(), Vec::new());
                while let Some(name) = map.next_key::<String>()? {
                    let names = MEMBERS.iter().map(|member| member.name);
                    let member = MEMBERS.iter().find(|member| member.name == name);
                    let member = member.ok_or_else(|| {
                        let hint = hint(&name, names);
                        A::Error::custom(format!("a rule has no member {name:?}{hint}"))
                    })?;
                    if seen.contains(&member.name) {
                        return Err(A::Error::custom(format!("{name} is there twice")));
                    }
                    seen.push(member.name);
                    let value: Value = map.next_value()?;
                    rule.set(member, &value).map_err(A::Error::custom)?;
                    if let Some(operation) = &rule.operation
                        && member.kind == MemberKind::Operation
                        && operation != ANY_OPERATION
                    {
                        let all = ROUTES.iter().map(|route| route.operation_id);
                        named("operation", operation, all, |id| id).map_err(A::Error::custom)?;
                    }
                }
                rule.check().map_err(A::Error::custom)?;
                Ok(rule)
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// Why rules cannot be read, with the line and the column.
#[derive(Debug)]
pub struct RulesError(serde_json::Error);

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for RulesError {}

/// A rule and how often it was met.
#[derive(Debug)]
struct Active {
    rule: Rule,
    met: u64,
}

/// The rules of a double, in order.
#[derive(Debug, Default)]
pub(super) struct Rules(Mutex<Vec<Active>>);

impl Rules {
    pub(super) fn add(&self, added: Vec<Rule>) -> Result<()> {
        for rule in &added {
            rule.check().map_err(invalid)?;
        }
        let mut rules = lock(&self.0);
        if rules.len().saturating_add(added.len()) > RULES_MAX {
            return Err(invalid(format!("a double has at most {RULES_MAX} rules")));
        }
        rules.extend(added.into_iter().map(|rule| Active { rule, met: 0 }));
        Ok(())
    }

    pub(super) fn clear(&self) {
        lock(&self.0).clear();
    }

    /// The first rule of those that `meets` selects which applies now. Those before it are counted as met.
    pub(super) fn apply(&self, meets: impl Fn(&Rule) -> bool) -> Option<Rule> {
        let mut rules = lock(&self.0);
        let applies = |active: &mut Active| {
            let turn = active.met.checked_sub(active.rule.after);
            active.met = active.met.saturating_add(1);
            turn.is_some_and(|turn| active.rule.times.is_none_or(|times| turn < times))
        };
        let mut met = rules.iter_mut().filter(|active| meets(&active.rule));
        met.find_map(|active| applies(active).then(|| active.rule.clone()))
    }
}

pub(super) fn invalid(message: impl Into<String>) -> EngineError {
    EngineError::new(ErrorKind::Configuration, message)
}
