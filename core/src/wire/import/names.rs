//! What the members and columns of an inventory mean: our own names, and those of Amazon WorkSpaces and of tools that list them.

use std::collections::BTreeMap;

use crate::limits::IMPORT_NAMES_MAX;
use crate::model::{NameMapping, WorkspacePatch};
use crate::nearest::nearest;

/// Characters of a name that are kept, for people.
const SHOWN_MAX: usize = 64;

/// What a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The field at this place of [`WorkspacePatch::FIELDS`].
    Field(usize),
    /// An object with more names: `WorkspaceProperties`.
    Properties,
    /// What other tools say of a desktop and the inventory has no field for.
    Ignored,
    Unknown,
}

/// The object of Amazon WorkSpaces that says how a desktop runs. CSV has its name before those of its members.
const PROPERTIES: &str = "workspaceproperties";

/// Names of other tools, in the form of [`plain`], with our own.
const ALIASES: [(&str, &str); 8] = [
    ("workspaceid", "workSpId"),
    ("workspacestate", "state"),
    ("computetype", "computeTypeName"),
    ("compute", "computeTypeName"),
    // A report of the Cost Optimizer for Amazon WorkSpaces.
    ("bundletype", "computeTypeName"),
    ("protocols", "protocol"),
    ("accountid", "account"),
    ("awsaccountid", "account"),
];

/// Known names without a field, in the form of [`plain`]. A warning of each would hide the ones that matter.
const IGNORED: [&str; 42] = [
    // Descriptions by the API of Amazon WorkSpaces.
    "bundleid",
    "datareplicationsettings",
    "errorcode",
    "errormessage",
    "globalaccelerator",
    "ipaddress",
    "ipv6address",
    "modificationstates",
    "operatingsystemname",
    "relatedworkspaces",
    "rootvolumeencryptionenabled",
    "rootvolumesizegib",
    "runningmodeautostoptimeoutinminutes",
    "standbyworkspacesproperties",
    "subnetid",
    "uservolumeencryptionenabled",
    "uservolumesizegib",
    "volumeencryptionkey",
    "workspacename",
    // Tables of Steampipe.
    "akas",
    "arn",
    "partition",
    "tags",
    "tagssrc",
    "title",
    // Reports of the Cost Optimizer for Amazon WorkSpaces.
    "billablehours",
    "changereported",
    "cpuusage",
    "initialmode",
    "insessionlatency",
    "memoryusage",
    "newmode",
    "reportdate",
    "rootvolumediskusage",
    "udppacketlossrate",
    "usagethreshold",
    "uservolumediskusage",
    "workspaceterminated",
    "workspacetype",
    // Columns of a CSV without a name, and what PowerShell adds.
    "",
    "pscomputername",
    "runspaceid",
];

/// The names that an import has met.
#[derive(Debug, Default)]
pub(super) struct Names {
    met: BTreeMap<Box<str>, MetName>,
    /// Whether a warning says that a value is the name of a type.
    has_type_name: bool,
}

#[derive(Debug)]
struct MetName {
    /// How many were met before.
    order: usize,
    meaning: Meaning,
}

impl Names {
    /// What the name of a member or column means: `what`. `warn` gets a warning where it is unknown and is met for the first time.
    pub(super) fn meaning(
        &mut self,
        what: &str,
        name: &str,
        warn: &mut dyn FnMut(String),
    ) -> Meaning {
        if let Some(met) = self.met.get(name) {
            return met.meaning;
        }
        let meaning = meaning(name);
        let is_first = !self.met.keys().any(|met| met.eq_ignore_ascii_case(name));
        if meaning == Meaning::Unknown && is_first {
            warn(unknown(what, name));
        }
        let order = self.met.len();
        if order < IMPORT_NAMES_MAX && name.chars().nth(SHOWN_MAX).is_none() {
            self.met.insert(name.into(), MetName { order, meaning });
        }
        meaning
    }

    /// Warns once of a value that is the name of a type: what PowerShell writes in place of an object or a list.
    pub(super) fn warn_type_name(&mut self, name: &str, warn: &mut dyn FnMut(String)) {
        if !std::mem::replace(&mut self.has_type_name, true) {
            warn(format!(
                "{} holds the name of a type in place of its values, and is ignored: export with ConvertTo-Json -Depth 5",
                shown(name)
            ));
        }
    }

    /// The names in the order in which they were met, with ours.
    pub(super) fn mapping(&self) -> Vec<NameMapping> {
        let mut met: Vec<_> = self.met.iter().collect();
        met.sort_by_key(|(_, met)| met.order);
        let mapping = met.into_iter().filter_map(|(name, met)| {
            let to = match met.meaning {
                Meaning::Field(index) => Some(own_name(index).to_owned()),
                Meaning::Ignored if name.trim().is_empty() => return None,
                Meaning::Ignored | Meaning::Unknown => None,
                Meaning::Properties => return None,
            };
            Some(NameMapping {
                from: name.to_string(),
                to,
            })
        });
        mapping.collect()
    }

    /// The memory that they take, in bytes, roughly.
    pub(super) fn bytes(&self) -> usize {
        let each = |name: &str| size_of::<(Box<str>, MetName)>() + name.len();
        self.met.keys().map(|name| each(name)).sum()
    }
}

