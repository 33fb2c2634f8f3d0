//! How names of users, computers and instances are compared.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;

/// The form of a name that is compared and stored in keys: NFC, then simple case folding, then NFC again, because
/// folding can make a pair of characters that composes (`H` and a macron below). Folding is idempotent. Lower-case
/// ASCII is not copied.
///
/// Simple folding replaces one character by one: `Σ`, `ς` and `σ` are the same, as are `ẞ` and `ß`; `ß` and `ss` differ, and `İ`
/// and `ı` differ from `i` and from each other.
pub(crate) fn folded(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(name.to_ascii_lowercase())
        } else {
            Cow::Borrowed(name)
        };
    }
    let nfc = ComposingNormalizerBorrowed::new_nfc();
    let folded: String = nfc.normalize(name).chars().map(simple_folding).collect();
    Cow::Owned(nfc.normalize(&folded).into_owned())
}

/// The form of an account name that is compared: the part after the last `\` and before the first `@`, [`folded`].
pub(crate) fn user_key(name: &str) -> Cow<'_, str> {
    let is_plain =
        |byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'A'..=b'Z' | b'\\' | b'@');
    // Most names need no change.
    if name.bytes().all(is_plain) {
        return Cow::Borrowed(name);
    }
    let account = name.rsplit('\\').next().unwrap_or(name);
    folded(account.split('@').next().unwrap_or(account))
}

/// The form in which ids of workspaces are compared: [`folded`], without white space at its ends and without what cannot be seen.
pub(crate) fn id_key(id: &str) -> Cow<'_, str> {
    if id.chars().any(is_invisible) {
        let visible: String = id.chars().filter(|char| !is_invisible(*char)).collect();
        Cow::Owned(folded(visible.trim()).into_owned())
    } else {
        folded(id.trim())
    }
}

/// Whether a character is a control or format character, or another that Unicode shows as nothing.
pub(crate) fn is_invisible(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}'
            | '\u{8e2}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Unicode's simple case folding (statuses C and S of `CaseFolding.txt`): the lower case of the standard library where that is
/// one character, except for the characters listed here, most of which are variants of a small letter. Deriving these from the
/// upper case would add its table to the WebAssembly module, 5 kB in gzip.
fn simple_folding(char: char) -> char {
    let shifted = |by: u32| char::from_u32(u32::from(char) - by).unwrap_or(char);
    match char {
        'µ' => 'μ',
        'ſ' => 's',
        '\u{345}' | '\u{1fbe}' => 'ι',
        'ς' => 'σ',
        'ϐ' => 'β',
        'ϑ' => 'θ',
        'ϕ' => 'φ',
        'ϖ' => 'π',
        'ϰ' => 'κ',
        'ϱ' => 'ρ',
        'ϵ' => 'ε',
        '\u{1c80}' => 'в',
        '\u{1c81}' => 'д',
        '\u{1c82}' => 'о',
        '\u{1c83}' => 'с',
        '\u{1c84}' | '\u{1c85}' => 'т',
        '\u{1c86}' => 'ъ',
        '\u{1c87}' => 'ѣ',
        '\u{1c88}' => 'ꙋ',
        'ẛ' => 'ṡ',
        // Two ligatures of the same letters.
        '\u{fb05}' => '\u{fb06}',
        // Cherokee folds to its upper case, which is older than the lower case.
        '\u{13a0}'..='\u{13f5}' => char,
        '\u{13f8}'..='\u{13fd}' => shifted(0x13f8 - 0x13f0),
        '\u{ab70}'..='\u{abbf}' => shifted(0xab70 - 0x13a0),
        _ => single(char.to_lowercase(), char),
    }
}

