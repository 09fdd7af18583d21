//! The redo log's reader and recovery, against a slow reader and a model of what was logged.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::redo::run(input));
