//! The closed vocabularies of the interface: states, actions, running modes, protocols, compute types.
//!
//! The values are those of Amazon WorkSpaces, upper case. They are compared without case, blanks, `_`, `.` and `-`, as other surfaces of
//! it spell them: `AutoStop`, `Graphics.g4dn`. A workspace may be given others: a [`Named`] keeps these as they are.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::nearest::compared;

/// A value of a closed vocabulary, or a text that is not in it.
///
/// It is made from a value or from any text, in any spelling, and reads as a text.
///
/// ```
/// use deskfleet::{Named, RunningMode, State};
///
/// let state = Named::<State>::from("available");
/// assert_eq!(state, Named::Known(State::Available));
/// assert_eq!(&*state, "AVAILABLE");
/// assert_eq!(&*Named::<RunningMode>::from("AutoStop"), "AUTO_STOP");
/// assert_eq!(Named::<State>::from("On fire").known(), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String", bound = "T: Vocabulary + Clone")]
pub enum Named<T> {
    /// A value of the vocabulary.
    Known(T),
    /// Any other text, as it was given.
    Other(String),
}

/// The vocabularies: [`State`], [`RunningMode`], [`Protocol`], [`ComputeType`].
pub trait Vocabulary: Sized {
    /// The value of that name, without regard to case, blanks, `_`, `.` and `-`; `None` when the vocabulary has none.
    fn named(name: &str) -> Option<Self>;
    /// The value as written, in upper case.
    fn as_str(&self) -> &str;
    /// The names of all values; of families of compute types without a size.
    fn names() -> Vec<&'static str>;
}

impl<T> Named<T> {
    /// The value, where the text is one of the vocabulary.
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Other(_) => None,
        }
    }
}

impl<T: Vocabulary> Deref for Named<T> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Known(value) => value.as_str(),
            Self::Other(text) => text,
        }
    }
}

impl<T: Vocabulary> fmt::Display for Named<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl<T: Vocabulary> From<T> for Named<T> {
    fn from(value: T) -> Self {
        Self::Known(value)
    }
}

impl<T: Vocabulary> From<&str> for Named<T> {
    fn from(text: &str) -> Self {
        T::named(text).map_or_else(|| Self::Other(text.to_owned()), Self::Known)
    }
}

impl<T: Vocabulary> From<String> for Named<T> {
    fn from(text: String) -> Self {
        T::named(&text).map_or(Self::Other(text), Self::Known)
    }
}

impl<T: Vocabulary> From<Named<T>> for String {
    fn from(named: Named<T>) -> Self {
        match named {
            Named::Known(value) => value.as_str().to_owned(),
            Named::Other(text) => text,
        }
    }
}

#[cfg(feature = "schema")]
impl<T: Vocabulary + schemars::JsonSchema> schemars::JsonSchema for Named<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    /// Any text: the known values are examples.
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = T::json_schema(generator);
        if let Some(values) = schema.remove("x-extensible-enum") {
            schema.insert("examples".into(), values);
        }
        schema
    }
}

/// Whether two names differ in nothing but case, blanks, `_`, `.` and `-`.
pub(crate) fn is_same_name(one: &str, other: &str) -> bool {
    one == other || compared(one).eq(compared(other))
}

/// The canonical spelling of a name, where the vocabulary knows it.
pub(crate) fn canonical<T: Vocabulary>(name: &str) -> Option<String> {
    T::named(name).map(|known| known.as_str().to_owned())
}

/// Declares an enum of upper-case names, each with other names of the value.
macro_rules! vocabulary {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $text:literal $(| $alias:literal)*,)* }
    ) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", schemars(transform = super::schema::open_enum))]
        $(#[$meta])*
        pub enum $name {
            $($(#[$variant_meta])* #[serde(rename = $text)] $variant,)*
        }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The value as written.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The value of that name, without regard to case, blanks, `_`, `.` and `-`.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                let all = Self::ALL.iter().copied();
                // Stored values are written so, and read often.
                let exact = all.clone().find(|value| value.as_str() == name);
                exact
                    .or_else(|| all.clone().find(|value| is_same_name(value.as_str(), name)))
                    $($(.or_else(|| is_same_name($alias, name).then_some(Self::$variant)))*)*
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Vocabulary for $name {
            fn named(name: &str) -> Option<Self> {
                Self::named(name)
            }

            fn as_str(&self) -> &str {
                Self::as_str(*self)
            }

            fn names() -> Vec<&'static str> {
                Self::ALL.iter().map(|value| value.as_str()).collect()
            }
        }
    };
}

