//! API keys as people see them. The secret itself is shown once and never stored.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use crate::timestamp::Timestamp;

use super::AuditAction;

/// One right a key can carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = super::schema::open_enum))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Scope {
    /// The Information GET endpoints, the histories, how batches of actions stand, and all of `/query` but previews: rows of the fleet, its
    /// export, events and metrics.
    Read,
    /// The Actions endpoints, `RemoveWorkSpaceDbEntry`, and batches of actions with their previews.
    Act,
    /// The operator surface; includes `read`, `act` and `audit`.
    Admin,
    /// Telemetry batches, and the Stats endpoints where the host requires a key for them.
    Ingest,
    /// The audit and the litigation holds, and nothing else of the fleet.
    Audit,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 5] = [
        Self::Read,
        Self::Act,
        Self::Admin,
        Self::Ingest,
        Self::Audit,
    ];

    /// The scope as written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Act => "act",
            Self::Admin => "admin",
            Self::Ingest => "ingest",
            Self::Audit => "audit",
        }
    }

    /// The scope of that name, in any case.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|scope| scope.as_str().eq_ignore_ascii_case(name))
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Read => 1,
            Self::Act => 2,
            Self::Admin => 4,
            Self::Ingest => 8,
            Self::Audit => 16,
        }
    }
}

/// A set of scopes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Scopes(u8);

impl Scopes {
    /// From the bits written in the file; unknown bits are dropped.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & 0b1_1111)
    }

    /// The bits written in the file: read 1, act 2, admin 4, ingest 8, audit 16.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether the set grants `scope`: itself, or `read`, `act` and `audit` through `admin`.
    #[must_use]
    pub const fn grant(self, scope: Scope) -> bool {
        let through_admin = matches!(scope, Scope::Read | Scope::Act | Scope::Audit)
            && self.0 & Scope::Admin.bit() != 0;
        through_admin || self.0 & scope.bit() != 0
    }

    /// The scopes written in the key, in a fixed order.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL
            .into_iter()
            .filter(move |scope| self.0 & scope.bit() != 0)
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl Serialize for Scopes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Scopes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Scopes".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let scope = generator.subschema_for::<Scope>();
        schemars::json_schema!({"type": "array", "minItems": 1, "items": scope})
    }
}

/// What a key may do less than its scopes allow. The default limits nothing.
///
/// Limits are about actions on workspaces: those of the Actions area, of a batch of actions, and `RemoveWorkSpaceDbEntry`. They do not limit
/// what a key reads, nor what else `admin` includes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct KeyLimits {
    /// The actions that the key may start, among them `RemoveWorkSpaceDbEntry`; null: all.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<super::BatchAction>>"))]
    pub actions: Option<Vec<AuditAction>>,
    /// The workspaces on which it may start them; null: all.
    pub filter: Option<KeyFilter>,
    /// How many of Rebuild, Restore, Terminate and `RemoveWorkSpaceDbEntry` it may start in an hour; null: any number.
    pub destructive_per_hour: Option<u32>,
}

/// The workspaces on which a key may start actions. Each member is a value, `in.A,B` for one of several or `ne.A` for any other, compared
/// without case.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct KeyFilter {
    /// Cloud region; absent: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = crate::limits::TEXT_MAX)))]
    pub region: Option<String>,
    /// Directory; absent: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = crate::limits::TEXT_MAX)))]
    pub directory_id: Option<String>,
}

/// SHA-256 of a secret: all that is stored of it.
pub(crate) type SecretHash = [u8; 32];

/// The number of a principal, in place of that of a key; keys begin with 1.
pub(crate) const PRINCIPAL_ID: u64 = 0;

/// A caller that the host has authenticated, in the extensions of a request: it needs no API key, and the audit has its name. A client
/// cannot send one, and a key that it sends beside is ignored. A stream of events goes on when the session of the user ends: the host ends it.
///
/// ```
/// use bytes::Bytes;
/// use deskfleet::{Engine, Principal, Scope};
/// use http::Request;
///
/// let engine = Engine::in_memory()?;
/// let request = Request::get("/api/Information/GetAllWorkSpaces")
///     .extension(Principal::new("jdoe@example.com", [Scope::Read]))
///     .body(Bytes::new())?;
/// assert_eq!(engine.handle(request).status(), 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Principal {
    /// Its name in the audit, of which the first 256 code points count. Without one it is nobody, and refused with 401.
    pub name: String,
    /// What it may do. [`Limits::key_requests_per_minute`](crate::Limits::key_requests_per_minute) does not count it.
    pub scopes: Scopes,
}

impl Principal {
    /// A principal with these scopes.
    pub fn new(name: impl Into<String>, scopes: impl IntoIterator<Item = Scope>) -> Self {
        Self {
            name: name.into(),
            scopes: scopes.into_iter().collect(),
        }
    }
}

