//! The resident memory of the process, and what the allocator keeps of what was freed.

/// Asks the allocator to give freed memory back to the system, where that can be asked: glibc keeps it otherwise.
/// Whether it could be asked.
pub fn trim() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: it may be called at any time, by any thread.
        unsafe { libc::malloc_trim(0) };
        true
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    false
}

/// The bytes of memory that the process has now, where Linux tells it.
#[must_use]
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    #[test]
    fn resident_memory_is_told_on_linux() {
        let bytes = super::resident_bytes();
        assert_eq!(bytes.is_some(), cfg!(target_os = "linux"));
        assert!(bytes.is_none_or(|bytes| bytes > 4096), "{bytes:?}");
        assert_eq!(super::trim(), cfg!(all(target_os = "linux", target_env = "gnu")));
    }
}
