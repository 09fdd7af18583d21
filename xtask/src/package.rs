//! The packages as they would be published: made, unpacked where there is no workspace, built and tested there.
//!
//! The packages name each other by version, and no registry has them: in the unpacked copy a `[patch]` says where they are.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::shell::{self, Failure};
use crate::tree::Tree;

/// What `cargo xtask package` was asked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// All tests, not only those of the interfaces.
    pub(crate) all: bool,
}

/// Files that each package must hold.
const NEEDED: [&str; 5] = ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "src/lib.rs", "tests/api.rs"];
/// Folders that no package may hold.
const FOREIGN: [&str; 3] = ["target", "fuzz", ".git"];

pub(crate) fn run(tree: &Tree, options: &Options) -> Result<(), Failure> {
    let packages = tree.product().map(|krate| tree.package(krate)).collect::<Result<Vec<_>, _>>()?;
    make(tree, &packages)?;
    let place = tree.target.join("packaged");
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::create_dir_all(&place)?;
    for package in &packages {
        unpack(tree, package, &place)?;
    }
    fs::write(place.join("Cargo.toml"), manifest(&packages))?;
    test(tree, &place, options)?;
    println!(
        "package: {} packages built and tested outside the workspace: {}",
        packages.len(),
        packages.join(", ")
    );
    Ok(())
}

/// All packages in one command: each is then allowed to need the others.
fn make(tree: &Tree, packages: &[String]) -> Result<(), Failure> {
    let mut command = shell::cargo();
    command.current_dir(&tree.root).args(["package", "--no-verify", "--allow-dirty", "--quiet"]);
    for package in packages {
        command.args(["-p", package]);
    }
    shell::run(&mut command)
}

/// Unpacks a package into a folder of its name, and looks what is in it.
fn unpack(tree: &Tree, package: &str, place: &Path) -> Result<(), Failure> {
    let made = tree.target.join("package");
    let folder = fs::read_dir(&made)?
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".crate")?.to_owned()))
        .find(|name| name.rsplit_once('-').is_some_and(|(name, _)| name == package))
        .ok_or_else(|| {
            Failure::new(format!("cargo made no {package}-VERSION.crate in {}", made.display()))
        })?;
    let mut command = Command::new("tar");
    command.arg("-xzf").arg(made.join(format!("{folder}.crate"))).arg("-C").arg(place);
    shell::run(&mut command)?;
    let root = place.join(package);
    fs::rename(place.join(&folder), &root)?;
    for needed in NEEDED {
        if !root.join(needed).is_file() {
            return Err(Failure::new(format!("{package} holds no {needed}")));
        }
    }
    match FOREIGN.iter().find(|name| root.join(name).exists()) {
        Some(foreign) => Err(Failure::new(format!("{package} holds {foreign}, which is no part of it"))),
        None => Ok(()),
    }
}

/// The workspace of the unpacked packages.
fn manifest(packages: &[String]) -> String {
    let members: Vec<String> = packages.iter().map(|package| format!("{package:?}")).collect();
    let patches: String =
        packages.iter().map(|package| format!("{package} = {{ path = {package:?} }}\n")).collect();
    format!(
        "[workspace]\nresolver = \"3\"\nmembers = [{}]\n\n[patch.crates-io]\n{patches}",
        members.join(", ")
    )
}

fn test(tree: &Tree, place: &Path, options: &Options) -> Result<(), Failure> {
    let mut command = shell::cargo();
    command.current_dir(place).env("CARGO_TARGET_DIR", tree.target.join("packaged.build"));
    command.args(["test", "--workspace", "--quiet", "--all-features"]);
    if !options.all {
        command.args(["--lib", "--examples", "--test", "api"]);
    }
    shell::run(&mut command)
}

#[cfg(test)]
mod tests {
    use super::manifest;

    #[test]
    fn the_unpacked_packages_find_each_other() {
        let text = manifest(&["latchfree-sync".to_owned(), "latchfree-lhash".to_owned()]);
        assert!(text.contains(r#"members = ["latchfree-sync", "latchfree-lhash"]"#), "{text}");
        assert!(text.ends_with("latchfree-sync = { path = \"latchfree-sync\" }\nlatchfree-lhash = { path = \"latchfree-lhash\" }\n"));
    }
}
