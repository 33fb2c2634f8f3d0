//! Looking at eight bytes of a text at once.

/// The value of eight bytes that are all digits.
pub(super) fn eight_digits(bytes: [u8; 8]) -> Option<u64> {
    let word = u64::from_le_bytes(bytes);
    // The high half of each byte is that of the digits, and stays it when 6 is added, which it does not above 9.
    let high = word & 0xf0f0_f0f0_f0f0_f0f0;
    let plus_six = word.wrapping_add(0x0606_0606_0606_0606) & 0xf0f0_f0f0_f0f0_f0f0;
    if high != 0x3030_3030_3030_3030 || plus_six != 0x3030_3030_3030_3030 {
        return None;
    }
    // Neighbours are put together three times: two, four, eight digits.
    let word = word & 0x0f0f_0f0f_0f0f_0f0f;
    let word = (word.wrapping_mul(10) + (word >> 8)) & 0x00ff_00ff_00ff_00ff;
    let word = (word.wrapping_mul(100) + (word >> 16)) & 0x0000_ffff_0000_ffff;
    Some((word.wrapping_mul(10_000) + (word >> 32)) & 0xffff_ffff)
}

/// How many bytes stand before the first quote, backslash or control character.
pub(super) fn plain_length(text: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // Sets the high bit of the first byte that is 0, and perhaps of some behind it.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let mut length = 0;
    let mut rest = text;
    while let Some((eight, after)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*eight);
        let below_space = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let quote = zeros(word ^ (ONES * u64::from(b'"')));
        let backslash = zeros(word ^ (ONES * u64::from(b'\\')));
        let found = below_space | quote | backslash;
        if found != 0 {
            return length + found.trailing_zeros() as usize / 8;
        }
        length += 8;
        rest = after;
    }
    let end = rest
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\\' | ..b' '));
    length + end.unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use crate::random::SplitMix;

    use super::*;

    #[test]
    fn eight_at_once_are_what_one_by_one_are() {
        let random = SplitMix::new(9);
        for _ in 0..100_000 {
            let mut bytes = random.next().to_le_bytes();
            let near = [
                0x1f, 0x20, b'!', b'"', b'#', b'/', b'0', b'9', b':', b'[', b'\\', 0x7f,
            ];
            for byte in &mut bytes {
                let pick = usize::from(*byte);
                *byte = if pick % 4 == 0 {
                    near[pick / 4 % near.len()]
                } else {
                    b'0' + *byte % 10
                };
            }
            let text: String = bytes.iter().copied().map(char::from).collect();
            let value = bytes
                .iter()
                .all(u8::is_ascii_digit)
                .then(|| text.parse().unwrap());
            assert_eq!(eight_digits(bytes), value, "{bytes:?}");
            let special = |byte: &u8| matches!(byte, b'"' | b'\\' | ..b' ');
            let plain = bytes.iter().position(special).unwrap_or(8);
            assert_eq!(plain_length(&bytes), plain, "{bytes:?}");
        }
        let high: Vec<u8> = (0x80..=0xff).collect();
        assert_eq!(plain_length(&high), high.len());
    }
}
