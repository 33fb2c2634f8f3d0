//! How well a desktop serves its user.
//!
//! Sources: a desktop is overloaded as Citrix Director counts it, if processor or memory is above
//! [`OVERLOADED_PERCENT`](crate::limits::OVERLOADED_PERCENT) for 5 of 15 minutes; the score is that of `SysTrack`, the share of
//! the time in use that nothing impaired; its bands are those of `ServiceNow`'s Digital End-User Experience.

/// The overloaded slots, a bit each: slots with a sample above the threshold and none that is not. A slot has five minutes, so
/// the load lasts five minutes if every sample is above.
pub(crate) const fn overloaded(above: u64, below: u64) -> u64 {
    above & !below
}

/// The health score in percent, from the slots in use and the overloaded ones among them; `None` without use.
pub(crate) fn health_score(active: u32, impacted: u32) -> Option<f64> {
    let healthy = f64::from(active.saturating_sub(impacted));
    (active > 0).then(|| 100.0 * healthy / f64::from(active))
}

/// The band of a health score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    Good,
    Fair,
    Poor,
}

impl Health {
    /// The band of a score.
    pub(crate) fn from_score(score: f64) -> Self {
        if score >= 75.0 {
            Self::Good
        } else if score >= 45.0 {
            Self::Fair
        } else {
            Self::Poor
        }
    }

    /// Its name, for a person.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Poor => "poor",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_is_overloaded_where_every_sample_is_above() {
        for (above, below, expected) in [
            (0b0000, 0b0000, 0b0000),
            (0b0001, 0b0000, 0b0001),
            (0b0001, 0b0001, 0b0000),
            (0b0000, 0b0001, 0b0000),
            (0b1111, 0b0101, 0b1010),
            (u64::MAX, 1, u64::MAX - 1),
        ] {
            assert_eq!(overloaded(above, below), expected, "{above:b} {below:b}");
        }
    }

    #[test]
    fn health_score_is_the_share_of_use_without_overload() {
        for (active, impacted, score, band) in [
            (0, 0, None, None),
            (0, 5, None, None),
            (1, 0, Some(100.0), Some(Health::Good)),
            (96, 0, Some(100.0), Some(Health::Good)),
            (4, 1, Some(75.0), Some(Health::Good)),
            (400, 101, Some(74.75), Some(Health::Fair)),
            (20, 11, Some(45.0), Some(Health::Fair)),
            (400, 221, Some(44.75), Some(Health::Poor)),
            (288, 288, Some(0.0), Some(Health::Poor)),
            (1, 2, Some(0.0), Some(Health::Poor)),
        ] {
            let found = health_score(active, impacted);
            assert_eq!(found, score, "{impacted} of {active}");
            assert_eq!(
                found.map(Health::from_score),
                band,
                "{impacted} of {active}"
            );
        }
        assert_eq!(
            [Health::Good, Health::Fair, Health::Poor].map(Health::as_str),
            ["good", "fair", "poor"]
        );
    }
}
