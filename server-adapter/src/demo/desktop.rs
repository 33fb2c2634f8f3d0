//! Synthetic desktops and the people who use them.

use deskfleet::{State, Workspace};

use super::random::Random;

/// How a desktop is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Habit {
    Normal,
    /// It runs more than its memory and processors can take.
    Overloaded,
    /// Its user never logs on.
    Unused,
}

/// One desktop and the traits of its week.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Desktop {
    pub(super) workspace: Workspace,
    /// When its user logs on, in minutes of the UTC day.
    pub(super) logon_minute: i32,
    /// How long its user stays, in minutes.
    pub(super) stay_minutes: i32,
    pub(super) processors: i32,
    pub(super) memory_gib: i32,
    pub(super) habit: Habit,
}

/// Region, directory, account, minutes east of UTC; the larger sites are listed more often.
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
    /// The desktop of that number; distinct numbers have distinct users.
    pub(super) fn synthetic(number: usize, random: &mut Random) -> Self {
        const LOWER: &str = "0123456789bcdfghjklmnpqrstvwxyz";
        const UPPER: &str = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ";
        let (region, directory, account, offset_minutes) = random.pick(&SITES);
        let (compute_type, processors, memory_gib) = random.pick(&COMPUTE_TYPES);
        let running_mode = random.pick(&["AUTO_STOP", "AUTO_STOP", "ALWAYS_ON"]);
        let workspace = Workspace {
            id: format!("ws-{}", random.word(LOWER, 9)),
            computer_name: Some(format!("WSAMZN-{}", random.word(UPPER, 8))),
            account: Some(account.to_owned()),
            region: Some(region.to_owned()),
            directory_id: Some(directory.to_owned()),
            running_mode: Some(running_mode.into()),
            compute_type_name: Some(compute_type.into()),
            protocol: Some(random.pick(&["WSP", "WSP", "PCOIP"]).into()),
            username: Some(username(number)),
            state: Some(state(running_mode, random).into()),
        };
        Self {
            workspace,
            logon_minute: random.around(7 * 60 + 15, 9 * 60 + 45) - offset_minutes,
            stay_minutes: random.around(6 * 60, 10 * 60 + 30),
            processors,
            memory_gib,
            habit: match random.between(1, 100) {
                1..=5 => Habit::Overloaded,
                6..=10 => Habit::Unused,
                _ => Habit::Normal,
            },
        }
    }

    /// Whether it was loaded in this state.
    pub(super) fn is_in(&self, state: State) -> bool {
        self.workspace.state.as_deref() == Some(state.as_str())
    }

    /// Whether it runs, and so has an agent that posts telemetry.
    pub(super) fn reports(&self) -> bool {
        [State::Available, State::Unhealthy, State::Impaired]
            .into_iter()
            .any(|state| self.is_in(state))
    }
}

/// Initial and surname; no two numbers below 560 share them.
fn username(number: usize) -> String {
    let initial = INITIALS.chars().cycle().nth(number / SURNAMES.len());
    let surname = SURNAMES.iter().cycle().nth(number);
    initial
        .into_iter()
        .chain(surname.into_iter().flat_map(|name| name.chars()))
        .collect()
}

/// Nine in ten are well; those that stop by themselves often have.
fn state(running_mode: &str, random: &mut Random) -> State {
    match random.between(0, 99) {
        0..=2 => State::Unhealthy,
        3 => State::Impaired,
        4..=5 => State::Error,
        6 => State::Maintenance,
        7 => State::Suspended,
        8 => State::Terminated,
        9 => State::Pending,
        10..=39 if running_mode == "AUTO_STOP" => State::Stopped,
        _ => State::Available,
    }
}
