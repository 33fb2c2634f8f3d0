//! Synthetic desktops and the people who use them.

use serde_json::{Value, json};

use super::random::Random;

/// How a desktop is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Habit {
    /// Its user comes on most workdays.
    Normal,
    /// It runs more than its memory and processors can take.
    Overloaded,
    /// Its user never logs on.
    Unused,
    /// Half of it would do.
    Idle,
}

/// One desktop and the traits of its days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Desktop {
    /// Its `workSpId`.
    pub id: String,
    /// As Amazon WorkSpaces names computers.
    pub computer_name: String,
    /// Number of the account.
    pub account: &'static str,
    /// Region of the account.
    pub region: &'static str,
    /// Directory of the user.
    pub directory_id: &'static str,
    /// `AUTO_STOP` or `ALWAYS_ON`.
    pub running_mode: &'static str,
    /// Such as `STANDARD`.
    pub compute_type: &'static str,
    /// `WSP` or `PCOIP`.
    pub protocol: &'static str,
    /// Its user.
    pub username: String,
    /// The state in which it begins.
    pub state: &'static str,
    /// How it is used.
    pub habit: Habit,
    /// When its user logs on, in minutes of the UTC day.
    pub(crate) logon_minute: i32,
    /// How long its user stays, in minutes.
    pub(crate) stay_minutes: i32,
    pub(crate) processors: i32,
    pub(crate) memory_gib: i32,
    pub(crate) number: i64,
    pub(crate) seed: u64,
}

/// Region, directory, account, minutes east of UTC; each site is equally likely.
const SITES: [(&str, &str, &str, i32); 5] = [
    ("eu-west-1", "d-93670a1b2c", "111122223333", 0),
    ("eu-central-1", "d-9967ac41de", "111122223333", 60),
    ("us-east-1", "d-90672fb09e", "444455556666", -300),
    ("us-east-1", "d-906740c7d1", "444455556666", -300),
    ("ap-southeast-2", "d-976738e1f0", "777788889999", 600),
];

/// Name, processors, memory in GiB; the common ones are listed more often.
const COMPUTE_TYPES: [(&str, i32, i32); 9] = [
    ("STANDARD", 2, 4),
    ("STANDARD", 2, 4),
    ("STANDARD", 2, 4),
    ("PERFORMANCE", 2, 8),
    ("PERFORMANCE", 2, 8),
    ("VALUE", 1, 2),
    ("POWER", 4, 16),
    ("POWERPRO", 8, 32),
    ("GRAPHICS_G4DN", 4, 16),
];

const INITIALS: &str = "abdehjklmnprst";
#[rustfmt::skip]
const SURNAMES: [&str; 40] = [
    "abara", "almeida", "berg", "castillo", "chen", "dubois", "eriksen", "fischer", "garcia", "haddad",
    "hansen", "ito", "ivanova", "jansen", "kaya", "kim", "kowalski", "larsen", "lopez", "martin",
    "meyer", "mori", "murphy", "nguyen", "novak", "okafor", "oliveira", "patel", "petrov", "quinn",
    "rossi", "santos", "sato", "schmidt", "silva", "singh", "tanaka", "virtanen", "weber", "yilmaz",
];

impl Desktop {
    /// The desktop of that number in the fleet of a seed; distinct numbers have distinct users.
    #[must_use]
    pub fn new(number: usize, seed: u64) -> Self {
        const LOWER: &str = "0123456789bcdfghjklmnpqrstvwxyz";
        const UPPER: &str = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ";
        let key = i64::try_from(number).unwrap_or(i64::MAX);
        let random = &mut Random::for_numbers(seed, &[key]);
        let (region, directory_id, account, offset_minutes) = random.pick(&SITES);
        let (compute_type, processors, memory_gib) = random.pick(&COMPUTE_TYPES);
        let running_mode = random.pick(&["AUTO_STOP", "AUTO_STOP", "ALWAYS_ON"]);
        Self {
            id: format!("ws-{}", random.word(LOWER, 9)),
            computer_name: format!("WSAMZN-{}", random.word(UPPER, 8)),
            account,
            region,
            directory_id,
            running_mode,
            compute_type,
            protocol: random.pick(&["WSP", "WSP", "PCOIP"]),
            username: username(number),
            state: state(running_mode, random),
            logon_minute: random.around(7 * 60 + 15, 9 * 60 + 45) - offset_minutes,
            stay_minutes: random.around(6 * 60, 10 * 60 + 30),
            processors,
            memory_gib,
            habit: match random.between(1, 100) {
                1..=5 => Habit::Overloaded,
                6..=10 => Habit::Unused,
                11..=30 if processors >= 4 => Habit::Idle,
                _ => Habit::Normal,
            },
            number: key,
            seed,
        }
    }

    /// Whether it runs also while nobody is logged on.
    pub(crate) fn is_always_on(&self) -> bool {
        self.running_mode == "ALWAYS_ON"
    }

    /// Whether it has an agent that sends telemetry while it runs.
    #[must_use]
    pub fn reports(&self) -> bool {
        ["AVAILABLE", "UNHEALTHY", "IMPAIRED"].contains(&self.state)
    }

    /// Its record of the inventory, as an import reads it.
    #[must_use]
    pub fn inventory(&self) -> Value {
        json!({
            "workSpId": self.id,
            "computerName": self.computer_name,
            "account": self.account,
            "region": self.region,
            "directoryId": self.directory_id,
            "runningMode": self.running_mode,
            "computeTypeName": self.compute_type,
            "protocol": self.protocol,
            "username": self.username,
            "state": self.state,
        })
    }
}

/// Initial and surname, and from 560 on a number too.
fn username(number: usize) -> String {
    let initial = number / SURNAMES.len() % INITIALS.len();
    let round = number / SURNAMES.len() / INITIALS.len();
    let initial = INITIALS.chars().nth(initial).unwrap_or_default();
    let surname = SURNAMES.get(number % SURNAMES.len()).unwrap_or(&"");
    let suffix = if round == 0 {
        String::new()
    } else {
        round.to_string()
    };
    format!("{initial}{surname}{suffix}")
}

/// Nine in ten are well; those that stop by themselves often have.
fn state(running_mode: &str, random: &mut Random) -> &'static str {
    match random.between(0, 99) {
        0..=2 => "UNHEALTHY",
        3 => "IMPAIRED",
        4..=5 => "ERROR",
        6 => "MAINTENANCE",
        7..=8 => "SUSPENDED",
        9 => "PENDING",
        10..=39 if running_mode == "AUTO_STOP" => "STOPPED",
        _ => "AVAILABLE",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_and_names_are_distinct() {
        let desktops: Vec<_> = (0..5000).map(|number| Desktop::new(number, 7)).collect();
        let ids: BTreeSet<_> = desktops.iter().map(|desktop| &desktop.id).collect();
        let names: BTreeSet<_> = desktops.iter().map(|desktop| &desktop.username).collect();
        assert_eq!((ids.len(), names.len()), (5000, 5000));
    }

    #[test]
    fn the_same_seed_makes_the_same_desktop() {
        assert_eq!(Desktop::new(3, 1), Desktop::new(3, 1));
        assert_ne!(Desktop::new(3, 1).id, Desktop::new(3, 2).id);
        assert_ne!(Desktop::new(3, 1).id, Desktop::new(4, 1).id);
    }
}
