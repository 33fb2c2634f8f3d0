//! What fails.

/// What a disk refuses. A count of 0 means the very next operation of that kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Fault {
    /// Nothing.
    #[default]
    None,
    /// The read after this many more.
    Read(u64),
    /// The write after this many more.
    Write(u64),
    /// The sync after this many more.
    Sync(u64),
    /// The change of length after this many more.
    Length(u64),
    /// To make or remove a segment or the folder, after this many more.
    Name(u64),
    /// To grow: the disk is full, and what is on it can still be overwritten.
    Growth,
    /// Every write, sync, change of length and change of names: it is full, and overwriting takes room as well.
    Writes,
    /// Everything: it was pulled out.
    All,
}

impl Fault {
    /// Every kind of fault, `n` operations from now.
    pub(super) fn kinds(after: u64) -> [Self; 8] {
        [
            Self::Read(after),
            Self::Write(after),
            Self::Sync(after),
            Self::Length(after),
            Self::Name(after),
            Self::Growth,
            Self::Writes,
            Self::All,
        ]
    }
}

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Returns the length of a file, or lists the folder.
    Look,
    Read,
    Write,
    Sync,
    Length {
        grows: bool,
    },
    /// Makes or removes a name.
    Name,
}

impl Fault {
    /// Whether it is met now.
    pub(super) fn is_met(&mut self, act: Act) -> bool {
        match (self, act) {
            (Self::Read(left), Act::Read)
            | (Self::Write(left), Act::Write)
            | (Self::Sync(left), Act::Sync)
            | (Self::Length(left), Act::Length { .. })
            | (Self::Name(left), Act::Name) => {
                let now = *left == 0;
                *left = left.saturating_sub(1);
                now
            }
            (Self::Growth, Act::Length { grows }) => grows,
            (Self::Writes, act) => !matches!(act, Act::Look | Act::Read),
            (Self::All, _) => true,
            _ => false,
        }
    }
}
