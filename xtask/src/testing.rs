//! Temporary workspaces for the tests of this tool.

use std::fs;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::tree::Tree;

/// A workspace in the system's temporary folder, removed when dropped.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) tree: Tree,
}

impl Sample {
    pub(crate) fn new(name: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("xtask-{}-{name}-{number}", process::id()));
        let target = root.join("target");
        let sample = Self { tree: Tree { root, target } };
        sample
            .file("xtask/Cargo.toml", "[package]\nname = \"xtask\"\n")
            .file("sync/Cargo.toml", "[package]\nname = \"latchfree-sync\"\n")
            .file("flatmap/Cargo.toml", "[package]\nname = \"latchfree-flatmap\"\n")
    }

    /// Writes a file, replacing what was there.
    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        let place: PathBuf = self.tree.root.join(path);
        let folder = place.parent().expect("a file lies in a folder");
        fs::create_dir_all(folder).expect("the temporary folder can be written");
        fs::write(place, text).expect("the temporary folder can be written");
        self
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        // What stays behind in a temporary folder is no failure of the test.
        let _ = fs::remove_dir_all(&self.tree.root);
    }
}
