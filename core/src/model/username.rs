//! How account names are compared.

use std::borrow::Cow;

/// The name under which two spellings of one account meet: without `DOMAIN\` and `@domain`, in lower case.
pub(crate) fn user_key(name: &str) -> Cow<'_, str> {
    let is_plain =
        |byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'A'..=b'Z' | b'\\' | b'@');
    if name.bytes().all(is_plain) {
        return Cow::Borrowed(name);
    }
    let name = name.rsplit('\\').next().unwrap_or(name);
    let name = name.split('@').next().unwrap_or(name);
    Cow::Owned(name.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domain_and_case_are_ignored() {
        for name in [
            "jdoe",
            "JDoe",
            "CORP\\jdoe",
            "jdoe@corp.example",
            "CORP\\JDOE@corp",
        ] {
            assert_eq!(user_key(name), "jdoe", "{name}");
        }
        assert_eq!(user_key("CORP\\"), "");
        assert_eq!(user_key("Änne"), "änne");
    }
}
