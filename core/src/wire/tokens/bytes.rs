//! Scans a text eight bytes at a time.

/// The value and the number of the leading digits of eight bytes.
#[inline]
pub(super) fn leading_digits(bytes: [u8; 8]) -> (u64, usize) {
    // Digits become 0 to 9; the high bit of the first byte above 9 is set, and perhaps of some after it.
    let word = u64::from_le_bytes(bytes) ^ 0x3030_3030_3030_3030;
    let others = (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080;
    let count = others.trailing_zeros() as usize / 8;
    if count == 0 {
        return (0, 0);
    }
    // Shifts out what follows the digits, and zeros in before the first. Then joins neighbours three times: to two, four,
    // eight digits.
    let word = word << (64 - 8 * count);
    let word = (word.wrapping_mul(10) + (word >> 8)) & 0x00ff_00ff_00ff_00ff;
    let word = (word.wrapping_mul(100) + (word >> 16)) & 0x0000_ffff_0000_ffff;
    let value = (word.wrapping_mul(10_000) + (word >> 32)) & 0xffff_ffff;
    (value, count)
}

/// The number of bytes before the first quote, backslash or control character.
pub(in crate::wire) fn plain_length(text: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // Sets the high bit of the first byte that is 0, and perhaps of some after it.
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
    fn eight_byte_scan_equals_a_byte_by_byte_scan() {
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
            let count = bytes
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            let value = text[..count].parse().unwrap_or(0);
            assert_eq!(leading_digits(bytes), (value, count), "{bytes:?}");
            let special = |byte: &u8| matches!(byte, b'"' | b'\\' | ..b' ');
            let plain = bytes.iter().position(special).unwrap_or(8);
            assert_eq!(plain_length(&bytes), plain, "{bytes:?}");
        }
        let high: Vec<u8> = (0x80..=0xff).collect();
        assert_eq!(plain_length(&high), high.len());
    }
}
