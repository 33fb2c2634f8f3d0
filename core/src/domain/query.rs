//! The query string: `name=value` pairs, percent-decoded once, names without regard to case.

use std::borrow::Cow;

use crate::error::{EngineError, Result};
use crate::nearest::nearest;
use crate::timestamp::Timestamp;

/// The parameter of the caller's key.
pub(crate) const API_KEY: &str = "apiKey";
/// The longest name of a parameter that a refusal repeats, in bytes.
const NAME_SAID_MAX: usize = 32;

/// A raw query string.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Query<'r>(&'r str);

impl<'r> Query<'r> {
    pub(crate) fn new(query: Option<&'r str>) -> Self {
        Self(query.unwrap_or_default())
    }

    fn pairs(self) -> impl Iterator<Item = (&'r str, &'r str)> {
        self.0
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
    }

    /// The first value of `name`; `None` if it is absent, empty or cannot be decoded. Does not check the rest of the query.
    pub(crate) fn get(self, name: &str) -> Option<Cow<'r, str>> {
        let mut values = self.values(name).filter(|value| !value.is_empty());
        decode(values.next()?)
    }

    /// The first value of `name`, for a parameter whose empty value has a meaning.
    pub(crate) fn get_or_empty(self, name: &str) -> Option<Cow<'r, str>> {
        decode(self.values(name).next()?)
    }

    fn values(self, name: &str) -> impl Iterator<Item = &'r str> {
        self.0
            .split('&')
            .filter_map(move |pair| value_of(pair, name))
    }

    /// Checks that all of the query can be decoded. `known` are the parameters that a message may name.
    pub(crate) fn check(self, mut known: impl Iterator<Item = &'static str>) -> Result<()> {
        // The raw query is UTF-8, so only an escape can be invalid.
        if !self.0.contains('%') {
            return Ok(());
        }
        let undecodable = |name: &'static str| {
            EngineError::invalid(name, "The value is not valid percent-encoded UTF-8.")
        };
        for (name, value) in self.pairs() {
            let name = decode(name).ok_or_else(|| undecodable("query"))?;
            if decode(value).is_none() {
                let named = known.find(|known| known.eq_ignore_ascii_case(&name));
                return Err(undecodable(named.unwrap_or("query")));
            }
        }
        Ok(())
    }

    /// Checks that every parameter is one of `known`, `apiKey`, or `_`, which browsers' libraries add against caches.
    pub(crate) fn check_known(self, known: &[&'static str]) -> Result<()> {
        let is_known = |name: &str| {
            let mut known = known.iter().chain([&API_KEY, &"_"]);
            known.any(|known| known.eq_ignore_ascii_case(name))
        };
        let mut names = self.pairs().filter_map(|(name, _)| decode(name));
        match names.find(|name| !is_known(name)) {
            Some(name) => Err(unknown_parameter(&name, known)),
            None => Ok(()),
        }
    }

    /// The first value of `name`, as an owned string.
    pub(crate) fn text(self, name: &str) -> Option<String> {
        self.get(name).map(Cow::into_owned)
    }

    /// The first value of `name` as an int32: an optional sign and decimal digits.
    pub(crate) fn int32(self, name: &'static str) -> Result<Option<i32>> {
        let Some(text) = self.get(name) else {
            return Ok(None);
        };
        int32(&text).map(Some).ok_or_else(|| not_valid(name, &text))
    }

    /// The first value of `name` as an int32 within bounds, or `default` when it is absent.
    pub(crate) fn int32_between(
        self,
        name: &'static str,
        (min, max): (i32, i32),
        default: i32,
    ) -> Result<i32> {
        let value = self.int32(name)?.unwrap_or(default);
        if (min..=max).contains(&value) {
            return Ok(value);
        }
        let message = format!("The field {name} must be between {min} and {max}.");
        Err(EngineError::invalid(name, message))
    }

    /// The first value of `name` as a whole number that is not negative.
    pub(crate) fn number(self, name: &'static str) -> Result<Option<u64>> {
        let number = |text: Cow<'_, str>| {
            let message =
                || format!("The value '{text}' is not valid: it is a whole number, such as 4412.");
            text.parse()
                .map_err(|_| EngineError::invalid(name, message()))
        };
        self.get(name).map(number).transpose()
    }

    /// Whether the first value of `name` is `true`, compared without case; it may be `false` or absent.
    pub(crate) fn flag(self, name: &'static str) -> Result<bool> {
        let known = [true, false];
        let value = self.one_of(name, &known, |value| if value { "true" } else { "false" });
        Ok(value? == Some(true))
    }

    /// The first value of `name` as one of `all`, compared by `as_str` without case.
    pub(crate) fn one_of<T: Copy>(
        self,
        name: &'static str,
        all: &[T],
        as_str: fn(T) -> &'static str,
    ) -> Result<Option<T>> {
        let names: Vec<&str> = all.iter().copied().map(as_str).collect();
        let place = self.one_of_names(name, &names)?;
        Ok(place.and_then(|place| all.get(place).copied()))
    }

    /// The index of the first value of `name` in `names`: one compiled copy for all types.
    fn one_of_names(self, name: &'static str, names: &[&str]) -> Result<Option<usize>> {
        let Some(text) = self.get(name) else {
            return Ok(None);
        };
        let mut known = names.iter();
        let found = known.position(|known| known.eq_ignore_ascii_case(&text));
        if found.is_some() {
            return Ok(found);
        }
        let hint = nearest(&text, names.iter().copied()).map_or_else(
            || format!("Send one of {}.", names.join(", ")),
            |nearest| format!("Did you mean '{nearest}'?"),
        );
        let message = format!("The value '{text}' is not valid. {hint}");
        Err(EngineError::invalid(name, message))
    }

    /// The first value of `name` as a date-time.
    pub(crate) fn time(self, name: &'static str) -> Result<Option<Timestamp>> {
        let refused = |text: &str| match plus_form(text) {
            Some(form) => {
                EngineError::invalid(name, format!("The value '{text}' is not valid. {form}"))
            }
            None => not_valid(name, text),
        };
        let time = |text: Cow<'_, str>| text.parse().map_err(|_| refused(&text));
        self.get(name).map(time).transpose()
    }
}

