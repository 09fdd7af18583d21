//! The workspace's own checks, run as `cargo xtask COMMAND`.
//!
//! Each command is one module; `ci` runs them all in the order in which continuous integration does.
//! The commands share [`tree`] (where things are), [`shell`] (running programs) and [`source`] (reading Rust).
//!
//! Next: `ci.rs`.

mod api;
mod broken;
mod ci;
#[cfg(test)]
mod dependencies;
mod features;
mod fuzz;
mod insns;
mod ledger;
mod lines;
mod models;
mod mutants;
mod package;
#[cfg(test)]
mod promises;
mod sanitize;
mod shell;
mod source;
#[cfg(test)]
mod testing;
mod tree;
mod weaken;

use std::process::ExitCode;

use lexopt::{Arg, Parser, ValueExt};
use shell::Failure;
use tree::Tree;

const HELP: &str = "\
cargo xtask COMMAND

  ci [--keep-going] [--list] [STEP..]     every check that CI runs, or the named steps
  loom [-p CRATE] [FILTER]                the loom models, LOOM_MAX_PREEMPTIONS=3 unless set
  shuttle [-p CRATE] [FILTER]             the shuttle models, each in SHUTTLE_ITERATIONS random schedules if set
  ledger [--fix]                          ORDERINGS.md against the code; --fix refills the site columns
  weaken [--list] [--limit SECONDS] [--jobs N] [ID..]
                                          weakens every tagged ordering; a model of its row must fail
  break [--list] [NAME..]                 breaks each protocol on purpose, one fault at a time; its model must fail
  mutants [--quick SECONDS] [--loom] [--again] [--shard K/N] [--only TEXT] [--list] [--limit SECONDS] [--jobs N] CRATE
                                          changes the code in one place at a time; a test must fail. --quick: only tests
                                          that take less; --loom: the models on what no test caught. Goes on where it
                                          was, in target/mutants-CRATE.txt; --again: also with what has survived
  fuzz [--seconds N] [--asan] [TARGET..]  the fuzz targets, 20 seconds each, on a stable toolchain
  soak [--minutes N] [SUBJECT..]          every structure kept busy by several threads; fails if one is not whole
  asan [WORD..]                           the tests of the product crates under the address and leak sanitizers;
                                          words are cargo test's, as `--test api`
  tsan [WORD..]                           the soak under the thread sanitizer; words are the soak's
  api [--write]                           the public interfaces against their lists in api/; --write makes the lists
  features [--oldest]                     each product crate with no, each and all features; --oldest: also on the oldest
                                          compiler, and with the oldest dependencies
  package [--all]                         the packages made, unpacked elsewhere, built and tested; --all: with all tests
  insns [--record]                        instructions of the hot operations, by valgrind, against bench/insns.txt
  lines                                   the limit on the length of a file
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failure> {
    let mut parser = Parser::from_env();
    let Some(first) = parser.next()? else {
        print!("{HELP}");
        return Err(Failure::new("no command given"));
    };
    let command = match first {
        Arg::Short('h') | Arg::Long("help") => {
            print!("{HELP}");
            return Ok(());
        }
        Arg::Value(name) => name.string()?,
        other => return Err(other.unexpected().into()),
    };
    let tree = Tree::find()?;
    match command.as_str() {
        "ci" => ci::run(&tree, &ci_options(parser)?),
        "loom" => models::LOOM.run(&tree, &model_options(parser)?),
        "shuttle" => models::SHUTTLE.run(&tree, &model_options(parser)?),
        "ledger" => ledger::run(&tree, flag(parser, "fix")?),
        "weaken" => weaken::run(&tree, &weaken_options(parser)?),
        "break" => broken::run(&tree, &break_options(parser)?),
        "mutants" => mutants::run(&tree, &mutant_options(parser)?),
        "fuzz" => fuzz::run(&tree, &fuzz_options(parser)?),
        "soak" => sanitize::soak(&tree, &words(parser)?),
        "asan" => sanitize::address(&tree, &words(parser)?),
        "tsan" => sanitize::threads(&tree, &words(parser)?),
        "api" => api::run(&tree, flag(parser, "write")?),
        "features" => features::run(&tree, &features::Options { oldest: flag(parser, "oldest")? }),
        "package" => package::run(&tree, &package::Options { all: flag(parser, "all")? }),
        "insns" => insns::run(&tree, flag(parser, "record")?),
        "lines" => no_options(parser).and_then(|()| lines::run(&tree)),
        "help" => {
            print!("{HELP}");
            Ok(())
        }
        other => Err(Failure::new(format!("unknown command `{other}`; try `cargo xtask help`"))),
    }
}

fn ci_options(mut parser: Parser) -> Result<ci::Options, Failure> {
    let mut options = ci::Options::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("keep-going") => options.keep_going = true,
            Arg::Long("list") => options.list = true,
            Arg::Value(step) => options.steps.push(step.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(options)
}

fn model_options(mut parser: Parser) -> Result<models::Options, Failure> {
    let mut options = models::Options::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('p') | Arg::Long("package") => options.package = Some(parser.value()?.string()?),
            Arg::Value(filter) if options.filter.is_none() => options.filter = Some(filter.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(options)
}

/// Whether the command's one flag is given.
fn flag(mut parser: Parser, name: &str) -> Result<bool, Failure> {
    let mut is_given = false;
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long(given) if given == name => is_given = true,
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(is_given)
}

fn weaken_options(mut parser: Parser) -> Result<weaken::Options, Failure> {
    let mut options = weaken::Options::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("list") => options.list = true,
            Arg::Long("limit") => options.limit_seconds = parser.value()?.parse()?,
            Arg::Long("jobs") => options.jobs = parser.value()?.parse()?,
            Arg::Value(id) => options.ids.push(id.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(options)
}

fn break_options(mut parser: Parser) -> Result<broken::Options, Failure> {
    let mut options = broken::Options::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("list") => options.list = true,
            Arg::Value(name) => options.names.push(name.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(options)
}

fn mutant_options(mut parser: Parser) -> Result<mutants::Options, Failure> {
    let mut options = mutants::Options::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("shard") => options.shard = Some(parser.value()?.string()?),
            Arg::Long("only") => options.only = Some(parser.value()?.string()?),
            Arg::Long("loom") => options.loom = true,
            Arg::Long("again") => options.again = true,
            Arg::Long("quick") => options.quick_seconds = Some(parser.value()?.parse()?),
            Arg::Long("list") => options.list = true,
            Arg::Long("limit") => options.limit_seconds = parser.value()?.parse()?,
            Arg::Long("jobs") => options.jobs = parser.value()?.parse()?,
            Arg::Value(krate) if options.krate.is_empty() => options.krate = krate.string()?,
            other => return Err(other.unexpected().into()),
        }
    }
    if options.krate.is_empty() {
        return Err(Failure::new("mutants of which crate?"));
    }
    Ok(options)
}

fn fuzz_options(mut parser: Parser) -> Result<fuzz::Options, Failure> {
    let mut options = fuzz::Options::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("seconds") => options.seconds = parser.value()?.parse()?,
            Arg::Long("asan") => options.asan = true,
            Arg::Value(target) => options.targets.push(target.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(options)
}

/// What is left of the command line, for another program.
fn words(mut parser: Parser) -> Result<Vec<String>, Failure> {
    parser.raw_args()?.map(|word| Ok(word.string()?)).collect()
}

fn no_options(mut parser: Parser) -> Result<(), Failure> {
    match parser.next()? {
        None => Ok(()),
        Some(other) => Err(other.unexpected().into()),
    }
}
