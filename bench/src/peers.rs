//! The tables that take part, each in a file of its own behind [`Table`](crate::table::Table), and the
//! versions of the crates that they come from.
//!
//! Next: `replay.rs`.

pub mod dashmap;
pub mod dynahash;
pub mod flatmap;
pub mod hashbrown;
pub mod lookup3;
pub mod papaya;
pub mod scc;

/// The lock file of the workspace, which knows what this program was built from.
const LOCK_FILE: &str = include_str!("../../Cargo.lock");

/// The version of the crate `name` among this crate's own dependencies.
#[must_use]
pub fn version(name: &str) -> Option<&'static str> {
    version_in(LOCK_FILE, name)
}

fn version_in<'a>(lock_file: &'a str, name: &str) -> Option<&'a str> {
    let quoted = |line: &'a str| line.split('"').nth(1);
    let package = |name: &'a str| {
        lock_file
            .split("[[package]]")
            .filter(move |package| package.lines().any(|l| l == format!("name = \"{name}\"")))
    };
    let this_crate = package(env!("CARGO_PKG_NAME")).next()?;
    let dependency = this_crate.lines().filter_map(quoted).find(|d| d.split(' ').next() == Some(name))?;
    // A lock file gives the version only where the name alone would not say which package is meant.
    let (name, version) = dependency.split_once(' ').map_or((dependency, None), |(n, v)| (n, Some(v)));
    version.or_else(|| package(name).next()?.lines().find(|l| l.starts_with("version = ")).and_then(quoted))
}

#[cfg(test)]
mod tests {
    use super::{version, version_in};

    #[test]
    fn versions_come_from_the_dependencies_of_this_crate() {
        let lock_file = r#"
[[package]]
name = "bench"
version = "0.0.0"
dependencies = [
 "hashbrown 0.17.2",
 "papaya",
]

[[package]]
name = "hashbrown"
version = "0.14.5"

[[package]]
name = "papaya"
version = "0.2.5"
dependencies = [
 "bench-extra",
]
"#;
        assert_eq!(version_in(lock_file, "hashbrown"), Some("0.17.2"));
        assert_eq!(version_in(lock_file, "papaya"), Some("0.2.5"));
        assert_eq!(version_in(lock_file, "bench-extra"), None);
    }

    #[test]
    fn every_peer_has_a_version() {
        for name in ["dashmap", "foldhash", "hashbrown", "papaya", "parking_lot", "scc", "seqlock", "spin"] {
            assert!(version(name).is_some_and(|v| v.starts_with(|c: char| c.is_ascii_digit())), "{name}");
        }
    }
}
