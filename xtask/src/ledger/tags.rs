//! The tags in the code: which comment speaks for which ordering.
//!
//! A tag stands in the comment at the end of the ordering's line, or in the comments directly above that line,
//! or directly above an earlier line of the same statement. The nearest that fits wins.
//!
//! Next: `rows.rs`.

use std::collections::BTreeMap;
use std::fmt;

use super::Problem;
use crate::source::{Block, Comments, Memory, Site, Source};

/// How many lines below its comment a `Relaxed` may stand.
const RELAXED_REACH: usize = 6;

/// The side of a happens-before edge that an ordering is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    Rel,
    Acq,
}

impl End {
    pub(crate) const BOTH: [Self; 2] = [Self::Rel, Self::Acq];

    /// Whether an access with this ordering can be this side.
    pub(crate) fn fits(self, memory: Memory) -> bool {
        match self {
            Self::Rel => memory.releases(),
            Self::Acq => memory.acquires(),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rel => "rel",
            Self::Acq => "acq",
        })
    }
}

/// One id at one end of one site.
#[derive(Debug, Clone)]
pub(crate) struct Use {
    pub(crate) id: String,
    pub(crate) end: End,
    /// Which of the ledger's sources.
    pub(crate) source: usize,
    /// Which of that source's sites.
    pub(crate) site: usize,
}

/// What the tags of one file say.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) uses: Vec<Use>,
    pub(super) problems: Vec<Problem>,
    pub(super) relaxed: usize,
}

/// A tag as written: `ORD(id ends)`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tag {
    id: String,
    ends: Vec<End>,
}

/// Reads the tags of `source`, which is the ledger's source number `index`.
pub(super) fn read(index: usize, source: &Source) -> Read {
    let mut read = Read::default();
    let mut blocks = Blocks::new(source, &mut read.problems);
    for (number, site) in source.sites.iter().enumerate() {
        if site.memory == Memory::Relaxed {
            read.relaxed += 1;
            if !site.relaxed_failure && !has_reason(&source.comments, site) {
                let text = "Relaxed without a reason: write `// Relaxed: why` above it";
                read.problems.push(Problem::new(&source.path, site.line, text));
            }
            continue;
        }
        let found = blocks.tags_for(source, site);
        let missing = missing_ends(site.memory, &found);
        let one_is_enough = site.memory == Memory::SeqCst && !found.is_empty();
        if !missing.is_empty() && !one_is_enough {
            let what = if site.fence.is_some() { "fence" } else { "ordering" };
            let text = format!("{} {what} without a tag `// ORD(ID {missing}): text`", site.memory.name());
            read.problems.push(Problem::new(&source.path, site.line, text));
        }
        read.uses.extend(found.into_iter().map(|(id, end)| Use { id, end, source: index, site: number }));
    }
    for &line in &source.opaque_fences {
        let text = "a fence whose ordering is not written at the call can't be tagged";
        read.problems.push(Problem::new(&source.path, line, text));
    }
    read.problems.extend(blocks.unused(source));
    read
}

fn missing_ends(memory: Memory, found: &[(String, End)]) -> String {
    let missing: String = End::BOTH
        .into_iter()
        .filter(|end| end.fits(memory) && found.iter().all(|(_, other)| other != end))
        .map(|end| end.to_string())
        .collect();
    if missing == "relacq" { "acqrel".to_owned() } else { missing }
}

/// The comment blocks of a file that hold tags, with what was used of them.
struct Blocks {
    /// By first line: the block's tags, each with the ends that a site took.
    tags: BTreeMap<usize, Vec<(Tag, Vec<End>)>>,
}

impl Blocks {
    fn new(source: &Source, problems: &mut Vec<Problem>) -> Self {
        let mut tags = BTreeMap::new();
        for block in source.comments.blocks() {
            let (found, faults) = parse(&block);
            problems.extend(faults.into_iter().map(|text| Problem::new(&source.path, block.first, text)));
            if !found.is_empty() {
                tags.insert(block.first, found.into_iter().map(|tag| (tag, Vec::new())).collect());
            }
        }
        Self { tags }
    }

