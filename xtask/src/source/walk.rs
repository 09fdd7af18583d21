//! The walk over a file's tokens: which orderings stand where, in which function and statement.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::attributes::{attribute, end_of_item, is_test_attribute};
use super::{Memory, Site};

/// What the walk finds in one file.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) sites: Vec<Site>,
    pub(super) opaque_fences: Vec<usize>,
    /// Names of `mod name;` under `#[cfg(test)]`.
    pub(super) test_modules: Vec<String>,
    /// The parts of the text that only tests compile.
    pub(super) skipped: Vec<Range<usize>>,
    imports: Vec<String>,
    calls: usize,
}

/// Where the walk stands.
#[derive(Debug, Clone)]
struct Context {
    function: String,
    function_line: usize,
    statement_line: usize,
    fence: Option<Range<usize>>,
    call: usize,
    /// Directly inside braces, or at the top: here `;` and `,` end a statement.
    block: bool,
}

/// Finds every ordering outside of tests.
pub(super) fn orderings(tokens: TokenStream) -> Found {
    let mut found = Found::default();
    found.collect_imports(&tokens);
    let top = Context {
        function: "-".to_owned(),
        function_line: 1,
        statement_line: 1,
        fence: None,
        call: 0,
        block: true,
    };
    found.walk(tokens, &top);
    found
}

impl Found {
    /// Names that `use` brings in: an ordering that stands alone counts only if it was imported.
    fn collect_imports(&mut self, tokens: &TokenStream) {
        let trees: Vec<_> = tokens.clone().into_iter().collect();
        let mut at = 0;
        while at < trees.len() {
            if is_use(&trees, at) {
                let end = find_semicolon(&trees, at);
                flatten_words(&trees[at + 1..end], &mut self.imports);
                at = end;
            } else if let TokenTree::Group(group) = &trees[at] {
                self.collect_imports(&group.stream());
            }
            at += 1;
        }
    }