/// The raw value of a pair named `name`. No name of a parameter has a character that needs an escape.
fn value_of<'r>(pair: &'r str, name: &str) -> Option<&'r str> {
    let plain = pair.split_at_checked(name.len());
    if let Some((_, rest)) = plain.filter(|(plain, _)| plain.eq_ignore_ascii_case(name)) {
        if rest.is_empty() {
            return Some(rest);
        }
        return rest.strip_prefix('=');
    }
    // The names of parameters hold no space, so an encoded one has a `%`.
    if !pair.contains('%') {
        return None;
    }
    let (raw, value) = pair.split_once('=').unwrap_or((pair, ""));
    let named = decode(raw).is_some_and(|raw| raw.eq_ignore_ascii_case(name));
    named.then_some(value)
}

/// The message about a date-time whose `+` was sent unescaped; `None` for any other value.
pub(crate) fn plus_form(text: &str) -> Option<&'static str> {
    let was_plus = text.contains(' ') && text.replace(' ', "+").parse::<Timestamp>().is_ok();
    was_plus.then_some("In a query `+` is a space: write it as %2B.")
}

/// The refusal of an unknown parameter of a question. It does not repeat a long name, which may be anything.
fn unknown_parameter(name: &str, known: &[&'static str]) -> EngineError {
    let name = if name.len() <= NAME_SAID_MAX {
        name
    } else {
        "…"
    };
    let names = known.iter().copied().chain([API_KEY]);
    let hint = match nearest(name, names) {
        Some(nearest) => format!(" Did you mean '{nearest}'?"),
        None if known.is_empty() => " This question has no parameters.".to_owned(),
        None => format!(" This question has {}.", known.join(", ")),
    };
    EngineError::invalid("query", format!("There is no parameter '{name}'.{hint}"))
}

fn not_valid(name: &'static str, text: &str) -> EngineError {
    EngineError::invalid(name, format!("The value '{text}' is not valid."))
}

fn int32(text: &str) -> Option<i32> {
    // `FromStr` takes exactly an optional sign and decimal digits.
    text.parse().ok()
}

/// Decodes `%XX` and `+`, once; `None` on an invalid escape or invalid UTF-8.
fn decode(raw: &str) -> Option<Cow<'_, str>> {
    if !raw.contains(['%', '+']) {
        return Some(Cow::Borrowed(raw));
    }
    decode_percent(raw, true).map(Cow::Owned)
}

/// Decodes one path segment: `%XX`, once.
pub(crate) fn decode_segment(raw: &str) -> Option<String> {
    decode_percent(raw, false)
}

