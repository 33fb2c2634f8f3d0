#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| deskfleet_tests::fuzzing::log_entry(input));
