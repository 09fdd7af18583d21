//! The limit on the length of a file: what does not fit on a few screens is two things.

use crate::shell::Failure;
use crate::tree::Tree;

/// The most lines that a Rust file may have.
const MAX_LINES: usize = 350;

pub(crate) fn run(tree: &Tree) -> Result<(), Failure> {
    let files = tree.rust_files("")?;
    let mut too_long = Vec::new();
    for path in &files {
        let lines = tree.read(path)?.lines().count();
        if lines > MAX_LINES {
            too_long.push(format!("{path}: {lines} lines, {MAX_LINES} allowed"));
        }
    }
    if too_long.is_empty() {
        println!("lines: {} files, none longer than {MAX_LINES} lines", files.len());
        Ok(())
    } else {
        Err(Failure::new(too_long.join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Sample;

    #[test]
    fn a_file_at_the_limit_passes_and_one_line_more_fails() {
        let sample = Sample::new("lines").file("sync/src/lib.rs", &"//\n".repeat(MAX_LINES));
        run(&sample.tree).expect("350 lines are allowed");
        let sample = sample.file("sync/src/lib.rs", &"//\n".repeat(MAX_LINES + 1));
        let failure = run(&sample.tree).expect_err("351 lines are not").to_string();
        assert_eq!(failure, "sync/src/lib.rs: 351 lines, 350 allowed");
    }

    #[test]
    fn build_output_is_not_source() {
        let sample = Sample::new("lines-target").file("fuzz/target/debug/x.rs", &"//\n".repeat(9999));
        run(&sample.tree).expect("target is skipped");
    }
}
