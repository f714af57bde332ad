//! Checks messages from standard input, one JSON object a line, and prints what is wrong with each.

use std::io::{self, BufRead as _};

use anamnesis_messages::Decoder;

fn main() -> io::Result<()> {
    let decoder = Decoder::default();
    for (number, line) in io::stdin().lock().lines().enumerate() {
        match decoder.decode(line?.as_bytes()) {
            Ok(envelope) if envelope.unknown_fields.is_empty() => {
                println!("{}: {}", number + 1, envelope.kind().name())
            }
            Ok(envelope) => {
                println!("{}: {}, unknown: {:?}", number + 1, envelope.kind().name(), envelope.unknown_fields)
            }
            Err(refusal) => println!("{}: rejected, {refusal}", number + 1),
        }
    }
    Ok(())
}
