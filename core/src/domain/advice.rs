//! What to do about a desktop, from what it did in a window of time.

use crate::limits::{ADVICE_DAYS_MIN, OVERSIZED_CPU_PERCENT, OVERSIZED_MEMORY_PERCENT};
use crate::model::row::rounded;
use crate::model::{Price, RunningMode, State};

use super::health::Health;

/// An advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advice {
    /// It never reported, or nobody used it, in the time since it is known.
    Idle,
    /// It is billed by the hour, for more hours than a month costs.
    AlwaysOnCheaper,
    /// It is billed by the month, and used for no more hours than a month costs.
    AutoStopCheaper,
    /// Its health is not good.
    Overloaded,
    /// Half of its size would be enough.
    Oversized,
}

impl Advice {
    /// All, in their order in an answer.
    pub(crate) const ALL: [Self; 5] = [
        Self::Idle,
        Self::AlwaysOnCheaper,
        Self::AutoStopCheaper,
        Self::Overloaded,
        Self::Oversized,
    ];

    /// Its wire name.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::AlwaysOnCheaper => "alwaysOnCheaper",
            Self::AutoStopCheaper => "autoStopCheaper",
            Self::Overloaded => "overloaded",
            Self::Oversized => "oversized",
        }
    }
}

/// A desktop in a window of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub(crate) state: Option<&'a str>,
    pub(crate) running_mode: Option<&'a str>,
    /// The type of half its size, if there is one.
    pub(crate) half: Option<&'static str>,
    /// Days with records.
    pub(crate) days: u32,
    /// Whether somebody used it.
    pub(crate) had_user: bool,
    /// Whole days since the inventory or telemetry knows it.
    pub(crate) days_known: i64,
    /// Billed hours in a month.
    pub(crate) hours: f64,
    /// The limit of hours of its compute type.
    pub(crate) limit: Option<u16>,
    /// Its health score.
    pub(crate) health: Option<f64>,
    /// The greatest 95th percentile of cpu and of memory of any day, in percent.
    pub(crate) cpu: Option<f64>,
    pub(crate) memory: Option<f64>,
}

/// Whether an advice is given.
pub(crate) fn is_given(advice: Advice, facts: &Facts<'_>) -> bool {
    let state = facts.state.and_then(State::named);
    if matches!(
        state,
        Some(State::Pending | State::Terminating | State::Terminated)
    ) {
        return false;
    }
    let is_used = facts.days > 0 && facts.had_user;
    let known = is_used && facts.days >= ADVICE_DAYS_MIN;
    let mode = facts.running_mode.and_then(RunningMode::named);
    let limit = facts.limit.map(f64::from);
    match advice {
        Advice::Idle => !is_used && facts.days_known >= ADVICE_DAYS_MIN.into(),
        Advice::AlwaysOnCheaper => {
            let dear = limit.is_some_and(|limit| facts.hours > limit);
            known && mode == Some(RunningMode::AutoStop) && dear
        }
        Advice::AutoStopCheaper => {
            let cheap = limit.is_some_and(|limit| facts.hours <= limit);
            known && mode == Some(RunningMode::AlwaysOn) && cheap
        }
        Advice::Overloaded => is_used && is_overloaded(facts),
        Advice::Oversized => {
            let within = |value: Option<f64>, most| value.is_some_and(|value| value <= most);
            known
                && facts.half.is_some()
                && within(facts.cpu, OVERSIZED_CPU_PERCENT)
                && within(facts.memory, OVERSIZED_MEMORY_PERCENT)
                && !is_overloaded(facts)
        }
    }
}

fn is_overloaded(facts: &Facts<'_>) -> bool {
    let score = facts.health;
    score.is_some_and(|score| Health::from_score(score) != Health::Good)
}

