//! Inputs of `trace_decode`.

use super::Seeds;

/// A trace of two relations: a lookup, an insert and a delete.
fn whole_trace() -> Vec<u8> {
    let mut bytes = b"PGBT0001".to_vec();
    bytes.extend(3_u64.to_le_bytes());
    bytes.extend([2_u32, 16].iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend([1663_u32, 5, 100, 0, 1663, 5, 101, 1].iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend([0, 1 | 7 << 2, 2 | 63 << 2]);
    bytes.extend([0_u16, 1, 0].iter().flat_map(|index| index.to_le_bytes()));
    bytes.extend([7, 8, 9, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(15_u32.to_le_bytes());
    bytes
}

/// `whole_trace` with one byte changed.
fn trace_with(at: usize, byte: u8) -> Vec<u8> {
    let mut bytes = whole_trace();
    bytes[at] = byte;
    bytes
}

pub(super) fn seeds() -> Seeds {
    let whole = whole_trace();
    let slot = whole.len() - 4;
    vec![
        ("whole", whole.clone()),
        ("cut_in_the_header", whole[..20].to_vec()),
        ("cut_in_the_records", whole[..60].to_vec()),
        ("cut_in_the_slots", whole[..slot + 1].to_vec()),
        ("trailing", [&whole[..], b"x"].concat()),
        ("wrong_magic", trace_with(0, b'Q')),
        ("many_records", trace_with(13, 1)),
        ("no_slots", trace_with(20, 0)),
        ("relation_out_of_range", trace_with(59, 2)),
        ("unknown_op", trace_with(56, 3)),
        ("slot_out_of_range", trace_with(slot, 16)),
        ("empty", b"PGBT0001\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0".to_vec()),
    ]
}
