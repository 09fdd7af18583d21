//! Keeping a thread on one core, where the system allows.

/// While it lives, the thread that made it runs on one core only; not [`Send`], as another thread has its own cores.
#[derive(Debug)]
pub struct Pinned {
    #[cfg(target_os = "linux")]
    before: nix::sched::CpuSet,
    not_send: std::marker::PhantomData<*const ()>,
}

#[cfg(target_os = "linux")]
impl Pinned {
    /// Keeps this thread on the `number`th of the cores that it may run on, if it may run on `threads` or more: with
    /// fewer the scheduler has to share them out. `None` if it stays free.
    #[must_use]
    pub fn to(number: u32, threads: u32) -> Option<Self> {
        use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
        let this_thread = nix::unistd::Pid::from_raw(0);
        let before = sched_getaffinity(this_thread).ok()?;
        let allowed = (0..CpuSet::count()).filter(|core| before.is_set(*core) == Ok(true));
        let allowed: Vec<usize> = allowed.collect();
        if allowed.len() < threads as usize {
            return None;
        }
        let mut one = CpuSet::new();
        one.set(*allowed.get(number as usize)?).ok()?;
        sched_setaffinity(this_thread, &one).ok()?;
        Some(Self { before, not_send: std::marker::PhantomData })
    }
}

#[cfg(target_os = "linux")]
impl Drop for Pinned {
    fn drop(&mut self) {
        // If it fails the thread stays where it is, which slows others down but falsifies nothing.
        let _ = nix::sched::sched_setaffinity(nix::unistd::Pid::from_raw(0), &self.before);
    }
}

#[cfg(not(target_os = "linux"))]
impl Pinned {
    /// `None`: this system has no call for it that this crate knows.
    #[must_use]
    pub fn to(_number: u32, _threads: u32) -> Option<Self> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use nix::sched::sched_getaffinity;
    use nix::unistd::Pid;

    use super::Pinned;

    #[test]
    fn a_thread_is_kept_on_one_core_for_a_while() {
        let cores = || {
            let set = sched_getaffinity(Pid::from_raw(0)).unwrap();
            (0..nix::sched::CpuSet::count()).filter(|core| set.is_set(*core) == Ok(true)).collect::<Vec<_>>()
        };
        let before = cores();
        let last = before.len() as u32 - 1;
        let pinned = Pinned::to(last, before.len() as u32).unwrap();
        assert_eq!(cores(), before[last as usize..]);
        drop(pinned);
        assert_eq!(cores(), before);
        assert!(Pinned::to(0, before.len() as u32 + 1).is_none(), "more threads than cores are left alone");
    }
}
