//! The known name that a misspelled one most likely means.

/// Names longer than this, in bytes, are not compared: the time grows with the product of both lengths.
const NAME_BYTES_MAX: usize = 64;
/// Shorter names are in many others by chance.
const PART_MIN: usize = 4;

/// The name of `known` that `name` most likely means, compared without case, blanks, `_`, `.` and `-`: one with a single slip, else one that
/// contains the other, of which that is at least a third, else one that is spelled alike: at most a third of the characters of the longer one
/// differ.
///
/// ```
/// let known = ["computerName", "computeTypeName", "username", "state"];
/// assert_eq!(deskfleet::fields::nearest("userNmae", known), Some("username"));
/// assert_eq!(deskfleet::fields::nearest("compute_type", known), Some("computeTypeName"));
/// assert_eq!(deskfleet::fields::nearest("workSpaceId", ["workSpId"]), Some("workSpId"));
/// assert_eq!(deskfleet::fields::nearest("colour", known), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_of(name, &mut known.into_iter())
}

/// One compiled copy.
fn nearest_of<'a>(name: &str, known: &mut dyn Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let name: String = compared(name).collect();
    known
        .filter_map(|known| {
            let other: String = compared(known).collect();
            let (short, long) = if name.len() < other.len() {
                (&name, &other)
            } else {
                (&other, &name)
            };
            let contains =
                short.len() >= PART_MIN && 3 * short.len() >= long.len() && long.contains(&**short);
            let distance = strsim::osa_distance(&name, &other);
            let is_alike = distance.saturating_mul(3) <= long.len().max(3);
            let rank = match (distance, contains) {
                (0 | 1, _) => 0,
                (_, true) => 1,
                (_, false) => 2,
            };
            (contains || is_alike).then_some(((rank, distance), known))
        })
        .min_by_key(|(rank, _)| *rank)
        .map(|(_, known)| known)
}

/// The characters of a name that are compared: those that separate words are left out, and case is not regarded.
pub(crate) fn compared(name: &str) -> impl Iterator<Item = char> + '_ {
    name.chars()
        .filter(|char| !matches!(char, '_' | '.' | '-') && !char.is_whitespace())
        .map(|char| char.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [&str; 10] = [
        "workSpId",
        "computerName",
        "account",
        "region",
        "directoryId",
        "runningMode",
        "computeTypeName",
        "protocol",
        "username",
        "state",
    ];

    #[test]
    fn name_that_is_contained_goes_before_one_that_is_spelled_alike() {
        for (name, meant) in [
            ("ComputeType", Some("computeTypeName")),
            ("compute-type", Some("computeTypeName")),
            ("COMPUTE TYPE NAME", Some("computeTypeName")),
            ("computers", Some("computerName")),
            ("workSpaceId", Some("workSpId")),
            ("user", Some("username")),
            ("desktop_state", Some("state")),
            ("Running.Mode", Some("runningMode")),
            ("accountNumber", Some("account")),
            ("sate", Some("state")),
            ("id", None),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, FIELDS), meant, "{name}");
        }
        assert_eq!(nearest(&"state".repeat(20), FIELDS), None);
        assert_eq!(nearest("form", ["format", "from"]), Some("from"));
    }
}
