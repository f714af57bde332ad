//! Text normalisation as the model was trained with: the compiled table of SentencePiece (`nmt_nfkc`), a double array
//! of prefixes with a replacement for each, then spaces written as `▁`.

/// SentencePiece's sign for a space.
const SPACE: &str = "▁";

pub(super) struct Charsmap {
    units: Vec<u32>,
    replacements: Vec<u8>,
}

impl Charsmap {
    /// Reads `[u32 size of the array in bytes][array of u32][replacements, each ended by 0]`, little-endian.
    pub(super) fn parse(data: &[u8]) -> Option<Self> {
        let (size, rest) = data.split_first_chunk::<4>()?;
        let (array, replacements) = rest.split_at_checked(u32::from_le_bytes(*size) as usize)?;
        let units =
            array.chunks_exact(4).map(|unit| u32::from_le_bytes([unit[0], unit[1], unit[2], unit[3]])).collect();
        std::str::from_utf8(replacements).ok()?;
        Some(Self { units, replacements: replacements.to_vec() })
    }

    /// Normalised text with a leading `▁`, single spaces and none at the end; empty when nothing is left.
    pub(super) fn normalise(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + SPACE.len());
        let mut after_space = true;
        let mut rest = text;
        while !rest.is_empty() {
            let (mut piece, used) = self.prefix(rest);
            rest = &rest[used..];
            if after_space {
                piece = piece.trim_start_matches(' ');
            }
            if piece.is_empty() {
                continue;
            }
            if out.is_empty() {
                out.push_str(SPACE);
            }
            after_space = piece.ends_with(' ');
            for (i, part) in piece.split(' ').enumerate() {
                if i > 0 {
                    out.push_str(SPACE);
                }
                out.push_str(part);
            }
        }
        out.truncate(out.trim_end_matches(SPACE).len());
        out
    }

    /// What the longest known prefix of `text` (not empty) becomes, and its length; else its first character as is.
    fn prefix<'a>(&'a self, text: &'a str) -> (&'a str, usize) {
        let known = self.longest(text.as_bytes());
        if let Some((replacement, used)) = known.filter(|(_, used)| text.is_char_boundary(*used)) {
            return (replacement, used);
        }
        let used = text.chars().next().map_or(text.len(), char::len_utf8);
        (&text[..used], used)
    }

    fn longest(&self, bytes: &[u8]) -> Option<(&str, usize)> {
        let mut best = None;
        let mut at = offset(*self.units.first()?);
        for (i, &byte) in bytes.iter().enumerate() {
            at ^= usize::from(byte);
            let Some(&unit) = self.units.get(at) else { break };
            if unit & 0x8000_00FF != u32::from(byte) {
                break;
            }
            at ^= offset(unit);
            if unit & 0x100 != 0 {
                best = self.units.get(at).map(|leaf| ((leaf & 0x7FFF_FFFF) as usize, i + 1));
            }
        }
        let (start, used) = best?;
        let tail = self.replacements.get(start..)?;
        let end = tail.iter().position(|&byte| byte == 0)?;
        Some((std::str::from_utf8(&tail[..end]).ok()?, used))
    }
}

/// Where a unit's children lie (darts-clone's layout).
fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 0x200) >> 6)) as usize
}
