//! The trace decoder, against a slow one that only says yes or no.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::trace::run(input));
