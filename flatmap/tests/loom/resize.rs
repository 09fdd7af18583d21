//! Lookups and changes against splits and merges. A table of one partition; hashes 0 and 1 share the one bucket, or have
//! one of two each.

use super::*;

const STAYS: Key = key(1, 0);
const GOES: Key = key(2, 1);
const BOTH: [(Key, u32); 2] = [(STAYS, 0), (GOES, 1)];

fn table_of(buckets: u32, mappings: &[(Key, u32)]) -> Table {
    // All heads are there at first, so that a model shows what their marks are for and not how their memory comes.
    let table = builder(3).partitions(1).buckets(4).build().expect("a small table");
    table.set_buckets(buckets).expect("within bounds");
    filled(table, mappings)
}

fn resize(table: &Table, to: &'static [u32]) -> loom::thread::JoinHandle<()> {
    let table = Arc::clone(table);
    spawn(move || to.iter().for_each(|&buckets| table.set_buckets(buckets).expect("within bounds")))
}

/// `wanted` is looked up while a table of `BOTH` is resized.
fn looked_up(from: u32, to: &'static [u32], wanted: Key) -> (Option<u32>, Table) {
    looked_up_among(&BOTH, from, to, wanted)
}

fn looked_up_among(
    mappings: &[(Key, u32)],
    from: u32,
    to: &'static [u32],
    wanted: Key,
) -> (Option<u32>, Table) {
    let table = table_of(from, mappings);
    let resizer = resize(&table, to);
    let reader = {
        let table = Arc::clone(&table);
        spawn(move || table.get(&wanted))
    };
    resizer.join().unwrap();
    let found = reader.join().unwrap();
    for (key, slot) in mappings {
        assert_eq!(table.get(key), Some(*slot), "after it all");
    }
    (found, table)
}

/// How a lookup was settled.
fn manner(table: &Table) -> String {
    let stats = table.stats();
    format!("retried {} fallbacks {}", stats.retried, stats.fallbacks)
}

#[test]
fn a_key_that_a_split_moves_is_found_throughout() {
    model(&["retried 0 fallbacks 0", "retried 1 fallbacks 0", "retried 0 fallbacks 1"], || {
        let (found, table) = looked_up(1, &[2], GOES);
        assert_eq!(found, Some(1), "the key was there all the time");
        manner(&table)
    });
}

#[test]
fn the_memory_of_a_new_head_is_there_before_lookups_go_to_it() {
    model(&["None"], || {
        let table = builder(1).partitions(1).buckets(1).max_buckets(2).build().expect("a small table");
        let table = filled(table, &[]);
        let resizer = resize(&table, &[2]);
        let reader = {
            let table = Arc::clone(&table);
            spawn(move || table.get(&GOES))
        };
        resizer.join().unwrap();
        format!("{:?}", reader.join().unwrap())
    });
}

#[test]
fn the_memory_of_a_new_head_is_there_before_batches_ask_for_it() {
    model(&["[None]"], || {
        let table = builder(1).partitions(1).buckets(1).max_buckets(2).build().expect("a small table");
        let table = filled(table, &[]);
        let resizer = resize(&table, &[2]);
        let reader = {
            let table = Arc::clone(&table);
            spawn(move || {
                let mut found = [Some(7)];
                table.get_many(&[GOES], &mut found);
                found
            })
        };
        resizer.join().unwrap();
        format!("{:?}", reader.join().unwrap())
    });
}

#[test]
fn the_memory_of_a_new_slot_is_there_before_it_is_mapped() {
    model(&["Ok(())", "Err(SlotOutOfRange { slot: 1, slots: 1 })"], || {
        let table = builder(1).max_slots(2).partitions(1).buckets(1).build().expect("a small table");
        let table = filled(table, &[]);
        let resizer = {
            let table = Arc::clone(&table);
            spawn(move || table.set_slots(2).expect("up to the most"))
        };
        let writer = {
            let table = Arc::clone(&table);
            spawn(move || table.insert(STAYS, 1))
        };
        resizer.join().unwrap();
        format!("{:?}", writer.join().unwrap())
    });
}

