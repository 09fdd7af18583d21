//! The ring of the redo log: places that are filled by several threads and emptied by one.

use super::*;
use lhash::internals::Ring;

/// A frame of two words: length, checksum (which the ring does not look at), a payload of 8 bytes.
fn frame(payload: u8) -> [u8; 16] {
    let mut frame = [payload; 16];
    frame[..8].copy_from_slice(&[8, 0, 0, 0, 1, 1, 1, 1]);
    frame
}

/// Takes frames out until there are so many; returns their payloads.
fn take(ring: &Ring, frames: usize) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::new();
    while out.len() < frames * 16 {
        let new = ring.take(out.len() as u64);
        if new.is_empty() {
            sync::prim::yield_now();
        }
        out.extend(new);
    }
    out.chunks(16)
        .map(|bytes| (bytes[8], bytes))
        .map(|(payload, bytes)| {
            assert!(payload != 0 && bytes == frame(payload), "a frame that is not whole: {bytes:?}");
            payload
        })
        .collect()
}

#[test]
fn frames_of_two_threads_are_taken_out_whole() {
    model(&["[1, 2]", "[2, 1]"], || {
        let ring = Arc::new(Ring::new(64));
        let fillers = [1, 2].map(|payload| {
            let ring = Arc::clone(&ring);
            spawn(move || ring.put(&frame(payload)))
        });
        let taker = {
            let ring = Arc::clone(&ring);
            spawn(move || take(&ring, 2))
        };
        fillers.into_iter().for_each(|filler| filler.join().unwrap());
        format!("{:?}", taker.join().unwrap())
    });
}

#[test]
fn a_place_that_is_used_again_is_empty_before() {
    model(&["[1, 2]"], || {
        let ring = Arc::new(Ring::new(16));
        let filler = {
            let ring = Arc::clone(&ring);
            spawn(move || [1, 2].into_iter().for_each(|payload| ring.put(&frame(payload))))
        };
        let taker = {
            let ring = Arc::clone(&ring);
            spawn(move || take(&ring, 2))
        };
        filler.join().unwrap();
        format!("{:?}", taker.join().unwrap())
    });
}

#[test]
fn a_place_that_another_permit_made_room_for_is_empty_before() {
    model(&["[1, 2, 3]", "[1, 3, 2]"], || {
        let ring = Arc::new(Ring::new(32));
        ring.put(&frame(1));
        // Permitted before the first frame was taken out; but its place may be that frame's, if another thread, which was
        // permitted afterwards, takes the one in between.
        ring.permit(16);
        let other = {
            let ring = Arc::clone(&ring);
            spawn(move || ring.put(&frame(3)))
        };
        let taker = {
            let ring = Arc::clone(&ring);
            spawn(move || take(&ring, 3))
        };
        ring.put_permitted(&frame(2));
        other.join().unwrap();
        format!("{:?}", taker.join().unwrap())
    });
}