vocabulary! {
    /// The state of a workspace. An unknown value is kept as given.
    #[cfg_attr(feature = "schema", schemars(rename = "WorkSpaceState"))]
    pub enum State {
        /// It is being created.
        Pending = "PENDING",
        /// It runs, or can be connected to.
        Available = "AVAILABLE",
        /// It runs, but does not react as it should.
        Impaired = "IMPAIRED",
        /// It does not respond to health checks.
        Unhealthy = "UNHEALTHY",
        /// It restarts, after `RebootWorkSpace` or `RecoveryRebootWorkSpace`.
        Rebooting = "REBOOTING",
        /// It starts, after `StartWorkSpace`.
        Starting = "STARTING",
        /// Its system is made anew from the image, after `RebuildWorkSpace`.
        Rebuilding = "REBUILDING",
        /// Its volumes are taken from the last backup, after `RestoreWorkSpace`.
        Restoring = "RESTORING",
        /// The cloud provider maintains it.
        Maintenance = "MAINTENANCE",
        /// An administrator maintains it.
        AdminMaintenance = "ADMIN_MAINTENANCE",
        /// It is being deleted, after `TerminateWorkSpace`.
        Terminating = "TERMINATING",
        /// It is deleted; its record stays listed for 7 days.
        Terminated = "TERMINATED",
        /// It is suspended.
        Suspended = "SUSPENDED",
        /// Its compute type changes, after `ChangeComputeType`.
        Updating = "UPDATING",
        /// It is being stopped.
        Stopping = "STOPPING",
        /// It is stopped; `StartWorkSpace` starts it.
        Stopped = "STOPPED",
        /// Creating it or an action on it failed.
        Error = "ERROR",
    }
}

vocabulary! {
    /// When a workspace runs. An unknown value is kept as given.
    pub enum RunningMode {
        /// It stops after some time without a user.
        AutoStop = "AUTO_STOP",
        /// It runs always.
        AlwaysOn = "ALWAYS_ON",
        /// It is started and stopped by hand.
        Manual = "MANUAL",
    }
}

vocabulary! {
    /// The streaming protocol of a workspace. An unknown value is kept as given.
    pub enum Protocol {
        /// PC over IP.
        Pcoip = "PCOIP",
        /// Amazon DCV, formerly the WorkSpaces Streaming Protocol.
        Wsp = "WSP" | "DCV",
    }
}

vocabulary! {
    /// A lifecycle action, by the last segment of its path.
    #[cfg_attr(feature = "schema", schemars(rename = "WorkSpaceAction"))]
    pub enum Action {
        /// Restarts the system.
        Reboot = "RebootWorkSpace",
        /// Moves to a new host, with the same volumes and id.
        RecoveryReboot = "RecoveryRebootWorkSpace",
        /// Makes the system anew from its image.
        Rebuild = "RebuildWorkSpace",
        /// Takes the volumes from the last backup.
        Restore = "RestoreWorkSpace",
        /// Deletes the workspace.
        Terminate = "TerminateWorkSpace",
        /// Starts a stopped workspace.
        Start = "StartWorkSpace",
        /// Changes the hardware.
        ChangeComputeType = "ChangeComputeType",
    }
}

/// A compute type known to the interface, in upper case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputeType(String);

/// Types named one by one.
const SINGLE_TYPES: [&str; 11] = [
    "VALUE",
    "STANDARD",
    "PERFORMANCE",
    "POWER",
    "POWERPRO",
    "GRAPHICS",
    "GRAPHICSPRO",
    "GRAPHICS_G4DN",
    "GRAPHICSPRO_G4DN",
    "GENERALPURPOSE_4XLARGE",
    "GENERALPURPOSE_8XLARGE",
];

/// Families: the name alone, or with a size such as `_4XLARGE`.
const FAMILIES: [&str; 5] = [
    "GRAPHICS_G6",
    "GRAPHICS_GR6",
    "GRAPHICS_G6F",
    "GRAPHICS_GR6F",
    "GRAPHICS_G7",
];

