//! Times and sizes as text: `1h30m`, `64 KiB`.

/// A unit and what it is worth.
type Unit = (&'static str, u64);

/// Units of time, in milliseconds, the largest first.
pub(super) const TIMES: &[Unit] = &[
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1000),
    ("ms", 1),
];

/// Units of size, in bytes, the largest first.
pub(super) const SIZES: &[Unit] = &[
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

/// The sum of the amounts in `text`, each with its unit: `1h30m`, `64 KiB`. `None` for anything else and what exceeds 64 bits.
pub(super) fn parse(text: &str, units: &[Unit]) -> Option<u64> {
    let mut sum: u64 = 0;
    let mut rest = text.trim();
    while {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_ascii_alphabetic());
        let (name, after) = after.split_at(end.unwrap_or(after.len()));
        let (_, worth) = units.iter().find(|(unit, _)| *unit == name)?;
        sum = sum.checked_add(number.parse::<u64>().ok()?.checked_mul(*worth)?)?;
        rest = after.trim_start();
        !rest.is_empty()
    } {}
    Some(sum)
}

/// `amount` as a sum, such as `1h30m`; `None` for 0.
pub(super) fn sum(mut amount: u64, units: &[Unit]) -> Option<String> {
    let mut text = String::new();
    for (unit, worth) in units {
        let count = amount / worth;
        amount %= worth;
        if count > 0 {
            text = format!("{text}{count}{unit}");
        }
    }
    (!text.is_empty()).then_some(text)
}

/// `amount` as a multiple of the largest unit that it is one of, such as `64 KiB`; `None` for 0 and multiples of the smallest alone.
pub(super) fn multiple(amount: u64, units: &[Unit]) -> Option<String> {
    let (unit, worth) = units
        .iter()
        .find(|(_, worth)| amount.is_multiple_of(*worth))?;
    (amount > 0 && *worth > 1).then(|| format!("{} {unit}", amount / worth))
}
