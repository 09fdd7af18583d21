//! The command `bench`; everything is in the library.

use std::process::ExitCode;

use bench::counting::Counting;

/// Counts what a map holds while `bench lhash` measures that, and only then.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    bench::cli::main(std::env::args_os())
}
