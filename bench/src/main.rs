//! The command `bench`; everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    bench::cli::main(std::env::args_os())
}
