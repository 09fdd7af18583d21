//! GUARANTEES.md against the code: what its tables name is there, and public documentation cites each promise.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::Tree;

/// The ids in a text: two capitals, a hyphen, a number.
fn ids(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let is_id = |word: &&str| {
        word.split_once('-').is_some_and(|(prefix, number)| {
            ["SY", "FM", "LH"].contains(&prefix)
                && !number.is_empty()
                && number.bytes().all(|b| b.is_ascii_digit())
        })
    };
    words.filter(is_id).map(str::to_owned).collect()
}

/// The promises by their ids: what shows each.
fn promises(text: &str) -> BTreeMap<String, String> {
    let rows = text.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [id, _, shown] = cells[..] else { return None };
        (ids(id).len() == 1).then(|| (id.to_owned(), shown.to_owned()))
    });
    rows.collect()
}

/// What the public documentation of the three crates says.
fn documentation(tree: &Tree) -> String {
    let files =
        tree.product().flat_map(|krate| tree.rust_files(&format!("{krate}/src")).expect("it has sources"));
    let texts = files.map(|path| tree.read(&path).expect("it can be read"));
    let lines = texts.flat_map(|text| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>());
    lines.filter(|line| line.starts_with("///") || line.starts_with("//!")).collect::<Vec<_>>().join("\n")
}

#[test]
fn documentation_cites_each_promise_and_no_other() {
    let tree = Tree::find().expect("the tests run in the workspace");
    let promised: BTreeSet<String> =
        promises(&tree.read("GUARANTEES.md").expect("it is there")).into_keys().collect();
    assert!(promised.len() > 30, "{promised:?}");
    assert_eq!(ids(&documentation(&tree)), promised);
}

#[test]
fn what_shows_a_promise_is_there() {
    let tree = Tree::find().expect("the tests run in the workspace");
    for (id, shown) in promises(&tree.read("GUARANTEES.md").expect("it is there")) {
        assert!(shown.contains("model") || shown.contains("test"), "{id}: {shown}");
        let quoted: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
        let krate = match id.split_at(2).0 {
            "SY" => "sync",
            "FM" => "flatmap",
            _ => "lhash",
        };
        for name in quoted {
            let is_there = if name.contains('/') {
                tree.root.join(name).exists()
            } else {
                let files = tree.rust_files(&format!("{krate}/tests")).expect("it has tests");
                let is_module = |path: &String| path.ends_with(&format!("/{name}.rs"));
                let function = format!("fn {name}(");
                files.iter().any(is_module)
                    || files.iter().any(|path| tree.read(path).is_ok_and(|text| text.contains(&function)))
            };
            assert!(is_there, "{id} names `{name}`, which is not there");
        }
    }
}
