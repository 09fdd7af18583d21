//! What must not compile, each beside what does: faults of other maps that the types rule out here.
//!
//! A reference outlives its pin:
//!
//! ```compile_fail,E0505
//! let map = lhash::LHashMap::from([(1, 1)]);
//! let pin = map.pin();
//! let value = pin.get(&1);
//! drop(pin);
//! println!("{value:?}");
//! ```
//!
//! ```
//! let map = lhash::LHashMap::from([(1, 1)]);
//! let pin = map.pin();
//! let value = pin.get(&1);
//! println!("{value:?}");
//! drop(pin);
//! ```
//!
//! A reference outlives a `repin`, which lets go of it:
//!
//! ```compile_fail,E0502
//! let map = lhash::LHashMap::from([(1, 1)]);
//! let mut pin = map.pin();
//! let value = pin.get(&1);
//! pin.repin();
//! println!("{value:?}");
//! ```
//!
//! or a `shrink_to_fit`, which does that too:
//!
//! ```compile_fail,E0502
//! let map = lhash::LHashMultiMap::from_iter([(1, 1)]);
//! let mut pin = map.pin();
//! let value = pin.get_all(&1).next();
//! pin.shrink_to_fit();
//! println!("{value:?}");
//! ```
//!
//! A pin outlives its map, also in an iterator:
//!
//! ```compile_fail,E0505
//! let map = lhash::LHashMap::from([(1, 1)]);
//! let pin = map.pin();
//! drop(map);
//! println!("{:?}", pin.iter().next());
//! ```
//!
//! A pin goes to another thread, or is held over an `await`:
//!
//! ```compile_fail,E0277
//! let map = lhash::LHashMap::from([(1, 1)]);
//! std::thread::scope(|s| {
//!     let pin = map.pin();
//!     s.spawn(move || pin.len());
//! });
//! ```
//!
//! ```compile_fail
//! fn is_send(_: impl Send) {}
//! let map = lhash::LHashMap::from([(1, 1)]);
//! is_send(async {
//!     let pin = map.pin();
//!     std::future::ready(()).await;
//!     pin.len()
//! });
//! ```
//!
//! ```
//! fn is_send(_: impl Send) {}
//! let map = lhash::LHashMap::from([(1, 1)]);
//! is_send(async {
//!     let len = map.pin().len();
//!     std::future::ready(()).await;
//!     len
//! });
//! ```
//!
//! Entries that are not `Send` are dropped on another thread, and such that are not `'static` after what they borrow:
//!
//! ```compile_fail,E0277
//! lhash::LHashMap::new().pin().insert(1, std::rc::Rc::new(1));
//! ```
//!
//! ```compile_fail,E0597
//! let map = lhash::LHashMap::new();
//! {
//!     let text = String::from("short-lived");
//!     map.pin().insert(1, &text[..]);
//! }
//! ```
//!
//! A map whose values are not `Sync` is shared:
//!
//! ```compile_fail,E0277
//! fn is_sync(_: impl Sync) {}
//! is_sync(lhash::LHashMap::<u8, std::cell::Cell<u8>>::new());
//! ```
