//! Patterns that are constants of the program.

/// A constant pattern, compiled once; every one is compiled in tests.
pub(crate) fn compiled(pattern: &str) -> regex::Regex {
    regex::Regex::new(pattern).expect("a constant pattern, compiled in every test")
}