#[test]
fn a_key_that_a_split_leaves_is_found_throughout() {
    model(&["retried 0 fallbacks 0", "retried 1 fallbacks 0"], || {
        let (found, table) = looked_up(1, &[2], STAYS);
        assert_eq!(found, Some(0), "the key was there all the time");
        manner(&table)
    });
}

#[test]
fn a_key_that_a_merge_moves_is_found_throughout() {
    model(&["retried 0 fallbacks 0", "retried 1 fallbacks 0"], || {
        let (found, table) = looked_up(2, &[1], GOES);
        assert_eq!(found, Some(1), "the key was there all the time");
        manner(&table)
    });
}

#[test]
fn a_key_that_a_merge_leaves_is_found_throughout() {
    model(&["retried 0 fallbacks 0", "retried 1 fallbacks 0"], || {
        let (found, table) = looked_up(2, &[1], STAYS);
        assert_eq!(found, Some(0), "the key was there all the time");
        manner(&table)
    });
}

/// Two resizes within one lookup that look like none.
fn there_and_back(from: u32, to: &'static [u32]) {
    model_within(2, &["retried 0 fallbacks 0", "retried 1 fallbacks 0"], move || {
        let (found, table) = looked_up_among(&BOTH[1..], from, to, GOES);
        assert_eq!(found, Some(1), "the key was there all the time");
        manner(&table)
    });
}

#[test]
fn a_split_and_a_merge_that_look_like_nothing_make_no_lookup_miss() {
    there_and_back(1, &[2, 1]);
}

#[test]
fn a_merge_and_a_split_that_look_like_nothing_make_no_lookup_miss() {
    there_and_back(2, &[1, 2]);
}

#[test]
fn a_key_that_is_not_there_is_not_found_during_a_split() {
    model(&["retried 0 fallbacks 0", "retried 0 fallbacks 1"], || {
        let (found, table) = looked_up(1, &[2], key(3, 1));
        assert_eq!(found, None);
        manner(&table)
    });
}

/// One thread inserts a key of hash 1 while another resizes; a third looks it up afterwards, or meanwhile.
fn inserted(from: u32, to: &'static [u32]) -> String {
    let coming = key(3, 1);
    let table = table_of(from, &BOTH);
    let resizer = resize(&table, to);
    let writer = {
        let table = Arc::clone(&table);
        spawn(move || {
            assert_eq!(table.insert(coming, 2), Ok(()));
            assert_eq!(table.get(&coming), Some(2), "its own insert");
        })
    };
    resizer.join().unwrap();
    writer.join().unwrap();
    for (key, slot) in [BOTH[0], BOTH[1], (coming, 2)] {
        assert_eq!(table.get(&key), Some(slot));
    }
    table.buckets().to_string()
}

#[test]
fn an_insert_against_a_split_or_a_merge_goes_where_lookups_look() {
    model(&["2"], || inserted(1, &[2]));
    model(&["1"], || inserted(2, &[1]));
}

/// One thread removes what a split or merge moves.
fn removed(from: u32, to: &'static [u32]) -> String {
    let table = table_of(from, &BOTH);
    let resizer = resize(&table, to);
    let writer = {
        let table = Arc::clone(&table);
        spawn(move || {
            assert_eq!(table.remove(&GOES), Some(1));
            assert_eq!(table.get(&GOES), None, "its own remove");
            assert_eq!(table.insert(key(3, 0), 1), Ok(()), "the slot is free");
        })
    };
    resizer.join().unwrap();
    writer.join().unwrap();
    assert_eq!([STAYS, GOES, key(3, 0)].map(|key| table.get(&key)), [Some(0), None, Some(1)]);
    table.buckets().to_string()
}

#[test]
fn a_remove_against_a_split_or_a_merge_takes_the_entry_out_of_its_chain() {
    model_within(2, &["2"], || removed(1, &[2]));
    model_within(2, &["1"], || removed(2, &[1]));
}

