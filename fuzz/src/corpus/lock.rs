//! Inputs of `lwlock_ops`.

use super::Seeds;
use crate::lock;

pub(super) fn seeds() -> Seeds {
    use lock::Op::{
        Add, Downgrade, Drop, Forget, GetMut, Read, Renew, TryRead, TryReadFor, TryWrite, TryWriteFor, Write,
        WriteOrWait,
    };
    let input = |ops: &[lock::Op]| ops.iter().flat_map(|op| op.encode()).collect();
    vec![
        ("readers", input(&[TryRead, Read, TryRead, TryWrite, Drop(1), TryWriteFor(2), Drop(0), TryWrite])),
        ("writer", input(&[Write, Add(0), TryRead, TryReadFor(1), TryWrite, Drop(0), Read, TryRead])),
        ("or_wait", input(&[WriteOrWait, Add(0), Drop(0), WriteOrWait, Downgrade(0), TryRead, WriteOrWait])),
        (
            "downgrade",
            input(&[TryWrite, Add(0), Downgrade(0), TryRead, TryWriteFor(3), Downgrade(1), Add(1)]),
        ),
        (
            "forgotten_reader",
            input(&[TryRead, Forget(0), TryRead, TryWrite, GetMut, TryWriteFor(0), TryReadFor(3)]),
        ),
        (
            "forgotten_writer",
            input(&[TryWrite, Add(0), Forget(0), TryRead, GetMut, TryWrite, Renew, Write, Renew]),
        ),
    ]
}
