//! How much memory the process has, as the system counts it.

/// Resident memory in bytes: now, and the most there was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resident {
    pub(crate) now: u64,
    pub(crate) peak: u64,
}

/// `None` where the system does not tell in a file.
pub(crate) fn resident() -> Option<Resident> {
    parse(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn parse(status: &str) -> Option<Resident> {
    let kib = |field: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(field))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    Some(Resident { now: kib("VmRSS:")? * 1024, peak: kib("VmHWM:")? * 1024 })
}

/// In mebibytes, for people.
pub(crate) fn shown(bytes: u64) -> String {
    format!("{}.{} MiB", bytes >> 20, ((bytes & 0xf_ffff) * 10) >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_read_where_linux_has_them() {
        let status = "Name:\tsoak\nVmPeak:\t  9 kB\nVmHWM:\t  2048 kB\nVmRSS:\t  1536 kB\n";
        assert_eq!(parse(status), Some(Resident { now: 1536 * 1024, peak: 2048 * 1024 }));
        assert_eq!(parse("Name:\tsoak\n"), None);
        assert_eq!(shown(1536 * 1024), "1.5 MiB");
    }
}
