//! An inverted index: from each word to the documents it is in, built by four threads. Some words are in every document.
//!
//! What it shows: `LHashMultiMap` keeps a value for each insert, and an insert of a word that has 100,000 values already costs what
//! the first one did; `vacuum` takes the documents out that were deleted, and puts the count right.
//!
//! `cargo run --release -p latchfree-lhash --example multimap_postings`

use lhash::LHashMultiMap;
use std::thread;
use std::time::Instant;

const DOCUMENTS: u32 = 100_000;
const THREADS: u32 = 4;

/// The words of a document: one that all have, a topic, and two that hardly any other has.
fn words(document: u32) -> [String; 4] {
    let topic = format!("topic-{}", document % 50);
    ["the".to_owned(), topic, format!("name-{}", document / 2), format!("number-{document}")]
}

fn main() {
    let index: LHashMultiMap<String, u32> = LHashMultiMap::new();
    let start = Instant::now();
    thread::scope(|s| {
        for first in 0..THREADS {
            let index = &index;
            s.spawn(move || {
                let index = index.pin();
                for document in (first..DOCUMENTS).step_by(THREADS as usize) {
                    words(document).into_iter().for_each(|word| index.insert(word, document));
                }
            });
        }
    });
    println!("{} postings of {DOCUMENTS} documents in {:.2?}", index.len(), start.elapsed());

    let mut pinned = index.pin();
    println!("\"the\" is in {} documents, \"topic-7\" in {}", pinned.count("the"), pinned.count("topic-7"));
    assert_eq!((pinned.count("the"), pinned.count("topic-7")), (DOCUMENTS as usize, DOCUMENTS as usize / 50));
    let mut namesakes: Vec<u32> = pinned.get_all("name-123").copied().collect();
    namesakes.sort_unstable();
    println!("\"name-123\" is in {namesakes:?}");
    assert_eq!(namesakes, [246, 247]);

    let start = Instant::now();
    let vacuumed = pinned.vacuum(|_, document| document % 10 != 0);
    println!("nine documents of ten are deleted, in {:.2?}: {vacuumed:?}", start.elapsed());
    assert_eq!((pinned.count("the"), pinned.len()), (DOCUMENTS as usize / 10, 4 * DOCUMENTS as usize / 10));
    assert!(!pinned.contains("number-11") && pinned.contains("number-10"));
    let before = index.stats();
    pinned.shrink_to_fit();
    drop(pinned);
    let after = index.stats();
    println!(
        "buckets {} -> {}, overflow pages {} -> {}",
        before.max_bucket + 1,
        after.max_bucket + 1,
        before.overflow_pages,
        after.overflow_pages
    );
}
