//! Where things are: the workspace, its crates, their files, the folder for build output.
//!
//! Every path that a person sees is relative to the workspace and written with `/`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::Failure;

/// The crates whose orderings the ledger covers, in the order of their dependencies.
pub(crate) const PRODUCT: [&str; 3] = ["sync", "flatmap", "lhash"];

/// Folders that hold no source of this workspace.
const NOT_SOURCE: [&str; 4] = ["target", ".git", "artifacts", "corpus"];

/// A checkout of the workspace, or a scratch copy of one.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    /// Where cargo puts what it builds for this checkout.
    pub(crate) target: PathBuf,
}

impl Tree {
    /// The workspace that the current folder lies in.
    pub(crate) fn find() -> Result<Self, Failure> {
        let here = env::current_dir()?;
        let root = here
            .ancestors()
            .find(|folder| folder.join("xtask").join("Cargo.toml").is_file())
            .ok_or_else(|| Failure::new(format!("no workspace above {}", here.display())))?;
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(given) => here.join(given),
            None => root.join("target"),
        };
        Ok(Self { root: root.to_owned(), target })
    }

    /// The product crates that exist here.
    pub(crate) fn product(&self) -> impl Iterator<Item = &'static str> {
        PRODUCT.into_iter().filter(|krate| self.root.join(krate).join("Cargo.toml").is_file())
    }

    /// The name of the package in the folder `krate`, from its manifest.
    pub(crate) fn package(&self, krate: &str) -> Result<String, Failure> {
        let path = self.root.join(krate).join("Cargo.toml");
        let manifest = fs::read_to_string(&path)?;
        manifest
            .lines()
            .skip_while(|line| line.trim() != "[package]")
            .find_map(|line| line.trim().strip_prefix("name")?.trim().strip_prefix('='))
            .map(|name| name.trim().trim_matches('"').to_owned())
            .ok_or_else(|| Failure::new(format!("{}: no package name", path.display())))
    }

    /// Every Rust file under `folder` (relative to the root), relative to the root, sorted.
    pub(crate) fn rust_files(&self, folder: &str) -> Result<Vec<String>, Failure> {
        let mut found = Vec::new();
        let start = self.root.join(folder);
        if start.is_dir() {
            walk(&start, &mut |path| {
                if path.extension().is_some_and(|e| e == "rs") {
                    found.push(self.relative(path));
                }
                Ok(())
            })?;
        }
        found.sort();
        Ok(found)
    }

    /// `path` as people read it.
    pub(crate) fn relative(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
        parts.join("/")
    }

    /// The text of a file of this tree.
    pub(crate) fn read(&self, path: &str) -> Result<String, Failure> {
        fs::read_to_string(self.root.join(path)).map_err(|e| Failure::new(format!("{path}: {e}")))
    }

    /// A copy of everything that a build of the product crates reads, at `to`, replacing what was there.
    pub(crate) fn copy_to(&self, to: &Path) -> Result<Self, Failure> {
        /// Larger files are data of the benchmarks.
        const MAX_BYTES: u64 = 1 << 20;
        if to.exists() {
            fs::remove_dir_all(to)?;
        }
        walk(&self.root, &mut |path| {
            let inside = path.strip_prefix(&self.root)?;
            if fs::metadata(path)?.len() > MAX_BYTES {
                return Ok(());
            }
            let place = to.join(inside);
            if let Some(folder) = place.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::copy(path, place)?;
            Ok(())
        })?;
        // Cargo names what it builds by the path inside the workspace: two copies must not build in one place.
        Ok(Self { root: to.to_owned(), target: to.with_extension("build") })
    }
}

/// Calls `visit` with every file below `folder` that is not build output.
fn walk(folder: &Path, visit: &mut dyn FnMut(&Path) -> Result<(), Failure>) -> Result<(), Failure> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let skip = path.file_name().is_some_and(|name| NOT_SOURCE.iter().any(|other| name == *other));
        if path.is_dir() && !skip {
            walk(&path, visit)?;
        } else if path.is_file() {
            visit(&path)?;
        }
    }
    Ok(())
}
