//! The id that Karenina gives a question: the MD5 of its text. It identifies; it protects nothing.

/// How far each round turns.
const TURNS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The id of a question with this text.
///
/// ```
/// use jurat_core::compat::karenina::question_id;
///
/// assert_eq!(question_id("Question a?"), "28950eafe4fc87818823de2c86041dfb");
/// ```
pub fn question_id(text: &str) -> String {
    digest(text.as_bytes()).iter().map(|it| format!("{it:02x}")).collect()
}

/// RFC 1321.
fn digest(bytes: &[u8]) -> [u8; 16] {
    let mut message = bytes.to_vec();
    message.push(0x80);
    message.resize((message.len() + 8).next_multiple_of(64), 0);
    let n_bits = (bytes.len() as u64).wrapping_mul(8);
    let end = message.len() - 8;
    message[end..].copy_from_slice(&n_bits.to_le_bytes());

    let mut state: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in message.chunks_exact(64) {
        let words: Vec<u32> =
            block.chunks_exact(4).map(|it| u32::from_le_bytes([it[0], it[1], it[2], it[3]])).collect();
        let [mut a, mut b, mut c, mut d] = state;
        for step in 0..64 {
            let (mixed, word) = match step / 16 {
                0 => ((b & c) | (!b & d), step),
                1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
                2 => (b ^ c ^ d, (3 * step + 5) % 16),
                _ => (c ^ (b | !d), 7 * step % 16),
            };
            let sum = a.wrapping_add(mixed).wrapping_add(constant(step)).wrapping_add(words[word]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(TURNS[step / 16][step % 4]));
        }
        for (whole, part) in state.iter_mut().zip([a, b, c, d]) {
            *whole = whole.wrapping_add(part);
        }
    }
    let mut digest = [0; 16];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    digest
}

/// The constant of a step: the first 32 bits behind the point of a sine.
fn constant(step: usize) -> u32 {
    let sine = ((step + 1) as f64).sin().abs();
    (sine * 4_294_967_296.0) as u32
}

#[cfg(test)]
mod tests {
    use super::question_id;

    #[test]
    fn ids_are_those_of_the_standard() {
        // The examples of RFC 1321.
        for (text, id) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ] {
            assert_eq!(question_id(text), id, "{text}");
        }
    }

    #[test]
    fn every_length_of_the_last_block_is_filled() {
        assert_eq!(question_id(&"x".repeat(55)), "04364420e25c512fd958a70738aa8f72");
        assert_eq!(question_id(&"x".repeat(56)), "668a72d5ba17f08e62dabcafad6db14b");
        assert_eq!(question_id(&"x".repeat(63)), "7dc2ca208106a2f703567bdff99d8981");
        assert_eq!(question_id(&"x".repeat(64)), "c1bb4f81d892b2d57947682aeb252456");
    }
}
