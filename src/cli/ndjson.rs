//! NDJSON as a stream: one line at a time, however many there are, and no line longer than a message may be.

use std::io::{self, BufRead, Read};

/// Longest line read, in bytes: the limit of a message with room for JSON escapes.
const LONGEST: u64 = 8 << 20;

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NdjsonLine<'a> {
    Whole(&'a [u8]),
    /// Longer than the limit; it was skipped to its end.
    TooLarge,
}

/// Gives every line that is not blank to `each`, until the input or `each` ends.
///
/// # Errors
/// What reading or `each` fails with.
pub(crate) fn each<E: From<io::Error>>(
    input: impl BufRead,
    each: impl FnMut(NdjsonLine<'_>) -> Result<(), E>,
) -> Result<(), E> {
    each_within(LONGEST, input, each)
}

fn each_within<E: From<io::Error>>(
    longest: u64,
    mut input: impl BufRead,
    mut each: impl FnMut(NdjsonLine<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut input).take(longest).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.last() != Some(&b'\n') && line.len() as u64 >= longest {
            input.skip_until(b'\n')?;
            each(NdjsonLine::TooLarge)?;
        } else if !line.iter().all(u8::is_ascii_whitespace) {
            each(NdjsonLine::Whole(&line))?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_reported_and_the_next_one_is_read() {
        let input = b"short\n\n  \nfar too long a line\nnext\nno end";
        let mut seen = Vec::new();
        let result = each_within(10, &input[..], |line| {
            seen.push(match line {
                NdjsonLine::Whole(line) => String::from_utf8_lossy(line).trim_end().to_owned(),
                NdjsonLine::TooLarge => "too large".to_owned(),
            });
            Ok::<_, io::Error>(())
        });
        result.unwrap();
        assert_eq!(seen, ["short", "too large", "next", "no end"]);
    }

    #[test]
    fn what_the_reader_of_lines_fails_with_ends_the_reading() {
        let mut count = 0;
        let result = each(&b"a\nb\nc\n"[..], |_| {
            count += 1;
            if count == 2 { Err(io::Error::other("enough")) } else { Ok(()) }
        });
        assert!(result.is_err());
        assert_eq!(count, 2);
    }
}
