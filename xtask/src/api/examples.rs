//! Whether every public item of the product crates is shown in use.

use syn::{Attribute, Expr, ImplItem, Item, Lit, Meta, Visibility};

use super::{hidden_module, listed, parse};
use crate::tree::Tree;

fn text(attributes: &[Attribute]) -> String {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    attributes.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

/// Whether it is only there for models, in the place of what users see.
fn is_for_models(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string();
            condition.contains("loom") && !condition.starts_with("not")
        }
        _ => false,
    })
}

fn lacks(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    let is_public = matches!(visibility, Visibility::Public(_));
    let is_shown = text(attributes).contains("```");
    is_public && !is_shown && !listed::is_hidden(attributes) && !is_for_models(attributes)
}

fn without(item: &Item, found: &mut Vec<String>) {
    let (visibility, attributes, name) = match item {
        Item::Const(item) => (&item.vis, &item.attrs, &item.ident),
        Item::Enum(item) => (&item.vis, &item.attrs, &item.ident),
        Item::Fn(item) => (&item.vis, &item.attrs, &item.sig.ident),
        Item::Static(item) => (&item.vis, &item.attrs, &item.ident),
        Item::Struct(item) => (&item.vis, &item.attrs, &item.ident),
        Item::Trait(item) => (&item.vis, &item.attrs, &item.ident),
        Item::Type(item) => (&item.vis, &item.attrs, &item.ident),
        Item::Impl(item) => {
            for item in &item.items {
                match item {
                    ImplItem::Fn(item) if lacks(&item.vis, &item.attrs) => {
                        found.push(item.sig.ident.to_string())
                    }
                    ImplItem::Const(item) if lacks(&item.vis, &item.attrs) => {
                        found.push(item.ident.to_string())
                    }
                    _ => {}
                }
            }
            return;
        }
        _ => return,
    };
    if lacks(visibility, attributes) {
        found.push(name.to_string());
    }
}

#[test]
fn every_public_item_has_an_example() {
    let tree = Tree::find().expect("the tests run in the workspace");
    let mut found = Vec::new();
    for krate in tree.product() {
        let root = parse(&tree, &format!("{krate}/src/lib.rs")).expect("it is Rust");
        let hidden: Vec<String> = root.iter().filter_map(hidden_module).collect();
        for path in tree.rust_files(&format!("{krate}/src")).expect("it has sources") {
            let module = path.split(['/', '.']).nth(2).unwrap_or_default();
            if hidden.iter().any(|name| name == module) {
                continue;
            }
            let before = found.len();
            parse(&tree, &path).expect("it is Rust").iter().for_each(|item| without(item, &mut found));
            found[before..].iter_mut().for_each(|name| *name = format!("{path}: {name}"));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
