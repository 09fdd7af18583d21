//! The count: with threads that end.

use super::*;

fn counts_of(policy: CountPolicy) {
    model(&["2"], move || {
        let map: Pairs = builder().fill_factor(100).count_policy(policy).build().expect("a small map");
        let map = Arc::new(map);
        let inserters = [0, 1].map(|key| {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().insert(key, key), None))
        });
        inserters.into_iter().for_each(|inserter| inserter.join().unwrap());
        assert_eq!(map.len(), 2, "what is pending counts, also after its thread has ended");
        map.exact_len().to_string()
    });
}

#[test]
fn no_count_is_lost_when_threads_end() {
    counts_of(CountPolicy::Deferred { cap: 1 });
}

#[test]
fn no_count_is_lost_when_threads_end_quietly() {
    counts_of(CountPolicy::Quiet { cap: 1 });
}

#[test]
fn an_insert_and_a_remove_come_to_nothing() {
    model(&["None 1", "Some(0) 0"], || {
        let map: Pairs =
            builder().count_policy(CountPolicy::Deferred { cap: 1 }).build().expect("a small map");
        let map = Arc::new(map);
        let inserter = {
            let map = Arc::clone(&map);
            spawn(move || assert_eq!(map.pin().insert(0, 0), None))
        };
        let remover = {
            let map = Arc::clone(&map);
            spawn(move || map.pin().remove(&0).copied())
        };
        inserter.join().unwrap();
        let removed = remover.join().unwrap();
        format!("{removed:?} {}", map.exact_len())
    });
}
