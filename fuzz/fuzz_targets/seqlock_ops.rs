//! A sequence lock used by one thread, against what was published last.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::seqlock::run(input));
