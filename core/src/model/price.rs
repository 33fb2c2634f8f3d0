//! What a compute type costs.

use super::ComputeType;
use super::row::Decimal;

/// Decimals of a price that are kept.
const DECIMALS: u32 = 4;

/// The price of a compute type, in ten-thousandths of a currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Price {
    /// In upper case.
    pub(crate) compute_type: String,
    /// A month with `ALWAYS_ON`.
    pub(crate) always_on: i64,
    /// A month with `AUTO_STOP`, without its hours.
    pub(crate) auto_stop: i64,
    /// An hour with `AUTO_STOP`.
    pub(crate) hour: i64,
}

impl Price {
    /// Reads `STANDARD 35 9.75 0.30`: the type, a month with `ALWAYS_ON`, a month with `AUTO_STOP`, an hour of that.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let compute_type = ComputeType::named(words.next()?)?.as_str().to_owned();
        let mut price = || {
            let price = Decimal::unscaled(words.next()?, DECIMALS)?;
            (price >= 0).then_some(price)
        };
        let price = Self {
            compute_type,
            always_on: price()?,
            auto_stop: price()?,
            hour: price()?,
        };
        words.next().is_none().then_some(price)
    }

    /// Whether a text is a price, for the settings.
    pub(crate) fn is_price(text: &str) -> bool {
        Self::parse(text).is_some()
    }

    /// The hours of a month above which `ALWAYS_ON` costs less, rounded up; `None` where an hour costs nothing.
    pub(crate) fn hour_limit(&self) -> Option<u16> {
        let difference = (self.always_on - self.auto_stop).max(0);
        let hours =
            (self.hour > 0).then(|| difference.saturating_add(self.hour - 1) / self.hour)?;
        u16::try_from(hours).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn price_has_a_type_and_three_amounts() {
        let price = Price::parse("Power Pro 1 2 3");
        assert_eq!(price, None, "a type is one word");
        let price = Price::parse("standard  35 9.75\t0.30").unwrap();
        assert_eq!(price.compute_type, "STANDARD");
        assert_eq!(
            (price.always_on, price.auto_stop, price.hour),
            (350_000, 97_500, 3_000)
        );
        assert_eq!(price.hour_limit(), Some(85));
        for bad in [
            "",
            "STANDARD",
            "STANDARD 35 9.75",
            "STANDARD 35 9.75 0.30 1",
            "HUGE 1 2 3",
            "STANDARD 35 9,75 0.30",
            "STANDARD -1 9.75 0.30",
            "STANDARD 35 9.75 0.30001",
            "STANDARD 1e3 9.75 0.3",
        ] {
            assert!(!Price::is_price(bad), "{bad}");
        }
        let limit = |text| Price::parse(text).and_then(|price| price.hour_limit());
        assert_eq!(limit("VALUE 10 0 0"), None);
        assert_eq!(limit("VALUE 1 2 1"), Some(0));
        assert_eq!(limit("VALUE 99999 0 0.0001"), None);
    }
}
