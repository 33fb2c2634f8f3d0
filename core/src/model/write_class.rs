//! What a write is for, which decides how much space it must leave free.

use crate::limits::{FILING_SPACE_PART, FLEET_SPACE_PART};

/// What a write is for. The first gives way first where the medium fills up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WriteClass {
    /// Records of agents.
    Telemetry,
    /// Inventory, actions, new keys, and audit rows of what was refused or handed out.
    Fleet,
    /// Moving telemetry into history, sealing and rollups.
    Filing,
    /// Revoking a key, placing and releasing a hold, retention, removal and closing: what takes rights back, saves what would be
    /// removed, or gives space back. It may take the reserve.
    Essential,
}

impl WriteClass {
    /// The bytes that a write leaves free at least, where `min` is [`Limits::free_bytes_min`](crate::Limits::free_bytes_min).
    pub(crate) const fn free_bytes(self, min: u64) -> u64 {
        match self {
            Self::Telemetry => min,
            Self::Fleet => min / FLEET_SPACE_PART,
            Self::Filing => min / FILING_SPACE_PART,
            Self::Essential => 0,
        }
    }

    /// Says which class is refused, and those that give way before it.
    const fn refused(self) -> &'static str {
        match self {
            Self::Telemetry => "telemetry is refused",
            Self::Fleet => "telemetry, changes of workspaces and actions are refused",
            Self::Filing | Self::Essential => {
                "telemetry, changes of workspaces, actions and filing are refused"
            }
        }
    }

    /// Says what is refused with `free` bytes, if anything is: of the classes the last one.
    pub(crate) fn refused_with(free: u64, min: u64) -> Option<String> {
        [Self::Filing, Self::Fleet, Self::Telemetry]
            .into_iter()
            .find(|class| free < class.free_bytes(min))
            .map(|class| class.refusal(free, class.free_bytes(min)))
    }

    /// Says that this class is refused, where it needs `needed` bytes.
    pub(crate) fn refusal(self, free: u64, needed: u64) -> String {
        let refused = self.refused();
        format!(
            "{refused}: {free} bytes are free on the disk, {needed} are needed; free some space, or remove telemetry"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_needs_less_space_than_the_one_before() {
        let needed = |min| {
            use WriteClass::{Essential, Filing, Fleet, Telemetry};
            [Telemetry, Fleet, Filing, Essential].map(|class| class.free_bytes(min))
        };
        assert_eq!(needed(32), [32, 16, 8, 0]);
        assert_eq!(needed(0), [0; 4]);
    }

    #[test]
    fn refused_with_names_the_last_class_that_is_refused() {
        let message = |free| WriteClass::refused_with(free, 32);
        assert_eq!(message(32), None);
        for (free, refused, needed) in [
            (31, "telemetry is refused", 32),
            (
                15,
                "telemetry, changes of workspaces and actions are refused",
                16,
            ),
            (
                0,
                "telemetry, changes of workspaces, actions and filing are refused",
                8,
            ),
        ] {
            let expected = format!(
                "{refused}: {free} bytes are free on the disk, {needed} are needed; free some space, or remove telemetry"
            );
            assert_eq!(message(free), Some(expected));
        }
    }
}
