//! From lines to tokens: each stretch without white space is normalised character by character and cut into pieces;
//! each piece refers to its bytes in the line. The digits of surrogates depend on the patient's key, so they are numbered
//! anew in each document: what is found never depends on a key.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;

use super::metadata::ReaderMetadata;
use super::{ReaderError, ReaderLine};
use anamnesis_neural::file::{TensorError, TensorFile};
use anamnesis_neural::pieces::{Cut, Pieces, Step};
use anamnesis_text::Speaker;

/// SentencePiece's sign for the space before a word.
const SPACE: char = '▁';
/// The marks before a line in training, by the speaker; the last is that of a line without a speaker.
const MARKS: [&str; 6] = ["P:", "C:", "F:", "A:", "U:", "|"];

/// A piece and its bytes in the line. The mark of the speaker has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PieceToken {
    pub(crate) id: u32,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl PieceToken {
    pub(super) fn is_mark(self) -> bool {
        self.start == self.end
    }
}

/// Digits of a surrogate: `[PERSON_7F3A]`.
const DIGITS: usize = 4;
const LONGEST_TAG: usize = 64;
/// Step between the digits of one surrogate of a document and the next. Odd, so that they differ; arbitrary otherwise.
const STEP: usize = 0x9E37;

/// Room for the work on one word, used for all of a document.
#[derive(Default)]
struct TokenizerBuffers {
    /// The word as the network reads it: with the digits of the document for those of the patient.
    word: String,
    seen: Vec<[u8; DIGITS]>,
    normal: String,
    /// Of each byte of `normal`, the character of the word that it comes from.
    places: Vec<(usize, usize)>,
    steps: Vec<Step>,
    cuts: Vec<Cut>,
}

pub(super) struct PieceTokenizer {
    pieces: Pieces,
    /// Characters that are written otherwise, in order, and where each one's replacement ends in `to`.
    from: Vec<char>,
    ends: Vec<usize>,
    to: Vec<char>,
    marks: [Vec<u32>; 6],
}

impl PieceTokenizer {
    pub(super) fn load(file: &TensorFile, form: &ReaderMetadata) -> Result<Self, ReaderError> {
        let texts = file.texts("pieces")?;
        let control = [form.begin, form.end, form.pad, form.unknown];
        for (key, id) in ["bos", "eos", "pad", "unknown"].into_iter().zip(control) {
            if id as usize >= texts.len() {
                return Err(ReaderError::Metadata(key));
            }
        }
        let mut known = HashSet::with_capacity(texts.len());
        let distinct = texts.iter().enumerate().all(|(id, text)| control.contains(&(id as u32)) || known.insert(*text));
        let scores = file.vector("pieces.scores", texts.len())?;
        let pieces = Pieces::new(&texts, scores, &control, (form.unknown, form.unknown_score))
            .filter(|_| distinct)
            .ok_or(ReaderError::Vocabulary)?;
        let (from, to) = (characters(file, "norm.from")?, characters(file, "norm.to")?);
        let ends: Vec<usize> = file.words("norm.ends")?.into_iter().map(|end| end as usize).collect();
        if ends.len() != from.len() || !ends.is_sorted() || ends.last().is_some_and(|end| *end != to.len()) {
            return Err(TensorError::Content("norm.ends".to_owned()).into());
        }
        if !from.is_sorted_by(|a, b| a < b) {
            return Err(TensorError::Content("norm.from".to_owned()).into());
        }
        let mut tokenizer = Self { pieces, from, ends, to, marks: Default::default() };
        tokenizer.marks = MARKS.map(|mark| {
            let mut tokens = Vec::new();
            tokenizer.cut(mark, &mut TokenizerBuffers::default(), &mut tokens);
            tokens.iter().map(|token| token.id).collect()
        });
        Ok(tokenizer)
    }