/// The mapping where it is one character, else `otherwise`.
fn single(mut mapping: impl Iterator<Item = char>, otherwise: char) -> char {
    match (mapping.next(), mapping.next()) {
        (Some(only), None) => only,
        _ => otherwise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_folding_of_every_character_matches_unicode() {
        let (unicode, nfc) = (
            icu_casemap::CaseMapper::new(),
            ComposingNormalizerBorrowed::new_nfc(),
        );
        let mut differ = Vec::new();
        for char in '\0'..=char::MAX {
            let (folded, expected) = (simple_folding(char), unicode.simple_fold(char));
            // The other data may be of a newer Unicode, with letters that this compiler does not know.
            let known = !char.to_lowercase().eq([char]) || !char.to_uppercase().eq([char]);
            if folded != expected && known && nfc.is_normalized(char.encode_utf8(&mut [0; 4])) {
                differ.push((char, folded, expected));
            }
        }
        assert!(differ.is_empty(), "{differ:?}");
    }

    #[test]
    fn equivalent_spellings_fold_to_one_form() {
        for (form, spellings) in [
            ("jdoe", ["JDoe", "jDOE", "JDOE"].as_slice()),
            ("k", &["K", "\u{212a}"]),
            ("\u{e5}", &["Å", "\u{212b}", "A\u{30a}", "a\u{30a}"]),
            ("\u{df}", &["ß", "ẞ"]),
            ("σσσ", &["Σσς", "ςσΣ", "σσς"]),
            ("\u{1e96}", &["h\u{331}", "H\u{331}", "\u{1e96}"]),
            ("\u{1c6}", &["Ǆ", "ǅ", "ǆ"]),
            ("\u{130}", &["İ", "I\u{307}"]),
            ("\u{fb06}", &["\u{fb05}", "\u{fb06}"]),
            ("\u{13a0}", &["\u{13a0}", "\u{ab70}"]),
            ("\u{390}", &["\u{390}", "\u{1fd3}", "ι\u{308}\u{301}"]),
            ("한", &["한", "\u{1112}\u{1161}\u{11ab}"]),
            ("q\u{323}\u{307}", &["q\u{307}\u{323}", "Q\u{323}\u{307}"]),
        ] {
            for spelling in spellings {
                assert_eq!(folded(spelling), form, "{spelling:?}");
            }
        }
    }

    #[test]
    fn different_names_fold_to_different_forms() {
        let names = [
            "i",
            "ı",
            "İ",
            "i\u{307}\u{307}",
            "ß",
            "ss",
            "e",
            "é",
            "o",
            "ø",
            "0",
            "ﬁ",
            "fi",
            "ﬀ",
            "²",
            "2",
            "Ａ",
            "a",
            "а",
            "",
            " ",
            "ŉ",
            "ʼn",
        ];
        for (place, one) in names.iter().enumerate() {
            for other in names.iter().skip(place + 1) {
                assert_ne!(folded(one), folded(other), "{one:?} and {other:?}");
            }
        }
    }

    #[test]
    fn folding_of_folded_or_decomposed_text_changes_nothing() {
        let nfd = icu_normalizer::DecomposingNormalizerBorrowed::new_nfd();
        let check = |name: &str| {
            let form = folded(name);
            assert_eq!(folded(&form), form, "{name:?}");
            assert_eq!(folded(&nfd.normalize(name)), form, "{name:?}");
        };
        for char in '\0'..='\u{2ffff}' {
            check(char.encode_utf8(&mut [0; 4]));
            if char.is_lowercase() || char.is_uppercase() {
                for mark in ["\u{301}", "\u{307}", "\u{331}", "\u{345}", "\u{301}\u{323}"] {
                    check(&format!("{char}{mark}"));
                }
            }
        }
    }

    #[test]
    fn ids_with_other_case_white_space_or_invisible_characters_are_equal() {
        for id in [
            "ws-1",
            "WS-1",
            "ws-1 ",
            "\u{a0}Ws-1",
            "w\u{200b}s-1",
            "\u{202e}ws-1",
            "ws-1\n",
        ] {
            assert_eq!(id_key(id), "ws-1", "{id:?}");
        }
        assert_ne!(id_key("ws 1"), id_key("ws1"));
        assert!(matches!(id_key("ws-1"), Cow::Borrowed(_)));
    }

    #[test]
    fn folding_of_lower_case_ascii_does_not_copy() {
        assert!(matches!(folded("ws-8k2m4n6p1"), Cow::Borrowed(_)));
        assert!(matches!(
            user_key("CORP\\jdoe@corp.example"),
            Cow::Borrowed("jdoe")
        ));
    }

    #[test]
    fn usernames_with_other_domain_or_case_are_equal() {
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
        assert_eq!(user_key("CORP\\A\u{308}nne"), "änne");
    }
}
