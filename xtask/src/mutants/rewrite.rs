//! A file with all its mutants in it, each behind a switch; and which mutant it was that the compiler refused.
//!
//! Everything is put in on the line where it belongs, so lines keep their numbers.
//!
//! Next: `switch.rs`, what the switch asks.

use std::collections::BTreeSet;
use std::ops::Range;

use super::find::{Change, Form, Site};

/// What is not put in.
#[derive(Debug, Default)]
pub(super) struct Refused {
    /// Mutants that do not compile.
    pub(super) numbers: BTreeSet<u32>,
    /// Functions that have to stay `const`, as their sites name them.
    pub(super) constant: BTreeSet<String>,
}

impl Refused {
    fn has(&self, site: &Site, change: &Change) -> bool {
        self.numbers.contains(&change.number) || self.constant.contains(&site.function)
    }
}

/// A file's new text, and where its mutants are in it.
#[derive(Debug, Default)]
pub(super) struct Rewritten {
    pub(super) text: String,
    /// From the outer to the inner ones.
    places: Vec<(Range<usize>, BTreeSet<u32>)>,
}

/// Puts all changes that are not refused into `text`.
pub(super) fn rewrite(text: &str, sites: &[Site], refused: &Refused) -> Rewritten {
    let mut sites: Vec<&Site> = sites.iter().filter(|site| is_put_in(site, refused)).collect();
    // Sites of one range stay in the order in which they were found, the outer ones first.
    sites.sort_by_key(|site| (site.range.start, !site.range.is_empty(), usize::MAX - site.range.end));
    let mut rewritten = Rewritten::default();
    let mut queue = &sites[..];
    let end = rewritten.copy(text, 0..text.len(), &mut queue, refused);
    rewritten.text.push_str(&text[end..]);
    rewritten
}

fn is_put_in(site: &Site, refused: &Refused) -> bool {
    let is_left = site.form == Form::Const || site.changes.iter().any(|change| !refused.has(site, change));
    is_left && !refused.constant.contains(&site.function)
}

impl Rewritten {
    /// Copies `range` of `text` with the sites of the queue that lie in it; returns how far it got.
    fn copy(&mut self, text: &str, range: Range<usize>, queue: &mut &[&Site], refused: &Refused) -> usize {
        let mut at = range.start;
        while let Some((&site, rest)) = queue.split_first() {
            if site.range.start >= range.end || site.range.end > range.end {
                break;
            }
            *queue = rest;
            self.text.push_str(&text[at..site.range.start]);
            let place = self.places.len();
            let start = self.text.len();
            self.places.push((0..0, BTreeSet::new()));
            let after = self.before(site, refused);
            let end = self.copy(text, site.range.clone(), queue, refused);
            self.text.push_str(&text[end..site.range.end]);
            self.text.push_str(after);
            let left = site.changes.iter().filter(|change| !refused.has(site, change));
            self.places[place] = (start..self.text.len(), left.map(|change| change.number).collect());
            at = site.range.end;
        }
        at
    }

    /// Writes what stands before a site, and returns what has to stand behind it.
    fn before(&mut self, site: &Site, refused: &Refused) -> &'static str {
        let on = |change: &Change| format!("crate::mutant::on({})", change.number);
        match site.form {
            Form::Const => self.text.push_str("/*"),
            Form::Value | Form::Statement | Form::Giving => self.text.push('('),
            Form::Body | Form::Arm => {}
        }
        for change in site.changes.iter().filter(|change| !refused.has(site, change)) {
            let text = &change.text;
            let start = self.text.len();
            self.text.push_str(&match site.form {
                Form::Value | Form::Statement | Form::Giving => {
                    format!("if {} {{ {text} }} else ", on(change))
                }
                Form::Body => format!(" if {} {{ return {text}; }}", on(change)),
                Form::Arm => format!(" if !{}", on(change)),
                Form::Const => String::new(),
            });
            self.places.push((start..self.text.len(), BTreeSet::from([change.number])));
        }
        match site.form {
            Form::Value | Form::Statement | Form::Giving => self.text.push_str("{ "),
            Form::Body | Form::Arm | Form::Const => {}
        }
        match site.form {
            Form::Value => " })",
            Form::Statement | Form::Giving => "; })",
            Form::Const => "*/",
            Form::Body | Form::Arm => "",
        }
    }

    /// The mutants that an error at this line and column, both counted from 1, is about: those of the innermost place
    /// around it that has any, or else all of the line.
    pub(super) fn blamed(&self, line: usize, column: usize) -> BTreeSet<u32> {
        let Some(start) = starts(&self.text).nth(line - 1) else { return BTreeSet::new() };
        let rest = &self.text[start..];
        let end = start + rest.find('\n').unwrap_or(rest.len());
        let at = start + rest.char_indices().nth(column - 1).map_or(rest.len(), |(offset, _)| offset);
        let around = self.places.iter().filter(|(range, numbers)| range.contains(&at) && !numbers.is_empty());
        match around.min_by_key(|(range, _)| range.len()) {
            Some((_, numbers)) => numbers.clone(),
            None => {
                let on_line = self.places.iter().filter(|(range, _)| range.start < end && range.end > start);
                on_line.flat_map(|(_, numbers)| numbers).copied().collect()
            }
        }
    }
}

fn starts(text: &str) -> impl Iterator<Item = usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1))
}
