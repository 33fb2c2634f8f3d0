//! Text of others, as it may be shown.

/// `text` from elsewhere, with its control characters as `\u{1b}`: a terminal would obey them.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() {
            visible.extend(char.escape_default());
        } else {
            visible.push(char);
        }
    }
    visible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_made_visible() {
        let text = "Zo\u{eb} \u{1b}]0;x\u{7}\u{9b}2J\r\n\t\u{7f}";
        let expected = "Zo\u{eb} \\u{1b}]0;x\\u{7}\\u{9b}2J\\r\\n\\t\\u{7f}";
        assert_eq!(visible(text), expected);
    }
}
