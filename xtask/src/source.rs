//! A Rust file as the ledger sees it: its orderings, fences and comments, each with its place.
//!
//! The file is read as tokens, so that an ordering in a string, a doc example or a comment is none, and one
//! inside a macro is one. Code that only tests compile is left out.
//!
//! Next: `source/walk.rs` finds the orderings, `source/comments.rs` the comments, `source/attributes.rs` the tests.

mod attributes;
mod comments;
mod walk;

use std::ops::Range;
use std::str::FromStr;

pub(crate) use comments::{Block, Comments};
use proc_macro2::TokenStream;

use crate::shell::Failure;

/// A memory ordering as it is written in code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Memory {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Memory {
    pub(crate) const ALL: [Self; 5] =
        [Self::Relaxed, Self::Acquire, Self::Release, Self::AcqRel, Self::SeqCst];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Relaxed => "Relaxed",
            Self::Acquire => "Acquire",
            Self::Release => "Release",
            Self::AcqRel => "AcqRel",
            Self::SeqCst => "SeqCst",
        }
    }

    fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|memory| memory.name() == word)
    }

    /// Whether it can be the side that publishes.
    pub(crate) fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel | Self::SeqCst)
    }

    /// Whether it can be the side that receives.
    pub(crate) fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel | Self::SeqCst)
    }
}

/// One ordering in one place.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) memory: Memory,
    /// Counted from 1.
    pub(crate) line: usize,
    /// Where the ordering's name stands in the text.
    pub(crate) name: Range<usize>,
    /// The name stands alone, imported, without `Ordering::` before it.
    pub(crate) bare: bool,
    /// The whole call with its path, when this is the ordering of a fence.
    pub(crate) fence: Option<Range<usize>>,
    /// Relaxed, and only what a compare-exchange with a stronger ordering does when it fails.
    pub(crate) relaxed_failure: bool,
    /// The function around it, or `-`.
    pub(crate) function: String,
    /// The line where that function begins, or 1.
    pub(crate) function_line: usize,
    /// The line where the statement around it begins.
    pub(crate) statement_line: usize,
    /// The list of arguments that it stands in; equal for two orderings of one call.
    call: usize,
}

/// What one file holds.
#[derive(Debug)]
pub(crate) struct Source {
    /// Relative to the workspace, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) sites: Vec<Site>,
    /// Lines with a fence whose ordering is not written there.
    pub(crate) opaque_fences: Vec<usize>,
    pub(crate) comments: Comments,
    /// Paths (without `.rs`) of the modules in files of their own that only tests compile.
    pub(crate) test_modules: Vec<String>,
}

impl Source {
    /// Reads `text`, the content of `path`.
    pub(crate) fn parse(path: &str, text: String) -> Result<Self, Failure> {
        let tokens = tokens(path, &text)?;
        let found = walk::orderings(tokens.clone());
        let folder = module_folder(path);
        let test_modules = found.test_modules.iter().map(|name| format!("{folder}/{name}")).collect();
        let comments = Comments::read(&text, tokens, &found.skipped);
        let (sites, opaque_fences) = (found.sites, found.opaque_fences);
        Ok(Self { path: path.to_owned(), text, sites, opaque_fences, comments, test_modules })
    }

    /// Whether the file at `path` belongs to a module of this file that only tests compile.
    pub(crate) fn owns_test_file(&self, path: &str) -> bool {
        self.test_modules.iter().any(|module| {
            path.strip_prefix(module.as_str()).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        })
    }
}

/// The `#[test]` functions of a file, with the modules inside the file before their names.
pub(crate) fn test_functions(path: &str, text: &str) -> Result<Vec<String>, Failure> {
    Ok(attributes::test_functions(tokens(path, text)?))
}

fn tokens(path: &str, text: &str) -> Result<TokenStream, Failure> {
    TokenStream::from_str(text).map_err(|e| {
        let at = e.span().start();
        Failure::new(format!("{path}:{}: {e}", at.line))
    })
}

/// Where the modules that a file declares have their own files.
fn module_folder(path: &str) -> String {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    match stem.rsplit_once('/') {
        Some((folder, "lib" | "main" | "mod")) => folder.to_owned(),
        _ => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests;