/// The type of half the size: half of the processors or of the memory. Types with graphics have none.
pub(crate) fn half_of(compute_type: &str) -> Option<&'static str> {
    Some(match compute_type {
        "STANDARD" => "VALUE",
        "PERFORMANCE" => "STANDARD",
        "POWER" => "PERFORMANCE",
        "POWERPRO" => "POWER",
        "GENERALPURPOSE_4XLARGE" => "POWERPRO",
        "GENERALPURPOSE_8XLARGE" => "GENERALPURPOSE_4XLARGE",
        _ => return None,
    })
}

/// What following an advice saves in a month, by the prices of the type and of half of it; `None` where one is not known.
pub(crate) fn saving(
    advice: Advice,
    facts: &Facts<'_>,
    [price, half]: [Option<&Price>; 2],
) -> Option<f64> {
    let mode = facts.running_mode.and_then(RunningMode::named)?;
    let month = |of: &Price, mode| match mode {
        RunningMode::AlwaysOn => Some(money(of.always_on)),
        RunningMode::AutoStop => Some(money(of.auto_stop) + facts.hours * money(of.hour)),
        RunningMode::Manual => None,
    };
    let price = price?;
    let before = month(price, mode)?;
    let after = match advice {
        Advice::Idle => 0.0,
        Advice::AlwaysOnCheaper => month(price, RunningMode::AlwaysOn)?,
        Advice::AutoStopCheaper => month(price, RunningMode::AutoStop)?,
        Advice::Overloaded => return None,
        Advice::Oversized => month(half?, mode)?,
    };
    // Rounded up limits may be a little above what costs the same.
    rounded((before - after).max(0.0))
}

