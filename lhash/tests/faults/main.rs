//! Faults that an attack on the table found, or looked for. Next: `drops.rs`.

mod bombs;
mod closures;
mod collector;
mod drops;
mod settings;
mod stress;
mod torn_down;
mod user_code;
mod vacuum;

use std::hash::{BuildHasherDefault, Hasher};

/// Hashes a `u64` to itself.
#[derive(Clone, Default)]
pub(crate) struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are u64");
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = n;
    }
}

pub(crate) type Same = BuildHasherDefault<Identity>;
