//! PostgreSQL's hash of a 4-byte integer: `hash_bytes_uint32`, the last step of B. Jenkins' lookup3 on one word.

use std::hash::{BuildHasherDefault, Hasher};

/// What lookup3's three words begin with: the golden ratio, the length in bytes, and PostgreSQL's own number.
const BEGIN: u32 = 0x9e37_79b9_u32.wrapping_add(4).wrapping_add(3_923_095);

/// Hashes a 4-byte integer as PostgreSQL's hash index does.
#[must_use]
pub const fn hash_uint32(key: u32) -> u32 {
    /// `x ^= y; x -= y rotated`, a step of the final mix.
    const fn step(x: u32, y: u32, rotate: u32) -> u32 {
        (x ^ y).wrapping_sub(y.rotate_left(rotate))
    }
    let (a, b, c) = (BEGIN.wrapping_add(key), BEGIN, BEGIN);
    let c = step(c, b, 14);
    let a = step(a, c, 11);
    let b = step(b, a, 25);
    let c = step(c, b, 16);
    let a = step(a, c, 4);
    let b = step(b, a, 14);
    step(c, b, 24)
}

/// [`hash_uint32`] of one `u32`, and of nothing else.
#[derive(Debug, Default, Clone, Copy)]
pub struct HashUint32(u32);

/// Makes a [`HashUint32`].
pub type BuildHashUint32 = BuildHasherDefault<HashUint32>;

impl Hasher for HashUint32 {
    fn finish(&self) -> u64 {
        u64::from(self.0)
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("the keys write one u32")
    }

    fn write_u32(&mut self, key: u32) {
        self.0 = hash_uint32(key);
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::{BEGIN, BuildHashUint32, hash_uint32};

    #[test]
    fn it_is_what_the_server_says() {
        // `select hashint4(..)`, which shows it signed.
        let known = [(0, -272_711_505), (1, -1_905_060_026), (2, 1_134_484_726), (42, 1_509_752_520)];
        for (key, hash) in known {
            assert_eq!(hash_uint32(key).cast_signed(), hash, "{key}");
            assert_eq!(BuildHashUint32::default().hash_one(key), u64::from(hash.cast_unsigned()), "{key}");
        }
    }

    /// The published text, statement for statement: the words changed in place.
    fn literally(key: u32) -> u32 {
        let rot = u32::rotate_left;
        let (mut a, mut b, mut c) = (BEGIN, BEGIN, BEGIN);
        a = a.wrapping_add(key);
        c ^= b;
        c = c.wrapping_sub(rot(b, 14));
        a ^= c;
        a = a.wrapping_sub(rot(c, 11));
        b ^= a;
        b = b.wrapping_sub(rot(a, 25));
        c ^= b;
        c = c.wrapping_sub(rot(b, 16));
        a ^= c;
        a = a.wrapping_sub(rot(c, 4));
        b ^= a;
        b = b.wrapping_sub(rot(a, 14));
        c ^= b;
        c.wrapping_sub(rot(b, 24))
    }

    #[test]
    fn it_is_the_published_mix() {
        assert_eq!(BEGIN, 0x9e73_5654);
        for key in (0..1000).chain([u32::MAX, 1 << 31, 0x1234_5678]) {
            assert_eq!(hash_uint32(key), literally(key), "{key}");
        }
    }
}
