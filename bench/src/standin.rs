//! temporary
#![allow(missing_docs, reason="temporary")]
use std::sync::atomic::{AtomicU32, Ordering::*};
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BufferTag { pub spc_oid: u32, pub db_oid: u32, pub rel_number: u32, pub fork_number: u32, pub block_number: u32 }
#[derive(Debug, Default)]
pub struct PinWord(AtomicU32);
#[derive(Debug)]
pub struct Pinned<'a>(&'a PinWord);
impl Drop for Pinned<'_> { fn drop(&mut self) { self.0.unpin() } }
impl PinWord {
    pub fn new() -> Self { Self(AtomicU32::new(0)) }
    pub fn try_pin(&self) -> bool { self.0.fetch_update(Acquire, Relaxed, |w| (w & 1 << 31 == 0).then_some(w + 1)).is_ok() }
    pub fn unpin(&self) { self.0.fetch_sub(1, Release); }
    pub fn try_evict(&self) -> bool { self.0.compare_exchange(0, 1 << 31, Acquire, Relaxed).is_ok() }
    pub fn finish(&self) { self.0.fetch_and(!(1 << 31), Release); }
    pub fn is_pinned(&self) -> bool { self.0.load(Relaxed) & !(1 << 31) != 0 }
    pub fn pin(&self) -> Option<Pinned<'_>> { self.try_pin().then(|| Pinned(self)) }
}
pub type LwLock<T> = parking_lot::RwLock<T>;
