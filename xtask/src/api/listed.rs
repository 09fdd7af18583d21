//! Which items belong to an interface, and what of them.

use std::collections::BTreeSet;

use syn::punctuated::Punctuated;
use syn::{Attribute, Block, Fields, ImplItem, Item, ItemImpl, Meta, TraitItem, Type, Visibility};

/// Attributes that a user meets.
const TELLING: [&str; 7] = ["cfg", "cfg_attr", "derive", "must_use", "non_exhaustive", "deprecated", "repr"];

/// The public items, without what is private of them.
pub(super) fn listed(items: Vec<Item>, public: &BTreeSet<String>) -> Vec<Item> {
    items.into_iter().filter_map(|item| reduced(item, public)).collect()
}

fn reduced(mut item: Item, public: &BTreeSet<String>) -> Option<Item> {
    let (attributes, visibility) = match &mut item {
        Item::Const(item) => (&mut item.attrs, Some(&item.vis)),
        Item::Enum(item) => {
            item.variants.iter_mut().for_each(|variant| reduce(&mut variant.attrs));
            item.variants
                .iter_mut()
                .flat_map(|variant| &mut variant.fields)
                .for_each(|field| reduce(&mut field.attrs));
            (&mut item.attrs, Some(&item.vis))
        }
        Item::Fn(item) => {
            *item.block = empty();
            (&mut item.attrs, Some(&item.vis))
        }
        Item::Static(item) => (&mut item.attrs, Some(&item.vis)),
        Item::Struct(item) => {
            without_private(&mut item.fields);
            (&mut item.attrs, Some(&item.vis))
        }
        Item::Trait(item) => {
            item.items.iter_mut().for_each(reduce_of_trait);
            (&mut item.attrs, Some(&item.vis))
        }
        Item::Type(item) => (&mut item.attrs, Some(&item.vis)),
        Item::Use(item) => (&mut item.attrs, Some(&item.vis)),
        Item::Impl(item) => {
            if !is_of(item, public) || !reduce_impl(item) {
                return None;
            }
            (&mut item.attrs, None)
        }
        _ => return None,
    };
    let is_private = visibility.is_some_and(|visibility| !matches!(visibility, Visibility::Public(_)));
    if is_private || is_hidden(attributes) || is_for_tests(attributes) {
        return None;
    }
    reduce(attributes);
    Some(item)
}

/// Whether documentation never shows it.
pub(super) fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("doc") => list.tokens.to_string().contains("hidden"),
        _ => false,
    })
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            ["test", "doctest"].contains(&list.tokens.to_string().as_str())
        }
        _ => false,
    })
}

fn reduce(attributes: &mut Vec<Attribute>) {
    attributes.retain(|attribute| {
        let name = attribute.path();
        TELLING.iter().any(|telling| name.is_ident(telling)) && !is_hidden(std::slice::from_ref(attribute))
    });
}

fn empty() -> Block {
    Block { brace_token: Default::default(), stmts: Vec::new() }
}

fn without_private(fields: &mut Fields) {
    match fields {
        Fields::Named(fields) => {
            let open = std::mem::take(&mut fields.named).into_iter();
            fields.named = open.filter(|field| matches!(field.vis, Visibility::Public(_))).collect();
            fields.named.iter_mut().for_each(|field| reduce(&mut field.attrs));
        }
        // A tuple's fields have places: if one is private, nobody outside can name the others' either.
        Fields::Unnamed(tuple)
            if !tuple.unnamed.iter().all(|field| matches!(field.vis, Visibility::Public(_))) =>
        {
            tuple.unnamed = Punctuated::new();
        }
        Fields::Unnamed(_) | Fields::Unit => {}
    }
}

fn reduce_of_trait(item: &mut TraitItem) {
    match item {
        TraitItem::Const(item) => reduce(&mut item.attrs),
        TraitItem::Fn(item) => {
            item.default = item.default.is_some().then(empty);
            reduce(&mut item.attrs);
        }
        TraitItem::Type(item) => reduce(&mut item.attrs),
        _ => {}
    }
}

/// Whether the type, or for a foreign type the trait, is public.
fn is_of(item: &ItemImpl, public: &BTreeSet<String>) -> bool {
    let name = |path: &syn::Path| path.segments.last().map(|segment| segment.ident.to_string());
    let of_trait = item.trait_.as_ref().and_then(|(_, path, _)| name(path));
    let mut of = &*item.self_ty;
    while let Type::Reference(reference) = of {
        of = &reference.elem;
    }
    let of_type = if let Type::Path(path) = of { name(&path.path) } else { None };
    let is_public = |name: Option<String>| name.is_some_and(|name| public.contains(&name));
    // A private trait of a public type is private.
    match of_type {
        Some(name) if public.contains(&name) => true,
        Some(_) | None => item.trait_.is_some() && is_public(of_trait),
    }
}

/// Whether anything is left of it.
fn reduce_impl(item: &mut ItemImpl) -> bool {
    let of_trait = item.trait_.is_some();
    item.items.retain_mut(|item| match item {
        ImplItem::Const(item) => {
            let stays = matches!(item.vis, Visibility::Public(_)) && !is_hidden(&item.attrs);
            reduce(&mut item.attrs);
            stays
        }
        ImplItem::Fn(item) => {
            let stays = matches!(item.vis, Visibility::Public(_)) && !is_hidden(&item.attrs);
            item.block = empty();
            reduce(&mut item.attrs);
            stays
        }
        ImplItem::Type(item) => {
            reduce(&mut item.attrs);
            true
        }
        _ => false,
    });
    of_trait || !item.items.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_parts_are_left_out() {
        let text = "pub struct P(u32); pub struct Q(pub u32); pub trait T { fn f(&self) -> u32 { 1 } } impl T for u8 { fn f(&self) -> u32 { 2 } }";
        let items = syn::parse_file(text).unwrap().items;
        let public = ["P", "Q", "T"].map(str::to_owned).into();
        let text = prettyplease::unparse(&syn::File {
            shebang: None,
            attrs: Vec::new(),
            items: listed(items, &public),
        });
        for there in
            ["pub struct P();", "pub struct Q(pub u32);", "fn f(&self) -> u32 {}", "impl T for u8 {}"]
        {
            assert!(text.contains(there), "{there}: {text}");
        }
        assert!(syn::parse_file(&text).is_ok());
    }
}
