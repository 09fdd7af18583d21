//! Nodes: an entry's key and value, each in a numbered cell that never moves. Next: `page.rs`, whose slots name them.
//!
//! Invariants:
//! * I3: a cell whose number `Ids` has handed out and not got back holds a value, but for the moment in `place`
//!   and `drop_all` between the two.
//! * I4: a number goes back to `Ids` only after it was unlinked, and after every pin of then is gone.

use crate::chunks::{Chunks, Element, Segment};
use crate::error::OutOfMemory;
use crate::ids::{Ids, Unused};
use crate::reclaim::{Pin, contain};
use core::mem::MaybeUninit;
use sync::prim::UnsafeCell;

/// Threads that insert and remove at the same time take numbers from so many places.
const SHARDS: usize = 16;

/// The number of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(u32);

impl NodeId {
    pub(crate) const fn from_number(number: u32) -> Self {
        Self(number)
    }

    pub(crate) const fn number(self) -> u32 {
        self.0
    }
}

#[derive(Debug)]
pub(crate) struct Cell<T>(UnsafeCell<MaybeUninit<T>>);

// SAFETY: a cell is written by the one thread that was handed its number, and read by those who found it in a slot
// (the slot's word publishes it); `T: Sync` makes the shared reads sound, `T: Send` the drop elsewhere.
unsafe impl<T: Send + Sync> Sync for Cell<T> {}

impl<T> Element for Cell<T> {
    fn segment(len: usize) -> Option<Box<[Self]>> {
        let mut cells = Vec::new();
        cells.try_reserve_exact(len).ok()?;
        cells.extend((0..len).map(|_| Self(UnsafeCell::new(MaybeUninit::uninit()))));
        Some(cells.into_boxed_slice())
    }
}

#[derive(Debug)]
pub(crate) struct Nodes<T> {
    cells: Chunks<Cell<T>>,
    ids: Ids,
}

impl<T> Nodes<T> {
    /// One number is left out, so that a slot's word can hold number + 1.
    pub(crate) const MAX: u32 = u32::MAX - 1;

    pub(crate) fn new() -> Self {
        Self { cells: Chunks::new(), ids: Ids::new(Self::MAX, SHARDS) }
    }

    /// Puts a value into a cell.
    pub(crate) fn place(&self, value: T, pin: &Pin) -> Result<NodeId, (OutOfMemory, T)> {
        let number = match self.ids.take(|segment| self.cells.add(segment)) {
            Ok(number) => number,
            Err(error) => return Err((error, value)),
        };
        let cell = self.cell(number, pin).0.get_mut();
        // SAFETY: the number was handed to us alone (I4), so nobody else looks at the cell.
        unsafe { cell.deref() }.write(value);
        Ok(NodeId(number))
    }

    #[inline]
    fn cell<'p>(&'p self, number: u32, pin: &'p Pin) -> &'p Cell<T> {
        self.cells.get(number, pin).expect("the segment of a number in use is there")
    }

    /// The value of a node.
    ///
    /// # Safety
    /// The number was loaded, with acquire ordering and under `pin`, from a slot that was linked then, or it belongs
    /// to the caller and is not retired.
    #[inline]
    pub(crate) unsafe fn get<'p>(&'p self, node: NodeId, pin: &'p Pin) -> &'p T {
        let cell = self.cell(node.0, pin).0.get();
        // SAFETY: nobody writes to the cell until it has gone back to `Ids`: after this pin (I4).
        let value = unsafe { cell.deref() };
        // SAFETY: I3. The borrow is tied to the pin.
        unsafe { &*value.as_ptr() }
    }

    /// Takes the value of a node that nobody else can have found, and frees its number.
    ///
    /// # Safety
    /// The number belongs to the caller; it was never linked, or the caller has the table to itself.
    pub(crate) unsafe fn take(&self, node: NodeId) -> T {
        // SAFETY: the caller's promise.
        let value = unsafe { self.take_out(node.0) };
        self.ids.give_back(&[node.0]);
        value
    }

    /// # Safety
    /// Nobody else looks at the cell, and it holds a value (I3), which leaves it.
    unsafe fn take_out(&self, number: u32) -> T {
        // No pin: at the end of a thread each would be a new participant, whose first pin collects, and one expired bag
        // would be dropped inside another until the stack ends.
        // SAFETY: the number is in use, so its segment stays (see `Ids::take_free_segments`).
        let cell = unsafe { self.cells.get_unpinned(number) };
        let cell = cell.expect("the segment of a number in use is there").0.get_mut();
        // SAFETY: the caller's promise.
        let value = unsafe { cell.deref() };
        // SAFETY: as above.
        unsafe { value.assume_init_read() }
    }

    /// Notes that a node was unlinked. Now and then returns those to be dropped once the pins of now are gone.
    pub(crate) fn retire(&self, node: NodeId) -> Option<Vec<u32>> {
        self.ids.retire(node.0)
    }

    pub(crate) fn take_retired(&self) -> Vec<u32> {
        self.ids.take_retired()
    }

    /// Drops the values of nodes and frees their numbers. A panic in a `Drop` is reported by the panic hook and goes
    /// no further: it would hit whoever comes by, and the rest must be dropped too.
    ///
    /// # Safety
    /// The numbers were retired, and the pins of then are gone.
    pub(crate) unsafe fn drop_all(&self, numbers: &[u32]) {
        for &number in numbers {
            // SAFETY: the caller's promise.
            let value = unsafe { self.take_out(number) };
            contain(|| drop(value));
        }
        self.ids.give_back(numbers);
    }

    /// Gives segments back in which nothing is in use.
    pub(crate) fn trim(&self, pin: &Pin)
    where
        T: 'static,
    {
        self.ids.take_free_segments(|segment: Segment| self.cells.retire(segment, pin));
    }

    pub(crate) fn bytes(&self) -> usize {
        self.cells.bytes()
    }

    pub(crate) fn unused(&self) -> Unused {
        self.ids.unused()
    }
}

impl<T> Nodes<T> {
    /// Frees the numbers of nodes and drops their values on this thread; the rest too if a `Drop` panics.
    ///
    /// # Safety
    /// The numbers are in use, each is there once, and nobody else looks at their nodes.
    pub(crate) unsafe fn end_all(&self, numbers: &[u32]) {
        self.ids.give_back(numbers);
        self.drop_each(&mut numbers.iter().copied());
    }

    /// A second panic aborts, as everywhere.
    fn drop_each(&self, numbers: &mut impl Iterator<Item = u32>) {
        struct Rest<'a, T, I: Iterator<Item = u32>>(&'a Nodes<T>, &'a mut I);
        impl<T, I: Iterator<Item = u32>> Rest<'_, T, I> {
            fn drop_them(&mut self) {
                for number in self.1.by_ref() {
                    // SAFETY: I3, and both callers have these cells to themselves.
                    drop(unsafe { self.0.take_out(number) });
                }
            }
        }
        impl<T, I: Iterator<Item = u32>> Drop for Rest<'_, T, I> {
            fn drop(&mut self) {
                self.drop_them();
            }
        }
        Rest(self, numbers).drop_them();
    }
}

impl<T> Drop for Nodes<T> {
    fn drop(&mut self) {
        if core::mem::needs_drop::<T>() {
            let mut in_use = self.ids.in_use();
            self.drop_each(&mut in_use);
        }
    }
}
