//! A small crate, from its source to the verdicts.

use super::PATH;
use crate::mutants::{Options, run};
use crate::testing::Sample;

const CODE: &str = "\
pub const LIMIT: u32 = double(2);

pub const fn double(n: u32) -> u32 {
    n * 2
}

pub fn is_small(n: u32) -> bool {
    n < 10
}

pub fn count_down(mut n: u32) {
    while n > 0 {
        n -= 1;
    }
}

pub fn unused() -> &'static str {
    \"nobody asks\"
}

pub fn id(n: core::num::NonZeroU32) -> core::num::NonZeroU32 {
    n
}

#[cfg(test)]
mod tests {
    #[test]
    fn one_is_small_and_eleven_is_not() {
        assert!(super::is_small(1) && !super::is_small(11));
        super::count_down(super::LIMIT);
    }
}
";

fn sample() -> Sample {
    Sample::new("mutants")
        .file("Cargo.toml", "[workspace]\nmembers = [\"sync\"]\nresolver = \"3\"\n")
        .file("sync/Cargo.toml", "[package]\nname = \"mini-sync\"\nversion = \"0.0.0\"\nedition = \"2024\"\n")
        .file(PATH, CODE)
}

#[test]
fn a_crate_is_built_once_and_each_mutant_gets_its_verdict() {
    let sample = sample();
    let options = Options { krate: "sync".to_owned(), limit_seconds: 1, jobs: 2, ..Options::default() };
    run(&sample.tree, &options).expect("it runs");
    let results = sample.tree.target.join("mutants-sync.txt");
    let text = std::fs::read_to_string(&results).expect("the results are there");
    let verdict = |name: &str| {
        let line = text.lines().find(|line| line.contains(name));
        line.and_then(|line| line.split('\t').next()).unwrap_or_else(|| panic!("{name} is not in {text}"))
    };
    assert_eq!(verdict("< -> > in is_small"), "caught");
    assert_eq!(verdict("body -> true in is_small"), "caught");
    assert_eq!(verdict("< -> <= in is_small"), "SURVIVED");
    assert_eq!(verdict("body -> () in count_down"), "SURVIVED");
    assert_eq!(verdict("> -> >= in count_down"), "caught");
    assert_eq!(verdict("-= -> /= in count_down"), "timeout");
    assert_eq!(verdict("body -> \"\" in unused"), "NOT-REACHED");
    assert_eq!(verdict("body -> Default::default() in id"), "no-build");
    // A constant needs it as it is.
    assert_eq!(verdict("* -> + in double"), "no-build");

    let lines = text.lines().count();
    run(&sample.tree, &options).expect("it runs again");
    let again = std::fs::read_to_string(&results).expect("the results are there");
    assert_eq!(again.lines().count(), lines, "what is done is not done again");
}
