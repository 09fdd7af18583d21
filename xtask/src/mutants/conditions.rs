//! Which code a build compiles: `#[cfg(..)]` against the features of the run.

use proc_macro2::TokenStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Lit, Meta, Token};

/// A build without models, for this machine, with these features.
#[derive(Debug, Clone)]
pub(super) struct Conditions {
    pub(super) features: Vec<String>,
}

impl Conditions {
    /// Whether the code under these attributes is compiled outside of tests, and is no test itself.
    pub(super) fn hold(&self, attributes: &[Attribute]) -> bool {
        attributes.iter().all(|attribute| match &attribute.meta {
            Meta::List(list) if list.path.is_ident("cfg") => self.list(&list.tokens).iter().all(|one| *one),
            Meta::Path(path) => !path.is_ident("test"),
            _ => true,
        })
    }

    fn list(&self, tokens: &TokenStream) -> Vec<bool> {
        let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
        let metas = syn::parse::Parser::parse2(parser, tokens.clone()).unwrap_or_default();
        metas.iter().map(|meta| self.holds(meta)).collect()
    }

    fn holds(&self, meta: &Meta) -> bool {
        match meta {
            Meta::Path(path) => path.is_ident("debug_assertions") || (path.is_ident("unix") && cfg!(unix)),
            Meta::List(list) if list.path.is_ident("not") => !self.list(&list.tokens).contains(&true),
            Meta::List(list) if list.path.is_ident("all") => !self.list(&list.tokens).contains(&false),
            Meta::List(list) => list.path.is_ident("any") && self.list(&list.tokens).contains(&true),
            Meta::NameValue(pair) => {
                let Expr::Lit(literal) = &pair.value else { return false };
                let Lit::Str(word) = &literal.lit else { return false };
                let word = word.value();
                (pair.path.is_ident("feature") && self.features.contains(&word))
                    || (pair.path.is_ident("target_os") && word == std::env::consts::OS)
                    || (pair.path.is_ident("target_arch") && word == std::env::consts::ARCH)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_models_and_features_that_are_off_are_not_compiled() {
        let conditions = Conditions { features: vec!["stats".to_owned()] };
        let hold = |attribute: &str| {
            let item: syn::ItemFn = syn::parse_str(&format!("{attribute} fn f() {{}}")).expect("an item");
            conditions.hold(&item.attrs)
        };
        for on in [
            "",
            "#[inline]",
            "#[cfg(feature = \"stats\")]",
            "#[cfg(not(any(all(loom, feature = \"loom\"), shuttle)))]",
            "#[cfg(all(debug_assertions, not(test)))]",
        ] {
            assert!(hold(on), "{on}");
        }
        for off in ["#[test]", "#[cfg(test)]", "#[cfg(loom)]", "#[cfg(any(shuttle, feature = \"inject\"))]"] {
            assert!(!hold(off), "{off}");
        }
    }
}
