//! The known name that a misspelled one most likely means.

/// Names longer than this, in bytes, are not compared: the time grows with the product of both lengths.
const NAME_BYTES_MAX: usize = 64;

/// The name of `known` that `name` most likely means, compared without case: at most a third of the characters of the longer one
/// differ.
///
/// ```
/// let known = ["computerName", "username", "state"];
/// assert_eq!(deskfleet::fields::nearest("userNmae", known), Some("username"));
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
    let name = name.to_ascii_lowercase();
    known
        .map(|known| {
            let distance = strsim::osa_distance(&name, &known.to_ascii_lowercase());
            (distance, known)
        })
        .filter(|(distance, known)| {
            distance.saturating_mul(3) <= known.len().max(name.len()).max(3)
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}
