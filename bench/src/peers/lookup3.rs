//! The hash function of `dynahash`: Bob Jenkins' lookup3 over whole words.
//!
//! Written from the algorithm as its author published it for the public domain in May 2006
//! (<https://burtleburtle.net/bob/c/lookup3.c>, `hashword`). PostgreSQL's hash function is the same mixing
//! from another starting value.

use crate::table::{BufferTag, tag_words};

/// Hashes a tag's 20 bytes.
#[inline]
#[must_use]
pub fn hash_tag(tag: &BufferTag) -> u32 {
    hash_words(&tag_words(tag), 20, 0)
}

/// Hashes `len_bytes` bytes that were laid out as little-endian words, with zeros after the last byte.
///
/// `words` must be those bytes' words and no more, and at least one.
#[inline]
fn hash_words(words: &[u32], len_bytes: u32, seed: u32) -> u32 {
    let mut state = [0xdead_beef_u32.wrapping_add(len_bytes).wrapping_add(seed); 3];
    let mut chunks = words.chunks(3).peekable();
    while let Some(chunk) = chunks.next() {
        state.iter_mut().zip(chunk).for_each(|(s, word)| *s = s.wrapping_add(*word));
        state = if chunks.peek().is_some() { mix(state) } else { finish(state) };
    }
    state[2]
}

/// Mixes the three words of the state so that each affects all, reversibly.
#[inline]
fn mix([mut a, mut b, mut c]: [u32; 3]) -> [u32; 3] {
    a = a.wrapping_sub(c) ^ c.rotate_left(4);
    c = c.wrapping_add(b);
    b = b.wrapping_sub(a) ^ a.rotate_left(6);
    a = a.wrapping_add(c);
    c = c.wrapping_sub(b) ^ b.rotate_left(8);
    b = b.wrapping_add(a);
    a = a.wrapping_sub(c) ^ c.rotate_left(16);
    c = c.wrapping_add(b);
    b = b.wrapping_sub(a) ^ a.rotate_left(19);
    a = a.wrapping_add(c);
    c = c.wrapping_sub(b) ^ b.rotate_left(4);
    b = b.wrapping_add(a);
    [a, b, c]
}

/// The last mixing, after which the third word is the hash.
#[inline]
fn finish([mut a, mut b, mut c]: [u32; 3]) -> [u32; 3] {
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    c = (c ^ b).wrapping_sub(b.rotate_left(24));
    [a, b, c]
}

#[cfg(test)]
mod tests {
    use super::hash_words;

    /// The hash of a sentence of 30 bytes with seeds 0 and 1, as lookup3.c gives it.
    #[test]
    fn the_published_example_comes_out() {
        let mut bytes = b"Four score and seven years ago".to_vec();
        bytes.resize(32, 0);
        let words: Vec<u32> = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        assert_eq!(hash_words(&words, 30, 0), 0x1777_0551);
        assert_eq!(hash_words(&words, 30, 1), 0xcd62_8161);
    }
}
