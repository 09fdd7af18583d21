//! Work in a child process.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work` in a child process, and returns how that ended. The calling test must be alone in its program, and its other
/// threads at rest.
pub(crate) fn in_a_child(work: impl Fn()) -> i32 {
    // SAFETY: no other thread is in the middle of anything; the child runs `work` and ends without coming back.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork works");
    if child == 0 {
        let code = if catch_unwind(AssertUnwindSafe(work)).is_ok() { 0 } else { 101 };
        // SAFETY: ends the child at once, without the exit handlers of the parent.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    // SAFETY: the status is ours to write.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert!(libc::WIFEXITED(status), "the child was killed: {status}");
    libc::WEXITSTATUS(status)
}