#[expect(clippy::cast_precision_loss, reason = "prices of desktops")]
fn money(ten_thousandths: i64) -> f64 {
    ten_thousandths as f64 / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A desktop in good use, for which there is no advice.
    const USED: Facts<'_> = Facts {
        state: Some("AVAILABLE"),
        running_mode: Some("AUTO_STOP"),
        half: Some("VALUE"),
        days: 30,
        had_user: true,
        days_known: 7,
        hours: 80.0,
        limit: Some(85),
        health: Some(98.0),
        cpu: Some(60.0),
        memory: Some(70.0),
    };

    fn given(facts: &Facts<'_>) -> Vec<&'static str> {
        let given = Advice::ALL.iter().filter(|one| is_given(**one, facts));
        given.map(|one| one.as_str()).collect()
    }

    #[test]
    fn desktop_that_nobody_used_is_idle_and_nothing_else() {
        let idle = Facts {
            running_mode: Some("ALWAYS_ON"),
            cpu: Some(1.0),
            memory: Some(1.0),
            hours: 0.0,
            ..USED
        };
        for (days, had_user, expected) in [
            (0, false, &["idle"][..]),
            (0, true, &["idle"]),
            (30, false, &["idle"]),
            (1, true, &[]),
        ] {
            let facts = Facts {
                days,
                had_user,
                ..idle
            };
            assert_eq!(given(&facts), expected, "{days} {had_user}");
            let new = Facts {
                days_known: 6,
                ..facts
            };
            assert!(given(&new).is_empty(), "{days} {had_user}");
        }
        for state in ["PENDING", "TERMINATING", "terminated"] {
            let facts = Facts {
                state: Some(state),
                days: 0,
                ..idle
            };
            assert!(given(&facts).is_empty(), "{state}");
        }
    }

    #[test]
    fn saving_is_the_difference_of_two_months() {
        let standard = Price::parse("STANDARD 35 9.75 0.30");
        let value = Price::parse("VALUE 25 7.25 0.22");
        let both = [standard.as_ref(), value.as_ref()];
        let at = |mode, hours| Facts {
            running_mode: Some(mode),
            hours,
            ..USED
        };
        for (advice, facts, prices, expected) in [
            (Advice::Idle, at("ALWAYS_ON", 0.0), both, Some(35.0)),
            (Advice::Idle, at("AUTO_STOP", 0.0), both, Some(9.75)),
            (Advice::Idle, at("MANUAL", 0.0), both, None),
            (Advice::Idle, at("ALWAYS_ON", 0.0), [None, None], None),
            (
                Advice::AlwaysOnCheaper,
                at("AUTO_STOP", 200.0),
                both,
                Some(34.75),
            ),
            (
                Advice::AutoStopCheaper,
                at("ALWAYS_ON", 20.0),
                both,
                Some(19.25),
            ),
            (
                Advice::AutoStopCheaper,
                at("ALWAYS_ON", 85.0),
                both,
                Some(0.0),
            ),
            (Advice::Oversized, at("ALWAYS_ON", 300.0), both, Some(10.0)),
            (Advice::Oversized, at("AUTO_STOP", 100.0), both, Some(10.5)),
            (
                Advice::Oversized,
                at("ALWAYS_ON", 300.0),
                [both[0], None],
                None,
            ),
            (Advice::Overloaded, at("ALWAYS_ON", 300.0), both, None),
        ] {
            assert_eq!(saving(advice, &facts, prices), expected, "{advice:?}");
        }
        let unknown = Facts {
            running_mode: None,
            ..USED
        };
        assert_eq!(saving(Advice::Idle, &unknown, both), None);
    }

    #[test]
    fn cheaper_mode_is_decided_by_the_limit_of_hours() {
        for (mode, hours, limit, days, expected) in [
            ("AUTO_STOP", 85.0, Some(85), 30, None),
            ("AUTO_STOP", 85.01, Some(85), 30, Some("alwaysOnCheaper")),
            ("auto_stop", 335.0, Some(334), 7, Some("alwaysOnCheaper")),
            ("AUTO_STOP", 744.0, Some(85), 6, None),
            ("AUTO_STOP", 744.0, None, 30, None),
            ("ALWAYS_ON", 85.0, Some(85), 30, Some("autoStopCheaper")),
            ("ALWAYS_ON", 85.01, Some(85), 30, None),
            ("ALWAYS_ON", 1.0, Some(85), 6, None),
            ("ALWAYS_ON", 1.0, None, 30, None),
            ("MANUAL", 1.0, Some(85), 30, None),
            ("MANUAL", 744.0, Some(85), 30, None),
            ("", 744.0, Some(85), 30, None),
        ] {
            let facts = Facts {
                running_mode: Some(mode),
                hours,
                limit,
                days,
                ..USED
            };
            let expected: Vec<&str> = expected.into_iter().collect();
            assert_eq!(given(&facts), expected, "{mode} {hours} {limit:?} {days}");
        }
    }

    #[test]
    fn size_is_judged_by_health_and_by_the_busiest_day() {
        let (large, small) = (Some("oversized"), Some("overloaded"));
        for (compute_type, days, health, cpu, memory, expected) in [
            ("STANDARD", 7, Some(100.0), Some(20.0), Some(40.0), large),
            ("POWERPRO", 7, None, Some(0.0), Some(0.0), large),
            ("STANDARD", 6, Some(100.0), Some(20.0), Some(40.0), None),
            ("STANDARD", 7, Some(100.0), Some(20.5), Some(40.0), None),
            ("STANDARD", 7, Some(100.0), Some(20.0), Some(40.5), None),
            ("STANDARD", 7, Some(100.0), None, Some(40.0), None),
            ("STANDARD", 7, Some(100.0), Some(20.0), None, None),
            ("VALUE", 7, Some(100.0), Some(20.0), Some(40.0), None),
            ("GRAPHICS_G4DN", 7, Some(100.0), Some(1.0), Some(1.0), None),
            ("", 7, Some(100.0), Some(1.0), Some(1.0), None),
            ("VALUE", 1, Some(74.9), Some(90.0), Some(90.0), small),
            ("VALUE", 1, Some(75.0), Some(90.0), Some(90.0), None),
            ("STANDARD", 7, Some(44.0), Some(20.0), Some(40.0), small),
            ("VALUE", 30, None, None, None, None),
        ] {
            let facts = Facts {
                half: half_of(compute_type),
                days,
                health,
                cpu,
                memory,
                ..USED
            };
            let expected: Vec<&str> = expected.into_iter().collect();
            assert_eq!(given(&facts), expected, "{compute_type} {days} {health:?}");
        }
    }
}
