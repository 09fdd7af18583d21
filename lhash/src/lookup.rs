//! Lookups: what most of them meet, short and inlined, and the rest apart. Next: `chain.rs`, the walk that writers
//! and holders make.

use crate::page::Page;
use crate::reclaim::Pin;
use crate::table::{Bucket, Table};
use crate::word::Control;

impl<T, const N: usize> Table<T, N> {
    /// Finds an entry. Lock-free: it looks again only when others have changed the bucket meanwhile.
    #[inline]
    pub(crate) fn get<'p>(
        &'p self,
        hash: u32,
        pin: &'p Pin,
        mut is: impl FnMut(&T) -> bool,
    ) -> Option<&'p T> {
        let bucket = self.bucket(hash, pin);
        match bucket.page.node_of(hash) {
            Some(node) => {
                // SAFETY: loaded with acquire ordering, under the pin, from a slot that linked it.
                let entry = unsafe { self.nodes.get(node, pin) };
                if is(entry) {
                    return Some(entry);
                }
            }
            None if bucket.seen.is_one_page() && self.is_current(&bucket) => return None,
            None => {}
        }
        self.get_on(bucket, hash, pin, &mut is)
    }

    /// All that a lookup may meet: apart, so that what it meets mostly is short and inlined.
    #[inline(never)]
    fn get_on<'p>(
        &'p self,
        mut bucket: Bucket<'p, N>,
        hash: u32,
        pin: &'p Pin,
        is: &mut impl FnMut(&T) -> bool,
    ) -> Option<&'p T> {
        loop {
            if let Some(entry) = self.look_in(bucket.page, bucket.seen, hash, pin, is) {
                return Some(entry);
            }
            if bucket.seen.is_moving() {
                let found = self.find_while_moving(&bucket, hash, pin, is);
                if found.is_some() {
                    return found;
                }
            }
            if self.is_current(&bucket) {
                return None;
            }
            bucket = self.bucket(hash, pin);
        }
    }

    /// An entry moves at most once while a bucket's flag is up, and is published before it is cleared. If the first
    /// pass over both buckets misses it, it moved during that pass, and the second meets it where it went.
    #[cold]
    fn find_while_moving<'p>(
        &'p self,
        bucket: &Bucket<'p, N>,
        hash: u32,
        pin: &'p Pin,
        is: &mut impl FnMut(&T) -> bool,
    ) -> Option<&'p T> {
        let partner = bucket.geometry.partner_of(bucket.number);
        let partner = partner.and_then(|number| self.buckets.get(number, pin));
        for page in [Some(bucket.page), partner, Some(bucket.page), partner].into_iter().flatten() {
            if let Some(hit) = self.find_in(page, page.control(), hash, pin, is) {
                return Some(hit.entry);
            }
        }
        None
    }

    /// As `find_in`, for a lookup, which need not know where the entry is.
    #[inline]
    pub(crate) fn look_in<'p>(
        &'p self,
        primary: &'p Page<N>,
        control: Control,
        hash: u32,
        pin: &'p Pin,
        is: &mut impl FnMut(&T) -> bool,
    ) -> Option<&'p T> {
        let mut page = primary;
        let mut next = control.overflow();
        loop {
            if let Some(node) = page.node_of(hash) {
                // SAFETY: loaded with acquire ordering, under the pin, from a slot that linked it.
                let entry = unsafe { self.nodes.get(node, pin) };
                if is(entry) {
                    return Some(entry);
                }
                return self.look_at_all(primary, control, hash, pin, is);
            }
            page = self.overflow.get(next?, pin);
            next = page.link().next();
        }
    }

    /// There is another entry of that hash, perhaps on the same page.
    #[cold]
    fn look_at_all<'p>(
        &'p self,
        primary: &'p Page<N>,
        control: Control,
        hash: u32,
        pin: &'p Pin,
        is: &mut impl FnMut(&T) -> bool,
    ) -> Option<&'p T> {
        self.find_in(primary, control, hash, pin, is).map(|hit| hit.entry)
    }
}
