//! A scratch copy of the workspace with one crate's mutants in it, built once.
//!
//! Next: `baseline.rs`, the unchanged run.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::conditions::Conditions;
use super::find::{self, Change, Site};
use super::rewrite::{self, Refused, Rewritten};
use super::switch;
use crate::models;
use crate::shell::{self, Failure};
use crate::tree::Tree;

/// How often a build may fail before this gives up: each failure takes mutants out.
const MAX_BUILDS: usize = 60;

/// What the mutants are built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Tests,
    /// The models under loom.
    Models,
}

/// A crate with its mutants.
#[derive(Debug)]
pub(super) struct Scratch {
    pub(super) purpose: Purpose,
    pub(super) tree: Tree,
    pub(super) krate: String,
    features: Vec<String>,
    files: Vec<File>,
    refused: Refused,
}

#[derive(Debug)]
struct File {
    path: String,
    text: String,
    sites: Vec<Site>,
    rewritten: Rewritten,
}

/// What the compiler says, in its short form: `path:line:column: error[E0308]: message`.
#[derive(Debug, PartialEq, Eq)]
struct Complaint {
    path: String,
    line: usize,
    column: usize,
    message: String,
}

impl Scratch {
    /// Copies `tree` to `place` and finds the mutants of `krate`.
    pub(super) fn new(
        tree: &Tree,
        krate: &str,
        features: &[String],
        purpose: Purpose,
        place: &str,
    ) -> Result<Self, Failure> {
        let tree = tree.copy_to(&tree.target.join("mutants").join(place))?;
        let conditions = Conditions { features: features.to_vec() };
        let mut files: Vec<File> = Vec::new();
        let mut paths = vec![format!("{krate}/src/lib.rs")];
        let mut last = 0;
        while let Some(path) = paths.pop() {
            let text = tree.read(&path)?;
            let found = find::sites(&path, &text, &conditions, last)?;
            last = found.sites.iter().flat_map(|s| &s.changes).map(|c| c.number).max().unwrap_or(last);
            for module in found.modules.iter().rev() {
                paths.push(file_of(&tree, &path, module)?);
            }
            files.push(File { path, text, sites: found.sites, rewritten: Rewritten::default() });
        }
        let module = format!("{krate}/src/mutant.rs");
        fs::write(tree.root.join(module), switch::module(last))?;
        let (krate, features) = (krate.to_owned(), features.to_vec());
        Ok(Self { purpose, tree, krate, features, files, refused: Refused::default() })
    }

    /// Every mutant with the function that it is in, in the order of the code.
    pub(super) fn mutants(&self) -> impl Iterator<Item = (&Change, &str)> {
        let sites = self.files.iter().flat_map(|file| &file.sites);
        sites.flat_map(|site| site.changes.iter().map(|change| (change, site.function.as_str())))
    }

    /// Whether the compiler refuses a mutant, or its function has to stay `const`.
    pub(super) fn is_refused(&self, number: u32) -> bool {
        let is_constant = |(change, function): (&Change, &str)| {
            change.number == number && self.refused.constant.contains(function)
        };
        self.refused.numbers.contains(&number) || self.mutants().any(is_constant)
    }

    /// Leaves out all mutants but these.
    pub(super) fn keep(&mut self, kept: impl Fn(&Change) -> bool) {
        let others = self.mutants().filter(|(change, _)| !kept(change)).map(|(change, _)| change.number);
        let others: Vec<u32> = others.collect();
        self.refused.numbers.extend(others);
    }

    /// Takes out what does not compile until the rest does, and returns the test binaries.
    pub(super) fn build(&mut self) -> Result<Vec<PathBuf>, Failure> {
        self.write()?;
        let mut mode = "check";
        for _ in 0..MAX_BUILDS {
            let mut command = self.cargo(mode)?;
            let output = command.args(["--message-format", "short"]).stdout(Stdio::null()).output()?;
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            match (output.status.success(), mode) {
                (true, "check") => mode = "test",
                (true, _) => return self.binaries(),
                (false, _) => {
                    self.refuse(&text)?;
                    self.write()?;
                }
            }
        }
        Err(Failure::new(format!(
            "the mutants of {} still fail to build after {MAX_BUILDS} tries",
            self.krate
        )))
    }

