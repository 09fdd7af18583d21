//! Attributes that say what is a test, and what only tests compile.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::walk::is_mark;

/// The `#[test]` functions, with the names of the modules around them.
pub(super) fn test_functions(tokens: TokenStream) -> Vec<String> {
    let mut names = Vec::new();
    collect_tests(tokens, "", &mut names);
    names
}

fn collect_tests(tokens: TokenStream, module: &str, names: &mut Vec<String>) {
    let trees: Vec<_> = tokens.into_iter().collect();
    let mut is_test = false;
    for (at, tree) in trees.iter().enumerate() {
        if let Some((false, group)) = attribute(&trees, at) {
            is_test |= group.stream().to_string() == "test";
        }
        match tree {
            TokenTree::Ident(word) if *word == "fn" && is_test => {
                if let Some(TokenTree::Ident(name)) = trees.get(at + 1) {
                    names.push(format!("{module}{name}"));
                }
                is_test = false;
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let inner = match at.checked_sub(2).map(|before| &trees[before..at]) {
                    Some([TokenTree::Ident(word), TokenTree::Ident(name)]) if *word == "mod" => {
                        format!("{module}{name}::")
                    }
                    _ => module.to_owned(),
                };
                collect_tests(group.stream(), &inner, names);
            }
            _ => {}
        }
    }
}

/// The attribute that begins at `at`, and whether it is an inner one.
pub(super) fn attribute(trees: &[TokenTree], at: usize) -> Option<(bool, &Group)> {
    if !is_mark(trees, at, '#') {
        return None;
    }
    let inner = is_mark(trees, at + 1, '!');
    match trees.get(at + 1 + usize::from(inner))? {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => Some((inner, group)),
        _ => None,
    }
}

/// `[test]`, or `[cfg(..)]` with a `test` outside of `not(..)`.
pub(super) fn is_test_attribute(group: &Group) -> bool {
    let trees: Vec<_> = group.stream().into_iter().collect();
    match &trees[..] {
        [TokenTree::Ident(word)] => *word == "test",
        [TokenTree::Ident(word), TokenTree::Group(condition)] if *word == "cfg" => {
            requires_test(&condition.stream())
        }
        _ => false,
    }
}

fn requires_test(condition: &TokenStream) -> bool {
    let trees: Vec<_> = condition.clone().into_iter().collect();
    trees.iter().enumerate().any(|(at, tree)| match tree {
        TokenTree::Ident(word) => *word == "test",
        TokenTree::Group(group) => {
            let operator = at.checked_sub(1).map(|before| trees[before].to_string());
            operator.as_deref() == Some("all") && requires_test(&group.stream())
        }
        _ => false,
    })
}

/// Where the item, field or statement that begins with the attribute at `at` ends.
pub(super) fn end_of_item(trees: &[TokenTree], at: usize) -> usize {
    const ITEM: [&str; 14] = [
        "mod", "fn", "impl", "use", "struct", "enum", "trait", "const", "static", "type", "unsafe", "async",
        "extern", "pub",
    ];
    let mut start = at;
    while let Some((inner, _)) = attribute(trees, start) {
        start += 2 + usize::from(inner);
    }
    let item = matches!(trees.get(start), Some(TokenTree::Ident(w)) if ITEM.iter().any(|i| *w == *i));
    for (offset, tree) in trees[start.min(trees.len())..].iter().enumerate() {
        let ends = match tree {
            TokenTree::Punct(mark) => mark.as_char() == ';' || (!item && mark.as_char() == ','),
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            _ => false,
        };
        if ends {
            return start + offset + 1;
        }
    }
    trees.len()
}