    fn walk(&mut self, tokens: TokenStream, context: &Context) {
        let trees: Vec<_> = tokens.into_iter().collect();
        let mut context = context.clone();
        let mut fresh = true;
        let mut function: Option<(String, usize)> = None;
        let mut at = 0;
        while let Some(tree) = trees.get(at) {
            let line = tree.span().start().line;
            if context.block && fresh {
                context.statement_line = line;
                fresh = false;
            }
            if is_use(&trees, at) {
                at = find_semicolon(&trees, at) + 1;
                fresh = true;
                continue;
            }
            if let Some(end) = self.test_item(&trees, at) {
                at = end;
                fresh = true;
                continue;
            }
            match tree {
                TokenTree::Punct(mark) if matches!(mark.as_char(), ';' | ',') => {
                    fresh = true;
                    function = function.filter(|_| mark.as_char() == ',');
                }
                TokenTree::Ident(word) if *word == "fn" => {
                    if let Some(TokenTree::Ident(name)) = trees.get(at + 1) {
                        function = Some((name.to_string(), line));
                    }
                }
                TokenTree::Ident(_) => self.ordering(&trees, at, &context),
                TokenTree::Group(group) => {
                    self.group(&trees, at, group, &context, &mut function);
                    fresh = group.delimiter() == Delimiter::Brace;
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn group(
        &mut self,
        trees: &[TokenTree],
        at: usize,
        group: &Group,
        context: &Context,
        function: &mut Option<(String, usize)>,
    ) {
        let mut inner = context.clone();
        inner.fence = None;
        self.calls += 1;
        inner.call = self.calls;
        inner.block = group.delimiter() == Delimiter::Brace;
        if inner.block {
            if let Some((name, line)) = function.take() {
                (inner.function, inner.function_line) = (name, line);
            }
            return self.walk(group.stream(), &inner);
        }
        let before = self.sites.len();
        inner.fence = fence_call(trees, at, group);
        self.walk(group.stream(), &inner);
        let arguments: Vec<_> =
            (before..self.sites.len()).filter(|&i| self.sites[i].call == inner.call).collect();
        if inner.fence.is_some() && arguments.is_empty() {
            self.opaque_fences.push(group.span().start().line);
        }
        if let [first, .., last] = arguments[..]
            && self.sites[first].memory != Memory::Relaxed
        {
            self.sites[last].relaxed_failure = self.sites[last].memory == Memory::Relaxed;
        }
    }

    fn ordering(&mut self, trees: &[TokenTree], at: usize, context: &Context) {
        let Some(memory) = Memory::named(&trees[at].to_string()) else { return };
        let qualifier = match at {
            3.. if is_path_separator(trees, at - 2) => Some(trees[at - 3].to_string()),
            2 if is_path_separator(trees, 0) => Some(String::new()),
            _ => None,
        };
        let counts = match &qualifier {
            Some(path) => path.ends_with("Ordering") || self.is_alias(path),
            None => {
                let name = memory.name();
                self.imports.iter().any(|word| word == name) || self.imports_all_orderings()
            }
        };
        if !counts {
            return;
        }
        let span = trees[at].span();
        self.sites.push(Site {
            memory,
            line: span.start().line,
            name: span.byte_range(),
            bare: qualifier.is_none(),
            fence: context.fence.clone(),
            relaxed_failure: false,
            function: context.function.clone(),
            function_line: context.function_line,
            statement_line: context.statement_line,
            call: context.call,
        });
    }

    /// `use ..::Ordering as path`.
    fn is_alias(&self, path: &str) -> bool {
        self.imports.windows(3).any(|words| words[0] == "Ordering" && words[1] == "as" && words[2] == path)
    }

    /// `use ..::Ordering::*`.
    fn imports_all_orderings(&self) -> bool {
        self.imports.windows(2).any(|words| words[0] == "Ordering" && words[1] == "*")
    }

    /// If an item that only tests compile begins at `at`: notes it and returns where it ends.
    fn test_item(&mut self, trees: &[TokenTree], at: usize) -> Option<usize> {
        let (inner, attribute) = attribute(trees, at)?;
        if !is_test_attribute(attribute) {
            return None;
        }
        let end = if inner { trees.len() } else { end_of_item(trees, at) };
        let start = trees[at].span().byte_range().start;
        self.skipped.push(start..trees[end - 1].span().byte_range().end);
        for window in trees[at..end].windows(3) {
            if let [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(mark)] = window
                && *word == "mod"
                && mark.as_char() == ';'
            {
                self.test_modules.push(name.to_string());
            }
        }
        Some(end)
    }
}

/// The call with its path, when the group at `at` holds the arguments of `fence`.
fn fence_call(trees: &[TokenTree], at: usize, arguments: &Group) -> Option<Range<usize>> {
    let name = at.checked_sub(1)?;
    if !matches!(&trees[name], TokenTree::Ident(word) if *word == "fence") {
        return None;
    }
    let mut start = name;
    while start >= 3 && is_path_separator(trees, start - 2) && matches!(trees[start - 3], TokenTree::Ident(_))
    {
        start -= 3;
    }
    let before = start.checked_sub(1).map(|before| trees[before].to_string());
    match before.as_deref() {
        Some("fn" | ".") => return None,
        Some("$") => start -= 1,
        _ => {}
    }
    Some(trees[start].span().byte_range().start..arguments.span().byte_range().end)
}

pub(super) fn is_mark(trees: &[TokenTree], at: usize, mark: char) -> bool {
    matches!(trees.get(at), Some(TokenTree::Punct(found)) if found.as_char() == mark)
}

fn is_path_separator(trees: &[TokenTree], at: usize) -> bool {
    is_mark(trees, at, ':') && is_mark(trees, at + 1, ':')
}

/// A `use` item, not the `use<..>` of a type.
fn is_use(trees: &[TokenTree], at: usize) -> bool {
    matches!(&trees[at], TokenTree::Ident(word) if *word == "use") && !is_mark(trees, at + 1, '<')
}

fn find_semicolon(trees: &[TokenTree], from: usize) -> usize {
    (from..trees.len()).find(|&at| is_mark(trees, at, ';')).unwrap_or(trees.len())
}

/// Every word and `*` of a `use`, in order.
fn flatten_words(trees: &[TokenTree], words: &mut Vec<String>) {
    for tree in trees {
        match tree {
            TokenTree::Ident(word) => words.push(word.to_string()),
            TokenTree::Punct(mark) if mark.as_char() == '*' => words.push("*".to_owned()),
            TokenTree::Group(group) => {
                flatten_words(&group.stream().into_iter().collect::<Vec<_>>(), words);
            }
            _ => {}
        }
    }
}
