//! The questions about the fleet: the endpoints below `/query`.

/// A question about the fleet; each is what follows `/query/` in its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "each variant is what follows /query/ in its path; the table of endpoints says the rest"
)]
#[non_exhaustive]
pub enum Question {
    Workspaces,
    Top,
    Fleet,
    Preview,
    Advice,
    Processes,
    Series,
    Startup,
    Heatmap,
    Metrics,
    Timeline,
    Holds,
    Conditions,
    AdviceTotals,
}

impl Question {
    /// Its number in page tokens. Never reused; those below 32 are of other lists.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Workspaces => 32,
            Self::Top => 33,
            Self::Fleet => 34,
            Self::Preview => 35,
            Self::Advice => 40,
            Self::Processes => 41,
            Self::Series => 36,
            Self::Startup => 37,
            Self::Heatmap => 38,
            Self::Metrics => 39,
            Self::Timeline => 42,
            Self::Holds => 43,
            Self::Conditions => 44,
            Self::AdviceTotals => 45,
        }
    }
}