    fn binaries(&self) -> Result<Vec<PathBuf>, Failure> {
        let mut command = self.cargo("test")?;
        command.args(["--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
        Ok(models::binaries(&String::from_utf8_lossy(&command.output()?.stdout)))
    }

    /// Cargo with what it needs for the purpose. Lints are of no use in changed code.
    fn cargo(&self, mode: &str) -> Result<Command, Failure> {
        let mut command = shell::cargo();
        command.current_dir(&self.tree.root).env("CARGO_TARGET_DIR", &self.tree.target);
        command.args([mode, "--quiet", "-p", &self.tree.package(&self.krate)?]);
        match self.purpose {
            Purpose::Tests => {
                command.env("RUSTFLAGS", shell::rustflags("--cap-lints allow"));
                // Optimised a little: the tests run a thousand times.
                command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1").env("CARGO_PROFILE_DEV_DEBUG", "0");
                command.args(["--tests", "--features", &self.features.join(",")]);
            }
            Purpose::Models => {
                command.env("RUSTFLAGS", shell::rustflags("--cfg loom --cap-lints allow"));
                command.args(["--test", "loom", "--profile", "loom", "--features", "loom"]);
            }
        }
        if mode == "test" {
            command.arg("--no-run");
        }
        Ok(command)
    }

    /// Writes all files, with what is not refused.
    fn write(&mut self) -> Result<(), Failure> {
        for file in &mut self.files {
            file.rewritten = rewrite::rewrite(&file.text, &file.sites, &self.refused);
            let mut text = file.rewritten.text.clone();
            if file.path.ends_with("/src/lib.rs") {
                // The end, for lines to keep their numbers.
                text.push_str("\nmod mutant;\n");
            }
            fs::write(self.tree.root.join(&file.path), text)?;
        }
        Ok(())
    }

    /// Takes out what the compiler complains about.
    fn refuse(&mut self, output: &str) -> Result<(), Failure> {
        let mut blamed = BTreeSet::new();
        let mut constant = BTreeSet::new();
        for complaint in complaints(output) {
            if complaint.message.contains("E0015") {
                constant.extend(self.callee(&complaint.message));
            } else if let Some(file) = self.files.iter().find(|file| file.path == complaint.path) {
                let at = file.rewritten.blamed(complaint.line, complaint.column);
                blamed.extend(if at.is_empty() { file.giving(complaint.line, &self.refused) } else { at });
            }
        }
        let before = self.refused.numbers.len() + self.refused.constant.len();
        self.refused.numbers.extend(blamed);
        self.refused.constant.extend(constant);
        if self.refused.numbers.len() + self.refused.constant.len() > before {
            Ok(())
        } else {
            Err(Failure::new(format!("{} does not build, by no mutant's fault:\n{output}", self.krate)))
        }
    }

    /// The functions that are meant by "cannot call non-const associated function `Slots::<T>::new` in statics".
    fn callee(&self, message: &str) -> Vec<String> {
        let called = without_generics(message.split('`').nth(1).unwrap_or_default());
        let segments: Vec<&str> = called.split("::").filter(|segment| !segment.is_empty()).collect();
        let functions = || {
            let sites = self.files.iter().flat_map(|file| &file.sites);
            sites.filter(|site| site.form == find::Form::Const).map(|site| site.function.clone())
        };
        let end = segments[segments.len().saturating_sub(2)..].join("::");
        let exact: Vec<String> = functions().filter(|name| name.ends_with(&format!(" {end}"))).collect();
        if !exact.is_empty() {
            return exact;
        }
        let name = segments.last().copied().unwrap_or_default();
        functions().filter(|f| f.rsplit([':', ' ']).next() == Some(name)).collect()
    }
}

impl File {
    /// The calls of the function around `line` to which variables are given: one that is left out leaves them to the
    /// function, whose other lines may not bear that.
    fn giving(&self, line: usize, refused: &Refused) -> BTreeSet<u32> {
        let before = self.sites.iter().filter(|site| site.line <= line);
        let Some(last) = before.max_by_key(|site| site.range.start) else { return BTreeSet::new() };
        let giving =
            self.sites.iter().filter(|s| s.form == find::Form::Giving && s.function == last.function);
        let numbers = giving.flat_map(|site| &site.changes).map(|change| change.number);
        numbers.filter(|number| !refused.numbers.contains(number)).collect()
    }
}

/// `LwLock::<u32>::new` without what stands in angle brackets.
fn without_generics(path: &str) -> String {
    let mut depth = 0;
    let mut plain = String::new();
    for letter in path.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    plain
}

/// The errors in the compiler's short output.
fn complaints(output: &str) -> Vec<Complaint> {
    let complaint = |line: &str| {
        let (place, message) = line.split_once(": error")?;
        let mut parts = place.rsplitn(3, ':');
        let column = parts.next()?.parse().ok()?;
        let line = parts.next()?.parse().ok()?;
        Some(Complaint { path: parts.next()?.to_owned(), line, column, message: message.to_owned() })
    };
    output.lines().filter_map(complaint).collect()
}

/// The file of a module that the file at `path` declares.
fn file_of(tree: &Tree, path: &str, module: &str) -> Result<String, Failure> {
    let stem = path.trim_end_matches(".rs");
    let folder = match stem.rsplit_once('/') {
        Some((folder, "lib" | "mod")) => folder,
        _ => stem,
    };
    let places = [format!("{folder}/{module}.rs"), format!("{folder}/{module}/mod.rs")];
    let found = places.into_iter().find(|place| tree.root.join(place).is_file());
    found.ok_or_else(|| Failure::new(format!("{path}: no file for `mod {module}`")))
}