/// After a split the moved key's slot is given to another key, while a reader from before looks `wanted` up.
fn reused_after_a_split(mappings: &[(Key, u32)], wanted: Key) -> Option<u32> {
    let table = table_of(1, mappings);
    let writer = {
        let table = Arc::clone(&table);
        spawn(move || {
            table.set_buckets(2).expect("within bounds");
            assert_eq!(table.remove(&GOES), Some(1));
            assert_eq!(table.insert(key(3, 1), 1), Ok(()));
        })
    };
    let reader = spawn(move || table.get(&wanted));
    writer.join().unwrap();
    reader.join().unwrap()
}

#[test]
fn a_slot_that_leaves_after_a_split_hides_no_key_from_a_reader_from_before() {
    model_within(2, &["Some(0)"], || {
        let found = reused_after_a_split(&BOTH, STAYS);
        assert_eq!(found, Some(0), "the key was there all the time");
        format!("{found:?}")
    });
}

#[test]
fn a_slot_that_leaves_after_a_split_shows_no_mix_to_a_reader_from_before() {
    model_within(2, &["None"], || {
        let found = reused_after_a_split(&BOTH[1..], key(3, 0));
        assert_eq!(found, None, "nobody ever inserted this key");
        format!("{found:?}")
    });
}

#[test]
fn a_child_split_never_overtakes_that_of_its_parent() {
    model_within(2, &["3"], || {
        // Bucket 2 is split off bucket 0, and hash 2 is in bucket 0 until then, whoever splits.
        let table = table_of(1, &[(key(1, 2), 0), (key(2, 3), 1)]);
        let resizers = [resize(&table, &[3]), resize(&table, &[3])];
        resizers.into_iter().for_each(|resizer| resizer.join().unwrap());
        assert_eq!([key(1, 2), key(2, 3)].map(|key| table.get(&key)), [Some(0), Some(1)]);
        assert_eq!((table.stats().merges, table.stats().splits), (3, 2));
        table.buckets().to_string()
    });
}

/// A lookup that is torn by a split and settled elsewhere says nothing of the bucket that it began at.
#[test]
fn a_pin_against_a_split_and_an_eviction_holds_its_page() {
    model(&["pinned", "not pinned"], || {
        let table = table_of(1, &BOTH[1..]);
        let pins = Arc::new(PinWord::new());
        let writer = {
            let (table, pins) = (Arc::clone(&table), Arc::clone(&pins));
            spawn(move || {
                table.set_buckets(2).expect("within bounds");
                if pins.try_evict() {
                    assert_eq!(table.remove(&GOES), Some(1));
                    pins.finish();
                }
            })
        };
        let reader = {
            let (table, pins) = (Arc::clone(&table), Arc::clone(&pins));
            spawn(move || {
                let pinned = table.pin_with(&GOES, |_| pins.try_pin().then_some(()));
                if pinned.is_some() {
                    assert_eq!((pinned, table.get(&GOES)), (Some((1, ())), Some(1)), "a pinned page stays");
                    pins.unpin();
                }
                pinned.is_some()
            })
        };
        writer.join().unwrap();
        if reader.join().unwrap() { "pinned".into() } else { "not pinned".into() }
    });
}

#[test]
fn a_slot_is_taken_away_or_mapped_and_never_both() {
    model(&["taken away", "mapped"], || {
        let table = table_of(1, &[(STAYS, 0)]);
        let resizer = {
            let table = Arc::clone(&table);
            spawn(move || table.set_slots(2))
        };
        let writer = {
            let table = Arc::clone(&table);
            spawn(move || table.insert(GOES, 2))
        };
        let (shrunk, inserted) = (resizer.join().unwrap(), writer.join().unwrap());
        match (&shrunk, &inserted) {
            (Ok(()), Err(InsertError::SlotOutOfRange { slot: 2, .. })) => "taken away".into(),
            (Err(ResizeError::SlotsInUse { slots: 2, in_use: 1 }), Ok(())) => {
                assert_eq!((table.slots(), table.get(&GOES)), (3, Some(2)));
                "mapped".into()
            }
            // The insert came between the new number and the old one put back.
            (Err(_), Err(_)) => unreachable!("nothing was mapped, so it can't fail: {shrunk:?} {inserted:?}"),
            (Ok(()), _) => panic!("{inserted:?} though the slot is gone"),
            (Err(_), Ok(())) => panic!("{shrunk:?}"),
        }
    });
}