    /// How many ids there are.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The tokens of all lines, one line after the other, each after its speaker's mark; and where each line's are.
    pub(super) fn tokens(&self, lines: &[ReaderLine<'_>]) -> (Vec<PieceToken>, Vec<Range<usize>>) {
        let mut tokens = Vec::with_capacity(lines.iter().map(|line| line.text.len() / 3 + 4).sum());
        let mut places = Vec::with_capacity(lines.len());
        let mut room = TokenizerBuffers::default();
        for line in lines {
            let start = tokens.len();
            tokens.extend(self.mark(line.speaker).iter().map(|&id| PieceToken { id, start: 0, end: 0 }));
            self.cut(line.text, &mut room, &mut tokens);
            places.push(start..tokens.len());
        }
        (tokens, places)
    }

    fn mark(&self, speaker: Option<Speaker>) -> &[u32] {
        let at = match speaker {
            Some(Speaker::Patient) => 0,
            Some(Speaker::Clinician) => 1,
            Some(Speaker::Family) => 2,
            Some(Speaker::Agent) => 3,
            Some(Speaker::Unknown) => 4,
            None => 5,
        };
        &self.marks[at]
    }

    fn cut(&self, text: &str, room: &mut TokenizerBuffers, out: &mut Vec<PieceToken>) {
        let mut at = 0;
        for word in text.split(is_space) {
            if !word.is_empty() {
                self.word(word, at, room, out);
            }
            // The white space that ended the word has its own length.
            let after = at + word.len();
            at = after + text[after..].chars().next().map_or(0, char::len_utf8);
        }
    }

    /// The tokens of one word that begins at byte `at` of its line.
    fn word(&self, word: &str, at: usize, room: &mut TokenizerBuffers, out: &mut Vec<PieceToken>) {
        room.normal.clear();
        room.places.clear();
        let read = room.renumbered(word);
        let first = word.chars().next().map_or(0, char::len_utf8);
        room.push(SPACE, (0, first));
        for (start, char) in read.char_indices() {
            let place = (start, start + char.len_utf8());
            match self.from.binary_search(&char) {
                Err(_) => room.push(char, place),
                Ok(found) => {
                    let from = found.checked_sub(1).map_or(0, |before| self.ends[before]);
                    self.to[from..self.ends[found]].iter().for_each(|&char| room.push(char, place));
                }
            }
        }
        room.word = read;
        self.pieces.cut(&room.normal, &mut room.steps, &mut room.cuts);
        let mut from = 0;
        for cut in &room.cuts {
            // Characters that normalisation removes at a word's end belong to its last piece.
            let end = if cut.end == room.normal.len() { word.len() } else { room.places[cut.end - 1].1 };
            out.push(PieceToken { id: cut.id, start: at + room.places[from].0, end: at + end });
            from = cut.end;
        }
    }
}

impl TokenizerBuffers {
    /// The word with its surrogates numbered in the order of the document. As long as before.
    fn renumbered(&mut self, word: &str) -> String {
        let mut read = std::mem::take(&mut self.word);
        read.clear();
        let mut rest = word;
        while let Some(at) = surrogate_digits(rest) {
            let digits: [u8; DIGITS] = std::array::from_fn(|digit| rest.as_bytes()[at + digit]);
            let order = self.seen.iter().position(|seen| *seen == digits).unwrap_or_else(|| {
                self.seen.push(digits);
                self.seen.len() - 1
            });
            read.push_str(&rest[..at]);
            let _ = write!(read, "{:04X}", (order + 1).wrapping_mul(STEP) & 0xFFFF);
            rest = &rest[at + DIGITS..];
        }
        read.push_str(rest);
        read
    }

    fn push(&mut self, char: char, place: (usize, usize)) {
        self.normal.push(char);
        self.places.resize(self.normal.len(), place);
    }
}

fn surrogate_digits(word: &str) -> Option<usize> {
    word.match_indices('[').find_map(|(open, _)| {
        let close = word.as_bytes()[open..].iter().take(LONGEST_TAG).position(|byte| *byte == b']')?;
        let body = &word[open + 1..open + close];
        let (label, digits) = body.rsplit_once('_')?;
        let named = !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        let hex = digits.len() == DIGITS && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'));
        (named && hex).then(|| open + 1 + label.len() + 1)
    })
}

/// White space as the model's training saw it: Unicode's, and the four separators of ASCII.
fn is_space(char: char) -> bool {
    char.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&char)
}

fn characters(file: &TensorFile, name: &str) -> Result<Vec<char>, ReaderError> {
    let chars: Option<Vec<char>> = file.words(name)?.into_iter().map(char::from_u32).collect();
    chars.ok_or_else(|| TensorError::Content(name.to_owned()).into())
}