/// Our own name of a field.
pub(super) fn own_name(index: usize) -> &'static str {
    WorkspacePatch::FIELDS.get(index).map_or("", |of| of.name)
}

/// A name as it is shown to people: not longer than they can read.
pub(super) fn shown(name: &str) -> String {
    name.chars().take(SHOWN_MAX).collect()
}

/// Whether a text is the name of a type that PowerShell has written in place of a value.
pub(super) fn is_type_name(text: &str) -> bool {
    text.starts_with("System.") && text.contains(['[', '`'])
        || text.starts_with("Amazon.WorkSpaces.Model.")
}

/// The warning of an unknown name, with the one that it most likely means.
fn unknown(what: &str, name: &str) -> String {
    let known = WorkspacePatch::FIELDS.iter().map(|spec| spec.name);
    let meant = nearest(name, known).map(|known| format!("; did you mean {known}?"));
    format!(
        "unknown {what} {}{}",
        shown(name),
        meant.unwrap_or_default()
    )
}

fn meaning(name: &str) -> Meaning {
    // A constant of an SDK, as a column of its own.
    let (whole, end) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_constant = end.eq_ignore_ascii_case("value") && !whole.is_empty();
    let plain = plain(if is_constant { whole } else { name });
    if plain == PROPERTIES {
        return Meaning::Properties;
    }
    let plain = plain.strip_prefix(PROPERTIES).unwrap_or(&plain);
    let alias = ALIASES.iter().find(|(alias, _)| *alias == plain);
    let own = alias.map_or(plain, |(_, own)| own);
    let mut fields = WorkspacePatch::FIELDS.iter();
    match fields.position(|spec| spec.name.eq_ignore_ascii_case(own)) {
        Some(field) => Meaning::Field(field),
        None if IGNORED.contains(&plain) => Meaning::Ignored,
        None => Meaning::Unknown,
    }
}

/// A name without case and without what separates words: blanks, `_`, `-`, dots and brackets.
fn plain(name: &str) -> String {
    let separates = |char: &char| {
        matches!(char, '_' | '-' | '.' | '/' | '[' | ']' | '(' | ')') || char.is_whitespace()
    };
    let plain = name.chars().filter(|char| !separates(char));
    plain.map(|char| char.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(name: &str) -> Option<&'static str> {
        match meaning(name) {
            Meaning::Field(index) => Some(own_name(index)),
            Meaning::Properties | Meaning::Ignored | Meaning::Unknown => None,
        }
    }

    #[test]
    fn alias_names_a_field_in_the_form_that_is_compared() {
        let own: Vec<_> = WorkspacePatch::FIELDS.iter().map(|of| of.name).collect();
        for (alias, name) in ALIASES {
            assert_eq!(alias, plain(alias));
            assert!(own.contains(&name), "{name}");
        }
        for ignored in IGNORED {
            assert_eq!(ignored, plain(ignored));
            assert_eq!(meaning(ignored), Meaning::Ignored, "{ignored}");
        }
    }

    #[test]
    fn name_of_another_surface_means_our_field() {
        for (names, field) in [
            (
                "workSpId WORKSPID WorkspaceId WorkspaceID workspace_id Workspace-Id",
                "workSpId",
            ),
            ("username UserName user_name User-Name USERNAME", "username"),
            ("computerName ComputerName computer_name", "computerName"),
            (
                "State state WorkspaceState workspace_state STATE State.Value",
                "state",
            ),
            (
                "ComputeTypeName computeType Compute compute_type_name WorkspaceProperties.ComputeTypeName \
                 workspace_properties_compute_type_name WorkspaceProperties[ComputeTypeName]",
                "computeTypeName",
            ),
            (
                "RunningMode running-mode WorkspaceProperties.RunningMode",
                "runningMode",
            ),
            (
                "Protocols Protocol protocol WorkspaceProperties.Protocols",
                "protocol",
            ),
            ("DirectoryId directory_id DIRECTORYID", "directoryId"),
            ("Region region", "region"),
            ("AccountId Account account_id accountID", "account"),
        ] {
            for name in names.split_whitespace() {
                assert_eq!(to(name), Some(field), "{name}");
            }
        }
        for name in [
            "Workspace ID",
            " workspace id ",
            "Computer Name",
            "User Name",
        ] {
            assert!(to(name).is_some(), "{name}");
        }
        for name in [
            "colour",
            "user",
            "id",
            "WorkspaceProperties.Colour",
            "ünder",
        ] {
            assert_eq!(meaning(name), Meaning::Unknown, "{name}");
        }
        assert_eq!(meaning("workspace_properties"), Meaning::Properties);
    }

    #[test]
    fn many_names_take_bounded_memory() {
        let mut names = Names::default();
        for number in 0..10 * IMPORT_NAMES_MAX {
            names.meaning("member", &format!("member{number}"), &mut |_| {});
        }
        names.meaning("member", &"x".repeat(1000), &mut |_| {});
        assert_eq!(names.mapping().len(), IMPORT_NAMES_MAX);
        assert!(names.bytes() < 50_000, "{}", names.bytes());
    }
}