fn decode_percent(raw: &str, plus_is_space: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.as_bytes();
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'%' => {
                let (escape, tail) = rest.split_first_chunk::<2>()?;
                rest = tail;
                let [high, low] = escape.map(|digit| char::from(digit).to_digit(16));
                bytes.push(u8::try_from(high? * 16 + low?).ok()?);
            }
            b'+' if plus_is_space => bytes.push(b' '),
            byte => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Query<'_> {
        let query = Query::new(Some(text));
        query.check(["limit"].into_iter()).unwrap();
        query
    }

    #[test]
    fn parameter_name_in_any_case_returns_the_first_value() {
        let query = parse("LIMIT=1&limit=2&other&a=b=c&&x=");
        assert_eq!(query.get("limit").as_deref(), Some("1"));
        assert_eq!(query.get("other"), None);
        assert_eq!(query.get("x"), None);
        assert_eq!(query.get_or_empty("x").as_deref(), Some(""));
        assert_eq!(parse("limit=&limit=3").get("limit").as_deref(), Some("3"));
        assert_eq!(query.get("a").as_deref(), Some("b=c"));
        assert_eq!(query.get("missing"), None);
        assert_eq!(
            Query::new(Some("%6Cimit=3")).get("limit").as_deref(),
            Some("3")
        );
    }

    #[test]
    fn unknown_parameter_is_refused_with_the_nearest_known_one() {
        let refused = |text: &str| {
            let refused = Query::new(Some(text)).check_known(&["state", "limit"]);
            refused.map_err(|error| error.context().to_owned())
        };
        for known in [
            "",
            "&",
            "STATE=x&limit",
            "apikey=x&%73tate=y",
            "_=1790000000000&limit=2",
        ] {
            assert_eq!(refused(known), Ok(()), "{known}");
        }
        let long = format!("{}=1", "x".repeat(33));
        for (text, hint) in [
            ("state=x&stat=y", "'stat'. Did you mean 'state'?"),
            ("li%6Dits=1", "'limits'. Did you mean 'limit'?"),
            ("api_key=x", "'api_key'. Did you mean 'apiKey'?"),
            ("colour=x", "'colour'. This question has state, limit."),
            ("=x", "''. This question has state, limit."),
            (&long, "'…'. This question has state, limit."),
        ] {
            let expected = format!("There is no parameter {hint}");
            assert_eq!(refused(text), Err(expected), "{text}");
        }
    }

    #[test]
    fn date_time_with_an_unescaped_plus_is_refused_with_its_escape() {
        let time = |text| Query::new(Some(text)).time("from");
        assert!(time("from=2026-11-20T08:00:00%2B02:00").is_ok());
        let message = time("from=2026-11-20T08:00:00+02:00").unwrap_err();
        assert!(message.context().ends_with("write it as %2B."), "{message}");
        let message = time("from=a+b").unwrap_err();
        assert_eq!(message.context(), "The value 'a b' is not valid.");
    }

    #[test]
    fn escaped_value_is_decoded_once() {
        assert_eq!(
            parse("q=a+b%20c%2Bd%2525").get("q").as_deref(),
            Some("a b c+d%25")
        );
        assert_eq!(parse("q=%C3%A4").get("q").as_deref(), Some("ä"));
        assert_eq!(decode_segment("a+b%2F").as_deref(), Some("a+b/"));
    }

    #[test]
    fn invalid_escape_is_refused_with_the_parameter_name() {
        for bad in ["limit=%", "limit=%4", "limit=%zz", "limit=%ff", "Limit=%+1"] {
            let error = Query::new(Some(bad))
                .check(["limit"].into_iter())
                .unwrap_err();
            assert_eq!(error.parameter(), Some("limit"), "{bad}");
        }
        let error = Query::new(Some("x=%zz"))
            .check(["limit"].into_iter())
            .unwrap_err();
        assert_eq!(error.parameter(), Some("query"));
    }

    #[test]
    fn int32_accepts_only_a_sign_and_decimal_digits_in_range() {
        for (text, value) in [("+7", 7), ("-7", -7), ("007", 7), ("-2147483648", i32::MIN)] {
            assert_eq!(int32(text), Some(value));
        }
        for text in [
            "",
            "+",
            "1.0",
            "1e2",
            " 1",
            "0x1",
            "2147483648",
            "1_000",
            "١",
        ] {
            assert_eq!(int32(text), None, "{text}");
        }
    }

    #[test]
    fn int32_between_accepts_only_values_within_the_bounds() {
        for limit in -1..=502 {
            let text = format!("limit={limit}");
            let read = parse(&text).int32_between("limit", (1, 500), 50).ok();
            assert_eq!(read, (1..=500).contains(&limit).then_some(limit));
        }
        assert_eq!(parse("").int32_between("limit", (1, 500), 50).unwrap(), 50);
    }
}
