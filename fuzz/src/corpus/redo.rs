//! Inputs of `redo_decode`.

use std::hash::BuildHasher;

use super::Seeds;
use crate::redo::format::{frame, header};
use lhash::redo::{SeededHasher, SeededState};

/// Payloads with their lengths, undamaged unless `change` says so.
fn sealed(first: u8, at: u16, change: u8, payloads: &[&[u8]]) -> Vec<u8> {
    let [low, high] = at.to_le_bytes();
    let mut input = vec![first, low, high, change];
    payloads.iter().for_each(|payload| {
        input.push(payload.len() as u8);
        input.extend_from_slice(payload);
    });
    input
}

fn steps(at: u16, change: u8) -> Vec<u8> {
    let [low, high] = at.to_le_bytes();
    let mut input = vec![2, low, high, change];
    (0..12).for_each(|key| input.extend([0, key, key]));
    let moves = [[2, 0, 0], [2, 0, 0], [1, 5, 0], [0, 5, 7], [3, 0, 0], [3, 0, 0], [3, 0, 2]];
    [&[[0, 3, 99]], &moves[..], &[[4, 3, 0], [4, 3, 0], [0, 3, 9], [2, 0, 0], [4, 2, 0], [0, 14, 1]]]
        .concat()
        .iter()
        .for_each(|step| input.extend(step));
    input
}

fn raw(bytes: &[&[u8]]) -> Vec<u8> {
    [&[0], &bytes.concat()[..]].concat()
}

/// Sealed payloads of a multimap that counts with losses.
const MULTI_WITH_LOSSES: u8 = 1 | 4 | 4 << 3;

/// An insert of key 0, counted by itself.
fn insert() -> Vec<u8> {
    let hash = SeededState::from_seed(5).hash_one(0_u64);
    let hash = (hash ^ hash >> 32) as u32;
    let words = [lhash::internals::address(3, hash), hash].map(u32::to_le_bytes).concat();
    [&[0x11], &words[..], &[8; 1], &[0; 8]].concat()
}

pub(super) fn seeds() -> Seeds {
    let head = header(false, 0);
    let page = frame(&[4, 1, 0, 0, 0]);
    let kinds: [&[u8]; 10] = [
        &[4, 1, 0, 0, 0],
        &[5, 0, 0, 0, 0, 4, 0, 0, 0],
        &[6, 4, 0, 0, 0, 0, 0, 0, 0],
        &[7, 0, 0, 0, 0],
        &[8, 9, 0, 0, 0, 0, 0, 0, 0],
        &[0x88, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0],
        &[0x87, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1],
        &[9, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0xe9, 1, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[10, 0],
    ];
    let too_many = [&kinds[5][..9], &[255; 7], &[127]].concat();
    let entry = |tag: u8| [&[tag, 0, 0, 0, 0, 0, 0, 0, 0][..], &[1, 0, 0, 0, 0, 8][..]].concat();
    vec![
        ("steps", steps(0, 0)),
        ("steps_flipped", steps(200, 4)),
        ("steps_flipped_at_last", steps(64 + 12 * 40 + 330, 1)),
        ("steps_flipped_in_the_header", steps(20, 1)),
        ("steps_cut", steps(300, 0xff)),
        ("steps_cut_in_the_header", steps(30, 0xff)),
        ("kinds", sealed(1, 0, 0, &kinds)),
        ("kinds_of_a_multimap", sealed(MULTI_WITH_LOSSES, 0, 0, &kinds[3..])),
        ("the_highest_count_and_one_more", sealed(MULTI_WITH_LOSSES, 0, 0, &[kinds[5], &insert()])),
        ("a_count_that_no_map_has", sealed(MULTI_WITH_LOSSES, 0, 0, &[&too_many, &insert()])),
        ("unknown_kind", sealed(1, 0, 0, &kinds[9..])),
        ("a_clear_that_is_too_long", sealed(1, 0, 0, &[kinds[7], &[kinds[7], &[0]].concat()])),
        ("a_clear_with_two_counts", sealed(1, 0, 0, &[&[&[0x79], &kinds[8][1..13]].concat()])),
        ("a_clear_of_more_than_there_are", sealed(1, 0, 0, &[&[0x19, 0, 0, 0, 0, 255, 255, 255, 255]])),
        ("a_number_without_room", sealed(1, 0, 0, &[&entry(0x21)])),
        ("two_counts", sealed(1, 0, 0, &[&entry(0x71)])),
        ("a_key_that_is_too_long", sealed(1, 0, 0, &[&entry(0x61)])),
        ("endless_length", sealed(1, 0, 0, &[&[1, 0, 0, 0, 0, 0, 0, 0, 0, 128, 128, 128, 128, 128, 1]])),
        ("empty", raw(&[])),
        ("wrong_magic", raw(&[b"x", &head[1..]])),
        ("header_alone", raw(&[&head])),
        ("zeros", raw(&[&head, &page, &[0; 64]])),
        ("torn", raw(&[&head, &page, &page[..10]])),
        ("no_length", raw(&[&head, &[0, 0, 0, 0, 1, 0, 0, 0]])),
        ("too_long", raw(&[&head, &[0xff; 8]])),
        ("damage_before_a_record", raw(&[&head, &[1; 8], &page])),
        ("bytes_in_the_padding", raw(&[&head, &page[..15], &[1]])),
    ]
}
