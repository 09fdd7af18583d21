//! The arithmetic of addresses, for those who test it from outside. Not part of the public API: it may change in any
//! release.

use crate::addr::{self, Geometry};
use crate::chunks::Segment;
use crate::family::Families;

/// The bucket of a hash.
pub fn address(max_bucket: u32, hash: u32) -> u32 {
    Geometry::new(max_bucket).address(hash)
}

/// The least mask that covers every bucket, and half of it.
pub fn masks(max_bucket: u32) -> (u32, u32) {
    let geometry = Geometry::new(max_bucket);
    (geometry.high_mask(), geometry.low_mask())
}

/// The bucket that `bucket`, which is not 0, is split off from.
pub fn parent(bucket: u32) -> u32 {
    addr::parent(bucket)
}

/// The bucket that shares a move with this one, if the last one is just being split off or merged.
pub fn partner(max_bucket: u32, bucket: u32) -> Option<u32> {
    Geometry::new(max_bucket).partner_of(bucket)
}

/// The buckets in which the hashes are that agree with `family` in the bits of `mask`.
pub fn buckets_of_family(max_bucket: u32, family: u32, mask: u32) -> impl Iterator<Item = u32> {
    Families::buckets(Geometry::new(max_bucket), family, mask)
}

/// Where a bucket lies: the first number of its segment, its place there, and the segment's length.
pub fn place(bucket: u32) -> (u64, usize, usize) {
    let (segment, offset) = Segment::of(bucket);
    (segment.first(), offset, segment.len())
}

/// The ring of the redo log, for its model.
#[cfg(all(loom, feature = "loom"))]
#[derive(Debug)]
pub struct Ring(crate::redo::ring::Ring);

#[cfg(all(loom, feature = "loom"))]
impl Ring {
    /// Of so many bytes.
    pub fn new(bytes: usize) -> Self {
        Self(crate::redo::ring::Ring::new(bytes, 0))
    }

    /// Waits until there is room for so many bytes.
    pub fn permit(&self, bytes: usize) {
        while !self.0.permit(bytes as u64) {
            sync::prim::yield_now();
        }
    }

    /// Takes a place for a frame, which was permitted, and fills it.
    pub fn put_permitted(&self, frame: &[u8]) {
        self.0.fill(self.0.reserve(frame.len() as u64), frame);
    }

    /// Fills a place with a frame, once there is room for one.
    pub fn put(&self, frame: &[u8]) {
        self.permit(frame.len());
        self.put_permitted(frame);
    }

    /// Takes out what was put in after `from`.
    pub fn take(&self, from: u64) -> Vec<u8> {
        let mut out = Vec::new();
        self.0.read(from, &mut out);
        self.0.empty(from, from + out.len() as u64);
        out
    }
}

/// The group commit of the redo log, for its model.
#[cfg(all(loom, feature = "loom"))]
#[derive(Debug)]
pub struct Commit<W, E>(crate::redo::commit::Commit<W, E>);

#[cfg(all(loom, feature = "loom"))]
impl<W, E: Clone> Commit<W, E> {
    /// Nothing is on the disk.
    pub fn new(writer: W) -> Self {
        Self(crate::redo::commit::Commit::new(writer, 0))
    }

    /// Waits until all up to a position is on the disk.
    pub fn flush(
        &self,
        lsn: u64,
        write: impl Fn(&mut W) -> Result<u64, E>,
        sync: impl Fn(&mut W) -> Result<(), E>,
    ) -> Result<(), E> {
        self.0.flush(lsn, write, sync)
    }
}
