//! The public interface of each product crate as text, kept in `api/`: a change of it shows in a review.
//!
//! Everything `pub` counts, since the lint `unreachable_pub` sees to it that nothing else is; what is hidden from the
//! documentation does not. Bodies, comments and private fields are left out.
//!
//! Next: `api/listed.rs`, which items are listed and how.

#[cfg(test)]
mod examples;
mod listed;

use std::collections::BTreeSet;
use std::fs;

use similar::TextDiff;
use syn::{Item, Visibility};

use crate::shell::Failure;
use crate::tree::Tree;

const HEAD: &str = "// Written by `cargo xtask api --write`. Not compiled.\n";

/// Compares each interface with its file, or writes the files.
pub(crate) fn run(tree: &Tree, write: bool) -> Result<(), Failure> {
    let mut changed = Vec::new();
    for krate in tree.product() {
        let path = format!("api/{krate}.rs.txt");
        let (old, new) = (tree.read(&path).unwrap_or_default(), interface(tree, krate)?);
        if old == new {
            continue;
        }
        changed.push(krate);
        if write {
            fs::create_dir_all(tree.root.join("api"))?;
            fs::write(tree.root.join(&path), &new)?;
        } else {
            let diff = TextDiff::from_lines(&old, &new);
            eprint!("{}", diff.unified_diff().header(&path, "the code"));
        }
    }
    match (changed.is_empty(), write) {
        (true, _) => println!("api: as it is in api/"),
        (false, true) => println!("api: written for {}", changed.join(", ")),
        (false, false) => {
            let crates = changed.join(", ");
            return Err(Failure::new(format!(
                "the interface of {crates} is not the one in api/; if it should be, `cargo xtask api --write` and say \
                 so in CHANGELOG.md"
            )));
        }
    }
    Ok(())
}

/// The interface of a crate.
fn interface(tree: &Tree, krate: &str) -> Result<String, Failure> {
    let root = parse(tree, &format!("{krate}/src/lib.rs"))?;
    let hidden: Vec<String> = root.iter().filter_map(hidden_module).collect();
    let mut files = Vec::new();
    for path in tree.rust_files(&format!("{krate}/src"))? {
        let module = path.trim_start_matches(krate).trim_start_matches("/src/");
        let module = module.trim_end_matches(".rs").split('/').next().unwrap_or_default();
        if !hidden.iter().any(|name| name == module) {
            files.push((parse(tree, &path)?, path));
        }
    }
    let public: BTreeSet<String> =
        files.iter().flat_map(|(items, _)| items.iter().filter_map(public_type)).collect();
    let mut text = HEAD.to_owned();
    for (items, path) in files {
        let items = listed::listed(items, &public);
        if !items.is_empty() {
            text.push_str(&format!("\n// {path}\n\n"));
            text.push_str(&prettyplease::unparse(&syn::File { shebang: None, attrs: Vec::new(), items }));
        }
    }
    Ok(text)
}

fn parse(tree: &Tree, path: &str) -> Result<Vec<Item>, Failure> {
    let file = syn::parse_file(&tree.read(path)?);
    file.map(|file| file.items).map_err(|error| {
        let at = error.span().start();
        Failure::new(format!("{path}:{}:{}: {error}", at.line, at.column + 1))
    })
}

/// The name of a module that is never documented.
fn hidden_module(item: &Item) -> Option<String> {
    let Item::Mod(module) = item else { return None };
    listed::is_hidden(&module.attrs).then(|| module.ident.to_string())
}

fn public_type(item: &Item) -> Option<String> {
    let (visibility, name) = match item {
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        Item::Trait(item) => (&item.vis, &item.ident),
        Item::Type(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    matches!(visibility, Visibility::Public(_)).then(|| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sample;

    fn sample(text: &str) -> Sample {
        let sample = Sample::new("api").file("lhash/Cargo.toml", "[package]\nname = \"latchfree-lhash\"\n");
        sample.file("sync/src/lib.rs", text).file("flatmap/src/lib.rs", "").file("lhash/src/lib.rs", "")
    }

    #[test]
    fn what_is_public_is_listed_without_bodies_and_comments() {
        let text = "/// Doc.\n#[must_use]\npub struct Open { pub a: u32, b: u32 }\nstruct Closed;\n\
            impl Open { /// Doc.\n pub fn get(&self) -> u32 { self.b } fn hide(&self) {} #[doc(hidden)] pub fn no(&self) {} }\n\
            impl Clone for Open { fn clone(&self) -> Self { loop {} } }\nimpl Clone for Closed { fn clone(&self) -> Self { loop {} } }\n\
            #[cfg(test)] mod tests { pub fn no() {} }\n#[doc(hidden)] pub fn no() {}\n";
        let listed = interface(&sample(text).tree, "sync").unwrap();
        for there in [
            "#[must_use]\npub struct Open",
            "pub a: u32",
            "pub fn get(&self) -> u32 {}",
            "impl Clone for Open {}",
        ] {
            assert!(listed.contains(there), "{there}: {listed}");
        }
        for left_out in ["Doc", "Closed", "hide", "no(", "self.b", "b: u32"] {
            assert!(!listed.contains(left_out), "{left_out}: {listed}");
        }
    }

    #[test]
    fn a_change_fails_until_it_is_written() {
        let sample = sample("pub fn one() {}\n");
        assert!(run(&sample.tree, false).is_err());
        run(&sample.tree, true).unwrap();
        run(&sample.tree, false).unwrap();
        let sample = sample.file("sync/src/lib.rs", "pub fn one(more: u32) {}\n");
        assert!(run(&sample.tree, false).unwrap_err().to_string().contains("--write"));
    }

    #[test]
    fn this_workspace_agrees_with_its_files() {
        run(&Tree::find().expect("the tests run in the workspace"), false)
            .unwrap_or_else(|failure| panic!("{failure}"));
    }
}
