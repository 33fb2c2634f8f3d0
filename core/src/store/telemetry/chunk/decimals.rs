//! Floats as integers: where every one of a column is the float nearest to a decimal of few digits, those digits; else
//! the bits of IEEE 754.

/// Most digits after the point that are tried.
const DIGITS_MAX: usize = 6;
const POWERS: [f64; DIGITS_MAX + 1] = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6];
/// Decimals are whole numbers below 2^51, in `f64` exact.
const WHOLE_MAX: f64 = 2_251_799_813_685_248.0;
/// 1.5 · 2^52: between 2^52 and 2^53 a float is a whole number and its lowest bits are that number.
const ALIGNED: f64 = 6_755_399_441_055_744.0;

/// A float of either width.
pub(super) trait Float: Copy {
    /// The float nearest to `whole / power`.
    fn nearest(whole: i64, power: f64) -> Self;
    /// The same number, twice as wide where it is narrow.
    fn wide(self) -> f64;
    /// The bits, as an integer.
    fn bits(self) -> i64;
    /// The float of those bits; `None` when there are too many.
    fn from_bits(bits: i64) -> Option<Self>;
}

impl Float for f64 {
    fn nearest(whole: i64, power: f64) -> Self {
        let aligned = ALIGNED.to_bits().wrapping_add(whole.cast_unsigned());
        (Self::from_bits(aligned) - ALIGNED) / power
    }

    fn wide(self) -> f64 {
        self
    }

    fn bits(self) -> i64 {
        self.to_bits().cast_signed()
    }

    fn from_bits(bits: i64) -> Option<Self> {
        Some(Self::from_bits(bits.cast_unsigned()))
    }
}

impl Float for f32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the nearest single is what is stored"
    )]
    fn nearest(whole: i64, power: f64) -> Self {
        f64::nearest(whole, power) as Self
    }

    fn wide(self) -> f64 {
        self.into()
    }

    fn bits(self) -> i64 {
        self.to_bits().into()
    }

    fn from_bits(bits: i64) -> Option<Self> {
        u32::try_from(bits).ok().map(Self::from_bits)
    }
}

/// How the floats of a column are written: as decimals with this many digits after the point, or [`Self::BITS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scale(u8);

impl Scale {
    /// As whole numbers.
    pub(super) const WHOLE: Self = Self(0);
    /// As their bits.
    const BITS: Self = Self(7);

    /// 0 to 7.
    pub(super) fn number(self) -> u8 {
        self.0
    }

    pub(super) fn numbered(number: u8) -> Option<Self> {
        (number <= Self::BITS.0).then_some(Self(number))
    }

    /// The float of an integer that [`whole_numbers`] made; `None` when it made none of it.
    pub(super) fn float<F: Float>(self, whole: i64) -> Option<F> {
        match POWERS.get(usize::from(self.0)) {
            Some(power) => Some(F::nearest(whole, *power)),
            None => F::from_bits(whole),
        }
    }
}

/// Puts the integers to write for the floats of these `bits` into `wholes`; returns how they are written.
pub(super) fn whole_numbers<F: Float>(bits: &[i64], wholes: &mut Vec<i64>) -> Scale {
    for (digits, power) in (0..).zip(POWERS) {
        wholes.clear();
        let floats = bits.iter().map_while(|bits| F::from_bits(*bits));
        wholes.extend(floats.map_while(|float| whole(float, power)));
        if wholes.len() == bits.len() {
            return Scale(digits);
        }
    }
    wholes.clear();
    wholes.extend_from_slice(bits);
    Scale::BITS
}

/// `float * power` as a whole number, if dividing that again gives each bit of `float`.
fn whole<F: Float>(float: F, power: f64) -> Option<i64> {
    let scaled = float.wide() * power;
    if scaled.is_nan() || scaled.abs() >= WHOLE_MAX {
        return None;
    }
    let aligned = (scaled + ALIGNED).to_bits();
    let whole = aligned.wrapping_sub(ALIGNED.to_bits()).cast_signed();
    (F::nearest(whole, power).bits() == float.bits()).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roundtrip<F: Float>(floats: &[F]) -> Scale {
        let bits: Vec<_> = floats.iter().map(|float| float.bits()).collect();
        let mut wholes = Vec::new();
        let scale = whole_numbers::<F>(&bits, &mut wholes);
        assert_eq!(Scale::numbered(scale.number()), Some(scale));
        for (float, whole) in floats.iter().zip(&wholes) {
            let read: F = scale.float(*whole).unwrap();
            assert_eq!(read.bits(), float.bits());
        }
        scale
    }

    #[test]
    fn decimal_floats_roundtrip_bit_by_bit_at_the_lowest_scale() {
        assert_eq!(roundtrip(&[0.07_f32, 22_000.37, 3e6]), Scale(2));
        assert_eq!(roundtrip(&[1.0_f32, 16_777_216.0]), Scale(0));
        assert_eq!(roundtrip(&[86_400.125_f64, 0.5, -7.25]), Scale(3));
        assert_eq!(roundtrip(&[0.1_f64 + 0.2]), Scale::BITS);
        assert_eq!(roundtrip(&[0.0_f64, -0.0]), Scale::BITS);
        assert_eq!(roundtrip(&[f64::MIN_POSITIVE / 8.0, 1e300]), Scale::BITS);
        assert_eq!(roundtrip(&[f64::NAN, f64::INFINITY, -1.0]), Scale::BITS);
        assert_eq!(roundtrip(&[f32::MAX, f32::MIN_POSITIVE / 4.0]), Scale::BITS);
        assert_eq!(roundtrip(&[2_251_799_813_685_247.0_f64]), Scale(0));
        assert_eq!(roundtrip(&[2_251_799_813_685_248.0_f64]), Scale::BITS);
        // Too large for the second digit that the other needs.
        assert_eq!(roundtrip(&[2e15_f64, 0.25]), Scale::BITS);
        assert_eq!(roundtrip::<f32>(&[]), Scale(0));
    }

    #[test]
    fn other_widths_and_scales_are_refused() {
        assert_eq!(Scale::numbered(8), None);
        assert_eq!(Scale::BITS.float::<f32>(-1), None);
        assert_eq!(Scale::BITS.float::<f32>(1 << 32), None);
    }
}
