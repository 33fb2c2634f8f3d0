//! What the members and columns of an inventory mean: our own names, and those of Amazon WorkSpaces and of tools that list them.

use std::collections::BTreeMap;

use crate::limits::{IMPORT_NAMES_MAX, IMPORT_WARNINGS_MAX};
use crate::model::{LineWarning, NameMapping, WorkspacePatch};
use crate::nearest::nearest;

use super::add_warning;

/// Characters of a name that are kept, for people.
const SHOWN_MAX: usize = 64;

/// What a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The field at this place of [`WorkspacePatch::FIELDS`].
    Field(usize),
    /// The same, where nothing else gives the field a value.
    Fallback(usize),
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

/// Names of other tools, in the form of [`plain`], whose values stand for a field that the record does not have: columns of reports of the
/// Cost Optimizer for Amazon WorkSpaces.
const FALLBACKS: [(&str, &str); 2] = [
    ("newmode", "runningMode"),
    // `Yes` is the state TERMINATED.
    ("workspaceterminated", "state"),
];

/// Known names without a field, in the form of [`plain`]. A warning of each would hide the ones that matter.
const IGNORED: [&str; 44] = [
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
    "ctx",
    "name",
    "partition",
    "spconnectionname",
    "spctx",
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
    "reportdate",
    "rootvolumediskusage",
    "udppacketlossrate",
    "usagethreshold",
    "uservolumediskusage",
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
}

#[derive(Debug)]
struct MetName {
    /// How many were met before.
    order: usize,
    meaning: Meaning,
    /// Whether a warning says that a value of it cannot be read.
    is_unread: bool,
}

/// The names that an import has met, for reading a line of it.
#[derive(Debug)]
pub(super) struct LineNames<'g> {
    pub(super) names: &'g mut Names,
    /// All warnings of the import.
    pub(super) warnings: &'g mut Vec<LineWarning>,
    pub(super) line: u64,
}

impl LineNames<'_> {
    /// What the name of a member or column means: `what`. Warns where it is unknown and is met for the first time.
    pub(super) fn meaning(&mut self, what: &str, name: &str) -> Meaning {
        let met = &mut self.names.met;
        if let Some(met) = met.get(name) {
            return met.meaning;
        }
        let meaning = meaning(name);
        // The nearest name is not looked for where the warning has no room.
        let is_warned = self.warnings.len() == IMPORT_WARNINGS_MAX
            || met.keys().any(|met| met.eq_ignore_ascii_case(name));
        if meaning == Meaning::Unknown && !is_warned {
            add_warning(self.warnings, self.line, unknown(what, name));
        }
        let order = met.len();
        if order < IMPORT_NAMES_MAX && name.chars().nth(SHOWN_MAX).is_none() {
            let new = MetName {
                order,
                meaning,
                is_unread: false,
            };
            met.insert(name.into(), new);
        }
        meaning
    }

    /// Warns once of each name that has a value which cannot be read. `text` is that value, where it is one.
    pub(super) fn warn_unread(&mut self, name: &str, text: Option<&str>) {
        let met = self.names.met.get_mut(name);
        if met.is_none_or(|met| std::mem::replace(&mut met.is_unread, true)) {
            return;
        }
        let name = shown(name);
        let message = if text.is_some_and(is_type_name) {
            format!(
                "{name} holds the name of a type in place of its values, and is ignored: export with ConvertTo-Json -Depth 5"
            )
        } else {
            format!("{name} cannot be read, and is ignored: it must be an object in JSON")
        };
        add_warning(self.warnings, self.line, message);
    }
}

impl Names {
    /// The names in the order in which they were met, with ours.
    pub(super) fn mapping(&self) -> Vec<NameMapping> {
        let mut met: Vec<_> = self.met.iter().collect();
        met.sort_by_key(|(_, met)| met.order);
        let mapping = met.into_iter().filter_map(|(name, met)| {
            let to = match met.meaning {
                Meaning::Properties if !met.is_unread => return None,
                Meaning::Field(index) | Meaning::Fallback(index) => {
                    Some(own_name(index).to_owned())
                }
                Meaning::Ignored if name.trim().is_empty() => return None,
                Meaning::Ignored | Meaning::Unknown | Meaning::Properties => None,
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

/// Whether a name that is unknown most likely means the id.
pub(super) fn may_be_id(name: &str) -> bool {
    let plain = plain(name);
    plain.ends_with("id") || plain.starts_with("worksp")
}

/// What a name means.
pub(super) fn meaning(name: &str) -> Meaning {
    // A constant of an SDK, as a column of its own.
    let (whole, end) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_constant = end.eq_ignore_ascii_case("value") && !whole.is_empty();
    let plain = plain(if is_constant { whole } else { name });
    if plain == PROPERTIES {
        return Meaning::Properties;
    }
    let plain = plain.strip_prefix(PROPERTIES).unwrap_or(&plain);
    let own = |of: &[(&str, &'static str)]| {
        let mut of = of.iter().filter(|(name, _)| *name == plain);
        of.next().map(|(_, own)| *own)
    };
    let field = |own: &str| {
        let mut fields = WorkspacePatch::FIELDS.iter();
        fields.position(|spec| spec.name.eq_ignore_ascii_case(own))
    };
    if let Some(field) = field(own(&ALIASES).unwrap_or(plain)) {
        Meaning::Field(field)
    } else if let Some(field) = own(&FALLBACKS).and_then(field) {
        Meaning::Fallback(field)
    } else if IGNORED.contains(&plain) {
        Meaning::Ignored
    } else {
        Meaning::Unknown
    }
}

/// A name without case and without what separates words: blanks, `_`, `-`, dots and brackets.
pub(super) fn plain(name: &str) -> String {
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
            Meaning::Field(index) | Meaning::Fallback(index) => Some(own_name(index)),
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
        let mut warnings = Vec::new();
        let mut of_line = LineNames {
            names: &mut names,
            warnings: &mut warnings,
            line: 1,
        };
        for number in 0..10 * IMPORT_NAMES_MAX {
            of_line.meaning("member", &format!("member{number}"));
        }
        of_line.meaning("member", &"x".repeat(1000));
        assert_eq!(warnings.len(), IMPORT_WARNINGS_MAX);
        assert_eq!(names.mapping().len(), IMPORT_NAMES_MAX);
        assert!(names.bytes() < 50_000, "{}", names.bytes());
    }
}
