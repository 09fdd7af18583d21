//! Sanitizers: the tests of the product crates under the address and the leak sanitizer, and the soak under the thread
//! sanitizer. Both are unstable flags of rustc, which `RUSTC_BOOTSTRAP=1` allows on a stable toolchain.
//!
//! What is suppressed is in the two lists beside this file's crate, each line with its reason.

use std::process::Command;

use crate::shell::{self, Failure};
use crate::tree::Tree;

/// Code that is built with a sanitizer may be linked with std, which is built without.
const MIXED: &str = "-Cunsafe-allow-abi-mismatch=sanitizer";
/// Tests ask for more memory than there is, and expect an error; and one writes to memory that is not to be written, and
/// expects to be ended by the system.
const ADDRESS_OPTIONS: &str = "allocator_may_return_null=1:detect_leaks=1:handle_segv=0:handle_sigbus=0";
const LEAK_SUPPRESSIONS: &str = "xtask/suppressions/leak.txt";
const THREAD_SUPPRESSIONS: &str = "xtask/suppressions/thread.txt";

/// What `cargo xtask asan` was asked for: words for `cargo test`, as `--test NAME`.
pub(crate) fn address(tree: &Tree, words: &[String]) -> Result<(), Failure> {
    let host = shell::host()?;
    shell::run(&mut address_command(tree, words, &host)?)
}

fn address_command(tree: &Tree, words: &[String], host: &str) -> Result<Command, Failure> {
    let mut command = shell::cargo();
    command.current_dir(&tree.root);
    command.env("RUSTC_BOOTSTRAP", "1");
    command.env("RUSTFLAGS", shell::rustflags(&format!("-Zsanitizer=address {MIXED}")));
    command.env("CARGO_TARGET_DIR", tree.target.join("asan"));
    command.env("ASAN_OPTIONS", ADDRESS_OPTIONS);
    command.env("LSAN_OPTIONS", suppressions(tree, LEAK_SUPPRESSIONS));
    command.args(["test", "--target", host, "--no-fail-fast"]);
    for krate in tree.product() {
        command.args(["-p", &tree.package(krate)?]);
    }
    // Documentation tests are built by rustdoc, without these flags.
    if words.is_empty() {
        command.args(["--lib", "--tests"]);
    }
    command.args(words);
    Ok(command)
}

/// What `cargo xtask tsan` was asked for: words for the soak, as `--seconds 60 lhash-map`.
pub(crate) fn threads(tree: &Tree, words: &[String]) -> Result<(), Failure> {
    let host = shell::host()?;
    shell::run(&mut threads_command(tree, words, &host))
}

fn threads_command(tree: &Tree, words: &[String], host: &str) -> Command {
    let mut command = shell::cargo();
    command.current_dir(&tree.root);
    command.env("RUSTC_BOOTSTRAP", "1");
    // crossbeam-epoch helps its fences by loads then, which this sanitizer understands.
    let flags = format!("-Zsanitizer=thread {MIXED} --cfg crossbeam_sanitize_thread --cfg sanitize_thread");
    command.env("RUSTFLAGS", shell::rustflags(&flags));
    command.env("CARGO_TARGET_DIR", tree.target.join("tsan"));
    command.env("TSAN_OPTIONS", format!("{}:halt_on_error=0", suppressions(tree, THREAD_SUPPRESSIONS)));
    command.args(["run", "--release", "--target", host, "-p", "soak", "--"]);
    let default = ["--seconds".to_owned(), "60".to_owned()];
    command.args(if words.is_empty() { &default } else { words });
    command
}

fn suppressions(tree: &Tree, list: &str) -> String {
    format!("suppressions={}", tree.root.join(list).display())
}

/// What `cargo xtask soak` was asked for: words for the soak, as `--minutes 5`.
pub(crate) fn soak(tree: &Tree, words: &[String]) -> Result<(), Failure> {
    let mut command = shell::cargo();
    command.current_dir(&tree.root).args(["run", "--release", "-p", "soak", "--"]).args(words);
    shell::run(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sample;

    #[test]
    fn the_address_sanitizer_takes_all_tests_of_the_product_crates() {
        let sample = Sample::new("asan").file("sync/Cargo.toml", "[package]\nname = \"latchfree-sync\"\n");
        let shown = shell::show(&address_command(&sample.tree, &[], "host").expect("readable"));
        assert!(shown.contains("-Zsanitizer=address"), "{shown}");
        assert!(
            shown.ends_with("--no-fail-fast -p latchfree-sync -p latchfree-flatmap --lib --tests"),
            "{shown}"
        );
        let words = ["--test".to_owned(), "api".to_owned()];
        let shown = shell::show(&address_command(&sample.tree, &words, "host").expect("readable"));
        assert!(shown.ends_with("-p latchfree-flatmap --test api"), "{shown}");
    }

    #[test]
    fn the_thread_sanitizer_takes_the_soak() {
        let sample = Sample::new("tsan");
        let shown = shell::show(&threads_command(&sample.tree, &[], "host"));
        assert!(shown.contains("-Zsanitizer=thread"), "{shown}");
        assert!(shown.ends_with("-p soak -- --seconds 60"), "{shown}");
    }

    #[test]
    fn every_suppression_has_a_reason_in_the_line_before() {
        let tree = Tree::find().expect("the tests run in the workspace");
        for list in [LEAK_SUPPRESSIONS, THREAD_SUPPRESSIONS] {
            let text = tree.read(list).expect("the list is there");
            let mut before = "";
            for line in text.lines().filter(|line| !line.is_empty()) {
                assert!(line.starts_with('#') || before.starts_with('#'), "{list}: {line} has no reason");
                before = line;
            }
        }
    }
}
