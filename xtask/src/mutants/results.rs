//! The results, a line for each mutant as it is done: a word, seconds, the mutant, what it was caught by.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

use super::trial::Verdict;
use crate::shell::Failure;

/// A file of results, from this run and those before.
#[derive(Debug)]
pub(super) struct Results {
    file: File,
    /// Each mutant's word.
    words: BTreeMap<String, String>,
}

impl Results {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let known = if path.exists() { fs::read_to_string(path)? } else { String::new() };
        let words = known.lines().filter_map(|line| {
            let mut fields = line.split('\t');
            let word = fields.next()?.to_owned();
            Some((fields.nth(1)?.to_owned(), word))
        });
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { words: words.collect(), file })
    }

    pub(super) fn word(&self, mutant: &str) -> Option<&str> {
        self.words.get(mutant).map(String::as_str)
    }

    pub(super) fn add(&mut self, mutant: &str, verdict: &Verdict, seconds: f64) -> Result<(), Failure> {
        let line = format!("{}\t{seconds:.2}\t{mutant}\t{verdict}\n", verdict.word());
        self.file.write_all(line.as_bytes())?;
        self.words.insert(mutant.to_owned(), verdict.word().to_owned());
        Ok(())
    }

    /// How many of these mutants there are of each word.
    pub(super) fn totals<'a>(&self, mutants: impl Iterator<Item = &'a str>) -> String {
        let words: Vec<Option<&String>> = mutants.map(|mutant| self.words.get(mutant)).collect();
        let count = |word: &str| words.iter().filter(|w| w.is_some_and(|w| w == word)).count();
        let of_word: Vec<_> = Verdict::WORDS.iter().map(|word| format!("{} {word}", count(word))).collect();
        let open = words.iter().filter(|word| word.is_none()).count();
        format!("{} mutants: {}, {open} not run", words.len(), of_word.join(", "))
    }
}