/// An API key without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename_all = "camelCase"))]
pub struct KeyInfo {
    /// Number of the key.
    pub id: u64,
    /// Name, for people and the audit; 1 to 256 code points.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = crate::limits::TEXT_MAX)))]
    pub name: String,
    /// What it may do.
    pub scopes: Scopes,
    /// When it was issued.
    pub created: Timestamp,
    /// When it stops being accepted; null: never.
    pub expires: Option<Timestamp>,
    /// When it was last accepted, to the minute; null: never.
    pub last_used: Option<Timestamp>,
    /// When it was revoked; null: it was not.
    pub revoked: Option<Timestamp>,
    /// What it may do less than its scopes allow.
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub limits: KeyLimits,
}

/// Flattening by serde would add kilobytes to the WebAssembly module.
impl Serialize for KeyInfo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("KeyInfo", 10)?;
        members.serialize_field("id", &self.id)?;
        members.serialize_field("name", &self.name)?;
        members.serialize_field("scopes", &self.scopes)?;
        members.serialize_field("created", &self.created)?;
        members.serialize_field("expires", &self.expires)?;
        members.serialize_field("lastUsed", &self.last_used)?;
        members.serialize_field("revoked", &self.revoked)?;
        self.limits.serialize_fields(&mut members)?;
        members.end()
    }
}

impl KeyLimits {
    /// The limits after the name of a key, in one line; empty without any.
    pub(crate) fn described(&self) -> String {
        let mut text = String::new();
        let mut add = |name: &str, value: &str| {
            let before = if text.is_empty() {
                ", limited to "
            } else {
                "; "
            };
            text.extend([before, name, " ", value]);
        };
        if let Some(actions) = &self.actions {
            let names: Vec<_> = actions.iter().map(|action| action.as_str()).collect();
            add("actions", &names.join(", "));
        }
        let filter = self.filter.as_ref();
        if let Some(region) = filter.and_then(|filter| filter.region.as_ref()) {
            add("region", region);
        }
        if let Some(directory) = filter.and_then(|filter| filter.directory_id.as_ref()) {
            add("directoryId", directory);
        }
        if let Some(count) = self.destructive_per_hour {
            add("destructivePerHour", &count.to_string());
        }
        text
    }

    fn serialize_fields<S: SerializeStruct>(&self, members: &mut S) -> Result<(), S::Error> {
        members.serialize_field("actions", &self.actions)?;
        members.serialize_field("filter", &self.filter)?;
        members.serialize_field("destructivePerHour", &self.destructive_per_hour)
    }
}

/// The API key of a request, without its secret.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "RequestKey"))]
pub(crate) struct RequestKey<'k> {
    /// Number of the key.
    id: u64,
    /// Its name.
    name: &'k str,
    /// What it may do.
    scopes: Scopes,
    /// When it was issued.
    created: Timestamp,
    /// When it stops being accepted; null: never.
    expires: Option<Timestamp>,
    /// What it may do less than its scopes allow.
    #[cfg_attr(feature = "schema", schemars(flatten))]
    limits: &'k KeyLimits,
}

impl Serialize for RequestKey<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("RequestKey", 8)?;
        members.serialize_field("id", &self.id)?;
        members.serialize_field("name", self.name)?;
        members.serialize_field("scopes", &self.scopes)?;
        members.serialize_field("created", &self.created)?;
        members.serialize_field("expires", &self.expires)?;
        self.limits.serialize_fields(&mut members)?;
        members.end()
    }
}

impl<'k> From<&'k KeyInfo> for RequestKey<'k> {
    fn from(info: &'k KeyInfo) -> Self {
        Self {
            id: info.id,
            name: &info.name,
            scopes: info.scopes,
            limits: &info.limits,
            created: info.created,
            expires: info.expires,
        }
    }
}

/// An API key just issued, with its secret, which exists nowhere else: the store keeps only its SHA-256.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct IssuedKey {
    /// The key as it will be listed.
    #[serde(flatten)]
    pub info: KeyInfo,
    /// The secret to hand out, `dfk_…`. It is returned only here.
    #[serde(rename = "key")]
    pub secret: String,
}

impl fmt::Debug for IssuedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IssuedKey")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admin_scope_includes_read_and_act_but_not_ingest() {
        let admin: Scopes = [Scope::Admin].into_iter().collect();
        assert!(admin.grant(Scope::Read) && admin.grant(Scope::Act) && admin.grant(Scope::Admin));
        assert!(!admin.grant(Scope::Ingest));
        let read: Scopes = [Scope::Read].into_iter().collect();
        assert!(read.grant(Scope::Read) && !read.grant(Scope::Act) && !read.grant(Scope::Admin));
    }

    #[test]
    fn issued_key_in_debug_output_hides_its_secret() {
        let key = IssuedKey {
            info: KeyInfo {
                id: 1,
                name: "desk".into(),
                scopes: Scopes::default(),
                limits: KeyLimits::default(),
                created: Timestamp::UNIX_EPOCH,
                expires: None,
                last_used: None,
                revoked: None,
            },
            secret: "dfk_secret".into(),
        };
        assert!(!format!("{key:?}").contains("dfk_secret"));
    }
}
