//! What the product crates depend on: each with a reason in DESIGN.md, few in all, and under licences that ask for nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::shell;
use crate::tree::Tree;

/// Licences that a user may combine with any other.
const LICENCES: [&str; 5] = ["MIT", "Apache-2.0", "Zlib", "Unicode-3.0", "Unlicense"];

/// The most packages in a crate's tree, with all its features, itself included.
const MOST: [(&str, usize); 3] = [("sync", 6), ("flatmap", 14), ("lhash", 26)];

/// The packages that a crate needs, with all its features, by name; with their licences.
fn needed(tree: &Tree, krate: &str, depth: &str) -> BTreeMap<String, String> {
    let mut command = shell::cargo();
    command.current_dir(&tree.root).args(["tree", "--edges", "normal", "--prefix", "none", "--all-features"]);
    command.args(["--depth", depth, "--format", "{p}|{l}", "--package"]);
    let output = command.arg(tree.package(krate).expect("it is a package")).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let package = |line: &str| {
        let (package, licence) = line.split_once('|')?;
        Some((package.split(' ').next()?.to_owned(), licence.trim_end_matches(" (*)").to_owned()))
    };
    text.lines().filter_map(package).collect()
}

/// Whether one choice of every "or" is a licence of the list.
fn is_free(licence: &str) -> bool {
    let plain = licence.replace(['(', ')'], "").replace('/', " OR ");
    plain.split(" AND ").all(|part| part.split(" OR ").any(|one| LICENCES.contains(&one.trim())))
}

#[test]
fn each_direct_dependency_has_a_reason() {
    let tree = Tree::find().expect("the tests run in the workspace");
    let design = tree.read("DESIGN.md").expect("it is there");
    let section = design.split("## Dependencies").nth(1).expect("DESIGN.md has a section on dependencies");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let listed: BTreeSet<&str> = rows.map(|(name, _)| name).collect();
    let direct: BTreeSet<String> = tree
        .product()
        .flat_map(|krate| needed(&tree, krate, "1").into_keys())
        .filter(|name| !name.starts_with("latchfree-"))
        .collect();
    assert_eq!(listed, direct.iter().map(String::as_str).collect::<BTreeSet<_>>());
}

#[test]
fn trees_are_short_and_their_licences_free() {
    let tree = Tree::find().expect("the tests run in the workspace");
    for (krate, most) in MOST {
        let packages = needed(&tree, krate, "99");
        assert!(
            packages.len() <= most,
            "{krate} needs {} packages, not {most}: {packages:?}",
            packages.len()
        );
        for (package, licence) in packages {
            assert!(is_free(&licence), "{package} is under {licence:?}; allowed are {LICENCES:?}");
        }
    }
}

#[test]
fn a_licence_is_free_if_a_choice_of_it_is() {
    for free in ["MIT", "MIT OR GPL-3.0", "MIT/Apache-2.0", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
        assert!(is_free(free), "{free}");
    }
    for not in ["", "GPL-3.0", "MIT AND GPL-3.0"] {
        assert!(!is_free(not), "{not}");
    }
}
