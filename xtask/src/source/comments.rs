//! The comments of a file, which the tokens leave out, and how they are joined into blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};

/// Comments on lines that follow each other, or the comment at the end of a line of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// Counted from 1.
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// Without the marks, one line after the other.
    pub(crate) text: String,
}

/// Every comment of a file that is not documentation.
#[derive(Debug)]
pub(crate) struct Comments {
    text_of: BTreeMap<usize, String>,
    code: BTreeSet<usize>,
}

impl Comments {
    /// Reads what stands between `tokens` in `text`, except in the parts `skipped`.
    pub(super) fn read(text: &str, tokens: TokenStream, skipped: &[Range<usize>]) -> Self {
        let starts = line_starts(text);
        let mut ranges = Vec::new();
        leaves(tokens, &mut ranges);
        ranges.sort_by_key(|range| range.start);
        let mut comments = Self { text_of: BTreeMap::new(), code: BTreeSet::new() };
        let mut end = 0;
        for range in ranges.into_iter().chain(std::iter::once(text.len()..text.len())) {
            if range.start > end {
                comments.gap(text, end..range.start, &starts, skipped);
            }
            if range.start < range.end {
                comments.code.extend(line_of(&starts, range.start)..=line_of(&starts, range.end - 1));
            }
            end = end.max(range.end);
        }
        comments
    }

    /// The comment at the end of a line of code.
    pub(crate) fn trailing(&self, line: usize) -> Option<Block> {
        let text = self.text_of.get(&line).filter(|_| self.code.contains(&line))?;
        Some(Block { first: line, last: line, text: text.clone() })
    }

    /// The comments on the lines directly above `line` that hold nothing else.
    pub(crate) fn above(&self, line: usize) -> Option<Block> {
        let last = line.checked_sub(1).filter(|&l| self.is_alone(l))?;
        let mut first = last;
        while first > 1 && self.is_alone(first - 1) {
            first -= 1;
        }
        let lines: Vec<_> = self.text_of.range(first..=last).map(|(_, text)| text.as_str()).collect();
        Some(Block { first, last, text: lines.join("\n") })
    }

    /// Every block of the file, in order.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        for &line in self.text_of.keys() {
            if let Some(block) = self.trailing(line) {
                blocks.push(block);
            } else if !self.is_alone(line + 1) {
                blocks.extend(self.above(line + 1));
            }
        }
        blocks
    }

    fn is_alone(&self, line: usize) -> bool {
        self.text_of.contains_key(&line) && !self.code.contains(&line)
    }

    /// Reads the comments of a part of the text that holds no token.
    fn gap(&mut self, text: &str, gap: Range<usize>, starts: &[usize], skipped: &[Range<usize>]) {
        let mut at = gap.start;
        while let Some(offset) = text[at..gap.end].find('/') {
            let start = at + offset;
            let rest = &text[start..gap.end];
            let length = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                block_comment(rest)
            } else {
                1
            };
            if length > 1 && !skipped.iter().any(|part| part.contains(&start)) {
                for (number, line) in rest[..length].lines().enumerate() {
                    let entry = self.text_of.entry(line_of(starts, start) + number).or_default();
                    entry.push_str(line.trim().trim_start_matches(['/', '*']).trim());
                }
            }
            at = start + length;
        }
    }
}

/// The length of the block comment that `text` begins with.
fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The places of all tokens, the delimiters of groups included.
fn leaves(tokens: TokenStream, ranges: &mut Vec<Range<usize>>) {
    for tree in tokens {
        match tree {
            TokenTree::Group(group) => {
                ranges.push(group.span_open().byte_range());
                leaves(group.stream(), ranges);
                ranges.push(group.span_close().byte_range());
            }
            other => ranges.push(other.span().byte_range()),
        }
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

/// The line that holds the byte `at`, counted from 1.
fn line_of(starts: &[usize], at: usize) -> usize {
    starts.partition_point(|&start| start <= at)
}
