//! Each product crate by itself, with no feature, with each, and with all; on the oldest compiler that it promises, and with
//! the oldest dependencies that it admits.

use std::fs;
use std::process::{Command, Stdio};

use crate::shell::{self, Failure};
use crate::tree::Tree;

/// Features that only a build for models may have: they need a `--cfg` of the same name.
const OF_MODELS: [&str; 2] = ["loom", "shuttle"];
/// Features that need a newer compiler than the crate.
const OF_NEWER_COMPILERS: [&str; 1] = ["lock_api"];

/// What `cargo xtask features` was asked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// The oldest compiler too, and the oldest dependencies.
    pub(crate) oldest: bool,
}

pub(crate) fn run(tree: &Tree, options: &Options) -> Result<(), Failure> {
    let mut count = 0;
    for krate in tree.product() {
        let features = features(&tree.read(&format!("{krate}/Cargo.toml"))?);
        for set in sets(&features) {
            check(tree, krate, &set, &[])?;
            count += 1;
        }
    }
    println!("features: {count} sets build without warnings");
    if options.oldest {
        oldest(tree)?;
    }
    Ok(())
}

/// The features in a manifest, but for those of models.
pub(crate) fn features(manifest: &str) -> Vec<String> {
    let section = manifest.split("[features]").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| Some(line.split_once('=')?.0.trim().to_owned()));
    names.filter(|name| !name.starts_with('#') && !OF_MODELS.contains(&name.as_str())).collect()
}

/// None, each, all.
fn sets(features: &[String]) -> Vec<Vec<String>> {
    let mut sets = vec![Vec::new()];
    sets.extend(features.iter().map(|feature| vec![feature.clone()]));
    if features.len() > 1 {
        sets.push(features.to_vec());
    }
    sets
}

/// Checks a crate, its tests and examples included, with these features and no warning.
fn check(tree: &Tree, krate: &str, features: &[String], words: &[&str]) -> Result<(), Failure> {
    let mut command = shell::cargo();
    command.current_dir(&tree.root).env("RUSTFLAGS", shell::rustflags("-Dwarnings"));
    command.env("CARGO_TARGET_DIR", tree.target.join("features"));
    command.args([
        "check",
        "--quiet",
        "--all-targets",
        "--no-default-features",
        "--features",
        &features.join(","),
    ]);
    command.args(["-p", &tree.package(krate)?]).args(words);
    shell::run(&mut command)
}

/// The libraries alone: tests and examples may need more.
fn oldest(tree: &Tree) -> Result<(), Failure> {
    let version = rust_version(&tree.read("Cargo.toml")?)?;
    let toolchain = format!("+{version}");
    let is_there = Command::new("cargo").args([&toolchain, "--version"]).stderr(Stdio::null()).output();
    if !is_there.is_ok_and(|output| output.status.success()) {
        return Err(Failure::new(format!(
            "Rust {version} is not here: rustup toolchain install {version} --profile minimal"
        )));
    }
    // Two resolutions: that of the lock file, and the oldest versions that the manifests admit.
    let copy = tree.copy_to(&tree.target.join("oldest"))?;
    fs::write(copy.root.join("Cargo.toml"), with_members(&copy.read("Cargo.toml")?, copy.product()))?;
    library(&copy, &toolchain)?;
    let mut resolve = shell::cargo();
    resolve.current_dir(&copy.root).env("RUSTC_BOOTSTRAP", "1");
    resolve.args(["update", "--quiet", "-Zdirect-minimal-versions"]);
    shell::run(&mut resolve)?;
    library(&copy, &toolchain)?;
    println!(
        "features: the libraries build with Rust {version}, also with the oldest dependencies that they admit"
    );
    Ok(())
}

fn library(copy: &Tree, toolchain: &str) -> Result<(), Failure> {
    let mut command = Command::new("cargo");
    command.current_dir(&copy.root).env_remove("RUSTUP_TOOLCHAIN").env("CARGO_TARGET_DIR", &copy.target);
    command.args([toolchain, "check", "--quiet"]);
    for krate in copy.product() {
        let package = copy.package(krate)?;
        let features = features(&copy.read(&format!("{krate}/Cargo.toml"))?);
        let old = features.iter().filter(|name| !OF_NEWER_COMPILERS.contains(&name.as_str()));
        let old: Vec<String> = old.map(|name| format!("{package}/{name}")).collect();
        command.args(["-p", &package, "--features", &old.join(",")]);
    }
    shell::run(&mut command)
}

/// The workspace with these members only: what the others need must not decide.
fn with_members<'a>(manifest: &str, members: impl Iterator<Item = &'a str>) -> String {
    let members: Vec<String> = members.map(|krate| format!("{krate:?}")).collect();
    let line = format!("members = [{}]", members.join(", "));
    let lines = manifest.lines().map(|old| if old.starts_with("members = ") { line.as_str() } else { old });
    lines.map(|line| format!("{line}\n")).collect()
}

fn rust_version(manifest: &str) -> Result<String, Failure> {
    let line = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let version = line.map(|version| version.trim_matches('"').to_owned());
    version.ok_or_else(|| Failure::new("the workspace's Cargo.toml gives no rust-version"))
}

#[cfg(test)]
mod tests {
    use super::{features, rust_version, sets, with_members};

    #[test]
    fn the_sets_are_none_each_and_all() {
        let manifest = "[features]\n# Why.\nstats = []\nserde = [\"dep:serde\"]\nloom = []\n\n[dependencies]\nlibc = \"0.2\"\n";
        let features = features(manifest);
        assert_eq!(features, ["stats", "serde"]);
        assert_eq!(
            sets(&features),
            [vec![], vec!["stats".to_owned()], vec!["serde".to_owned()], features.clone()]
        );
        assert_eq!(sets(&features[..1]).len(), 2);
    }

    #[test]
    fn other_members_are_left_out() {
        let manifest = "[workspace]\nmembers = [\"a\", \"b\"]\nresolver = \"3\"\n";
        let expected = "[workspace]\nmembers = [\"b\"]\nresolver = \"3\"\n";
        assert_eq!(with_members(manifest, ["b"].into_iter()), expected);
    }

    #[test]
    fn the_oldest_compiler_is_read_from_the_manifest() {
        assert_eq!(rust_version("[workspace.package]\nrust-version = \"1.85\"\n").unwrap(), "1.85");
        assert!(rust_version("").is_err());
    }
}