    /// The ids that speak for `site`, each with its end.
    fn tags_for(&mut self, source: &Source, site: &Site) -> Vec<(String, End)> {
        let comments = &source.comments;
        let mut open: Vec<End> = End::BOTH.into_iter().filter(|end| end.fits(site.memory)).collect();
        let mut found = Vec::new();
        let above = (site.statement_line..=site.line).rev().filter_map(|line| comments.above(line));
        for block in comments.trailing(site.line).into_iter().chain(above) {
            let Some(tags) = self.tags.get_mut(&block.first) else { continue };
            let before = found.len();
            for (tag, used) in tags {
                for &end in tag.ends.iter().filter(|end| open.contains(end)) {
                    used.push(end);
                    found.push((tag.id.clone(), end));
                }
            }
            open.retain(|end| found[before..].iter().all(|(_, taken)| taken != end));
            if open.is_empty() {
                break;
            }
        }
        found
    }

    /// The tags that speak for nothing, or for less than they say.
    fn unused(self, source: &Source) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (line, tags) in self.tags {
            for (tag, used) in tags {
                for end in tag.ends.iter().filter(|end| !used.contains(end)) {
                    let text = format!("ORD({} {end}) speaks for no {end} ordering below it", tag.id);
                    problems.push(Problem::new(&source.path, line, text));
                }
            }
        }
        problems
    }
}

/// The tags of a block, and what is wrong with it. `ORD(ID)` without an end is a reference, not a tag.
fn parse(block: &Block) -> (Vec<Tag>, Vec<String>) {
    let mut tags = Vec::new();
    let mut faults = Vec::new();
    let mut rest = block.text.as_str();
    while let Some(at) = rest.find("ORD(") {
        rest = &rest[at + 4..];
        let Some(close) = rest.find(')') else {
            faults.push("ORD( is never closed".to_owned());
            break;
        };
        let inside = &rest[..close];
        rest = &rest[close + 1..];
        let words: Vec<_> = inside.split_whitespace().collect();
        match words[..] {
            [id] if is_id(id) => {}
            [id, ends] if is_id(id) => match ends_named(ends) {
                Some(ends) => {
                    if !rest.contains(char::is_alphanumeric) {
                        faults.push(format!("ORD({inside}) needs `: text` after it"));
                    }
                    tags.push(Tag { id: id.to_owned(), ends });
                }
                None => faults.push(format!("ORD({inside}): the end is `rel`, `acq` or `acqrel`")),
            },
            _ => faults.push(format!("ORD({inside}) is not `ORD(ID end)`")),
        }
    }
    (tags, faults)
}

/// An id is capitals, digits and hyphens, with a prefix: `FM-LINK`.
pub(super) fn is_id(word: &str) -> bool {
    word.contains('-')
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-')
        && !word.ends_with('-')
}

fn ends_named(word: &str) -> Option<Vec<End>> {
    match word {
        "rel" => Some(vec![End::Rel]),
        "acq" => Some(vec![End::Acq]),
        "acqrel" => Some(vec![End::Rel, End::Acq]),
        _ => None,
    }
}

/// How far the reason for a Relaxed reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// `Relaxed: why`: its statement, and [`RELAXED_REACH`] lines.
    Near,
    /// `Relaxed, both: why`: to the end of the function.
    Function,
}

/// The reason that a comment gives for a Relaxed, if any.
fn reason(block: &Block) -> Option<Reach> {
    let mut near = None;
    for (at, word) in block.text.match_indices("Relaxed") {
        let rest = &block.text[at + word.len()..];
        if rest.starts_with(": ") {
            near = Some(Reach::Near);
        }
        let which = rest.strip_prefix(", ").and_then(|rest| rest.split_once(": "));
        if which.is_some_and(|(which, _)| !which.contains(['.', ';', '\n'])) {
            return Some(Reach::Function);
        }
    }
    near
}

/// Whether a comment gives the reason for a Relaxed: at the end of its line, above its statement, or ending at
/// most [`RELAXED_REACH`] lines above it in the same function; or anywhere before it in the function, if the
/// comment says that it speaks for several.
fn has_reason(comments: &Comments, site: &Site) -> bool {
    let lowest = site.line.saturating_sub(RELAXED_REACH).max(site.function_line);
    let near = (lowest..=site.line).filter_map(|line| comments.trailing(line));
    let above = (lowest + 1..=site.line).chain(site.statement_line..=site.line);
    let in_function = (site.function_line + 1..=site.line).filter_map(|line| comments.above(line));
    near.chain(above.filter_map(|line| comments.above(line))).any(|block| reason(&block).is_some())
        || in_function.into_iter().any(|block| reason(&block) == Some(Reach::Function))
}