impl ComputeType {
    /// The type of that name, without regard to case, blanks, `_`, `.` and `-`; `None` when the interface has no such type.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        // Stored values are written so, and read often.
        if SINGLE_TYPES.contains(&name) {
            return Some(Self(name.to_owned()));
        }
        let single = SINGLE_TYPES.iter().find(|known| is_same_name(known, name));
        if let Some(single) = single {
            return Some(Self((*single).to_owned()));
        }
        FAMILIES.iter().find_map(|family| {
            let mut rest = compared(name);
            let is_family = compared(family).all(|char| rest.next() == Some(char));
            // Of a longer text it is clear that it is no size.
            let size: String = rest.take(SIZE_LENGTH_MAX + 1).collect();
            match size.as_str() {
                _ if !is_family => None,
                "" => Some(Self((*family).to_owned())),
                size => is_size(size).then(|| Self(format!("{family}_{size}"))),
            }
        })
    }

    /// The name in upper case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Vocabulary for ComputeType {
    fn named(name: &str) -> Option<Self> {
        Self::named(name)
    }

    fn as_str(&self) -> &str {
        Self::as_str(self)
    }

    fn names() -> Vec<&'static str> {
        SINGLE_TYPES.into_iter().chain(FAMILIES).collect()
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ComputeType {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ComputeType".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names = <Self as Vocabulary>::names();
        schemars::json_schema!({
            "description": "The hardware of a workspace, in upper case. The graphics families may have a size, for example \
                `GRAPHICS_G6_4XLARGE`. An unknown value is kept as given.",
            "type": "string",
            "x-extensible-enum": names,
        })
    }
}

/// Length of the longest size.
const SIZE_LENGTH_MAX: usize = "16XLARGE".len();

/// `LARGE`, `XLARGE`, `2XLARGE`, `16XLARGE`, …
fn is_size(size: &str) -> bool {
    if size == "LARGE" {
        return true;
    }
    size.strip_suffix("XLARGE")
        .is_some_and(|count| count.len() <= 2 && count.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compute_type_in_any_spelling_is_known_by_its_canonical_name() {
        for (name, canonical) in [
            ("VALUE", "VALUE"),
            ("value", "VALUE"),
            (" Value ", "VALUE"),
            ("Power Pro", "POWERPRO"),
            ("power-pro", "POWERPRO"),
            ("Graphics.g4dn", "GRAPHICS_G4DN"),
            ("GraphicsPro.g4dn", "GRAPHICSPRO_G4DN"),
            ("GraphicsPro_G4dn", "GRAPHICSPRO_G4DN"),
            ("GeneralPurpose.4xlarge", "GENERALPURPOSE_4XLARGE"),
            ("GRAPHICS_G6_4XLARGE", "GRAPHICS_G6_4XLARGE"),
            ("Graphics.g6.16xlarge", "GRAPHICS_G6_16XLARGE"),
            ("Graphics G6f xlarge", "GRAPHICS_G6F_XLARGE"),
            ("graphics_gr6f", "GRAPHICS_GR6F"),
            ("GRAPHICS_G7_LARGE", "GRAPHICS_G7_LARGE"),
        ] {
            assert_eq!(ComputeType::named(name).unwrap().as_str(), canonical);
        }
        for name in [
            "",
            "_",
            "HUGE",
            "GRAPHICS_G8",
            "GRAPHICS_G6X",
            "GRAPHICS_G6_SMALL",
            "GRAPHICS_G6_123XLARGE",
            "VALUE/",
            "VALUÉ",
        ] {
            assert_eq!(ComputeType::named(name), None, "{name}");
        }
    }

    #[test]
    fn every_vocabulary_name_parses_to_itself_in_any_spelling() {
        let spellings = |name: &str| {
            let spaced = name.replace('_', " ");
            let joined = name.replace('_', "");
            [
                name.to_owned(),
                name.to_lowercase(),
                joined.to_lowercase(),
                spaced.replace(' ', "-"),
                format!(" {spaced}."),
            ]
        };
        for state in State::ALL {
            for name in spellings(state.as_str()) {
                assert_eq!(State::named(&name), Some(*state), "{name}");
            }
        }
        for mode in RunningMode::ALL {
            for name in spellings(mode.as_str()) {
                assert_eq!(RunningMode::named(&name), Some(*mode), "{name}");
            }
        }
        for action in Action::ALL {
            assert_eq!(Action::named(action.as_str()), Some(*action));
        }
        for name in ["AutoStop", "auto-stop", "Auto Stop", "AUTO_STOP"] {
            assert_eq!(RunningMode::named(name), Some(RunningMode::AutoStop));
        }
        for name in ["WSP", "wsp", "DCV", "dcv"] {
            assert_eq!(Protocol::named(name), Some(Protocol::Wsp));
        }
        assert_eq!(Protocol::named("PCoIP"), Some(Protocol::Pcoip));
        for name in ["", " ", "_", "AUTO_STOPPED", "AUTOSTO"] {
            assert_eq!(RunningMode::named(name), None, "{name}");
            assert_eq!(Protocol::named(name), None, "{name}");
        }
    }
}
