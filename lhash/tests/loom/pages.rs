//! Overflow pages that come and go.

use super::*;

fn roomy(keys: &[u32]) -> Arc<Small> {
    filled(builder().fill_factor(100).build().expect("a small map"), keys)
}

fn a_reader_against(
    change: impl Fn(&Small) + Sync + Send + Copy + 'static,
    keys: &'static [u32],
    stable: u32,
) {
    model(&["done"], move || {
        let map = roomy(keys);
        let writer = {
            let map = Arc::clone(&map);
            spawn(move || change(&map))
        };
        let reader = spawn(move || {
            assert_eq!(map.pin().get(&stable), Some(&stable), "the key was there all the time");
        });
        writer.join().unwrap();
        reader.join().unwrap();
        "done".to_owned()
    });
}

#[test]
fn an_entry_on_a_new_page_is_found_whole_or_not_at_all() {
    for keys in [&[0][..], &[0, 4]] {
        model(&["None", "Some(8)"], move || {
            let map = roomy(keys);
            let writer = {
                let map = Arc::clone(&map);
                spawn(move || assert_eq!(map.pin().insert(8, 8), None))
            };
            let reader = spawn(move || map.get_cloned(&8));
            writer.join().unwrap();
            format!("{:?}", reader.join().unwrap())
        });
    }
}

#[test]
fn a_key_behind_a_page_that_is_taken_out_is_never_missed() {
    a_reader_against(|map| assert_eq!(map.pin().remove(&4), Some(&4)), &[0, 4, 8], 8);
}

#[test]
fn a_key_behind_a_first_page_that_is_taken_out_and_used_again_is_never_missed() {
    let change = |map: &Small| {
        assert_eq!(map.pin().remove(&4), Some(&4));
        assert_eq!(map.pin().insert(1, 1), None);
        assert_eq!(map.pin().insert(5, 5), None);
    };
    a_reader_against(change, &[0, 4, 8], 8);
}

#[test]
fn two_inserts_that_need_a_page_each_find_room() {
    model(&["done"], || {
        let map = roomy(&[0]);
        let inserts = [4, 8].map(|key| {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().insert(key, key), None))
        });
        inserts.into_iter().for_each(|insert| insert.join().unwrap());
        assert!([0, 4, 8].iter().all(|key| map.contains_key(key)));
        assert_eq!(map.stats().overflow_pages, 2);
        "done".to_owned()
    });
}
