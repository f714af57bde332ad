//! Clean sentences from frames: `<one|other>` chooses, `{slot}` is filled from the lists of `words.txt`, `{clean}` with a line
//! of the sets that holds no personal data. The same seed makes the same sentences.

use std::collections::HashMap;

use super::lines::Line;
use anamnesis_core::clock::{Entropy as _, SeededEntropy};
use anamnesis_text::Language;

/// A frame that cannot be filled: its language and number.
#[derive(Debug, thiserror::Error)]
#[error("{language} frame {frame}: unknown slot or unclosed bracket")]
pub struct FrameError {
    pub(crate) language: &'static str,
    pub(crate) frame: usize,
}

/// Frames of one language with what fills them.
pub struct Frames {
    code: &'static str,
    language: Language,
    frames: Vec<String>,
    words: HashMap<String, Vec<String>>,
    clean: Vec<String>,
}

impl Frames {
    /// Reads frames and word lists; `clean` are the sets' lines, of which those without marks and of this language count.
    pub fn new(code: &'static str, frames: &str, words: &str, clean: &[Line]) -> Self {
        const LONGEST: usize = 160;
        let language = if code == "es" { Language::Spanish } else { Language::English };
        let lines = |text: &str| -> Vec<String> {
            text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).map(str::to_owned).collect()
        };
        let list = |line: &str| {
            let (name, list) = line.split_once('=')?;
            Some((name.trim().to_owned(), list.split(',').map(|word| word.trim().to_owned()).collect()))
        };
        let fits = |line: &&Line| line.language == language && line.marked.is_empty() && line.text.len() <= LONGEST;
        Self {
            code,
            language,
            frames: lines(frames),
            words: lines(words).iter().filter_map(|line| list(line)).collect(),
            clean: clean.iter().filter(fits).map(|line| line.text.clone()).collect(),
        }
    }

    /// Fills the frames in turn until there are enough sentences.
    ///
    /// # Errors
    /// When a frame names a slot that no list has or leaves a bracket open.
    pub fn sentences(&self, many: usize, seed: u64) -> Result<Vec<Line>, FrameError> {
        let random = SeededEntropy::new(seed);
        let fill = |at: usize, random: &SeededEntropy| {
            let frame = at % self.frames.len().max(1);
            let text = self.frames.get(frame).and_then(|text| self.fill(text, random));
            let text = text.ok_or(FrameError { language: self.code, frame: frame + 1 })?;
            Ok(Line::clean(format!("{}.frames:{}", self.code, frame + 1), self.language, text))
        };
        (0..many).map(|at| fill(at, &random)).collect()
    }

    fn fill(&self, frame: &str, random: &SeededEntropy) -> Option<String> {
        let chosen = choose(frame, random)?;
        let (mut text, mut rest) = (String::new(), chosen.as_str());
        while let Some((before, behind)) = rest.split_once('{') {
            let (slot, behind) = behind.split_once('}')?;
            text.push_str(before);
            text.push_str(&self.value(slot, random)?);
            rest = behind;
        }
        text.push_str(rest);
        let text = text.replace("\\n", "\n");
        let mut letters = text.chars();
        let first = letters.next()?;
        Some(first.to_uppercase().chain(letters).collect())
    }

    fn value(&self, slot: &str, random: &SeededEntropy) -> Option<String> {
        const DOSES: [u32; 10] = [5, 10, 20, 25, 50, 75, 100, 150, 300, 500];
        Some(match slot {
            "n" => (20 + below(70, random)).to_string(),
            "small" => (1 + below(9, random)).to_string(),
            "dose" => format!("{} mg", DOSES[below(DOSES.len(), random)]),
            "clean" => self.clean.get(below(self.clean.len(), random))?.clone(),
            _ => {
                let list = self.words.get(&format!("{slot}.{}", self.code)).or_else(|| self.words.get(slot))?;
                list.get(below(list.len(), random))?.clone()
            }
        })
    }
}

fn below(end: usize, random: &SeededEntropy) -> usize {
    let mut bytes = [0; 8];
    random.fill(&mut bytes);
    usize::try_from(u64::from_le_bytes(bytes) % end.max(1) as u64).unwrap_or_default()
}

fn choose(frame: &str, random: &SeededEntropy) -> Option<String> {
    let mut text = frame.to_owned();
    while let Some(close) = text.find('>') {
        let open = text[..close].rfind('<')?;
        let ways: Vec<&str> = text[open + 1..close].split('|').collect();
        let way = ways[below(ways.len(), random)].to_owned();
        text.replace_range(open..=close, &way);
    }
    (!text.contains('<')).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_sentences_and_an_unknown_slot_is_named_by_its_frame() {
        let clean = [Line::clean("x".into(), Language::English, "Well today.".into())];
        let frames = Frames::new("en", "<No|Never> {drug}. {clean}\n", "drug = lithium, aspirin\n", &clean);
        let texts = |seed| frames.sentences(20, seed).unwrap().into_iter().map(|line| line.text).collect::<Vec<_>>();
        assert_eq!(texts(3), texts(3));
        assert!(texts(3).iter().any(|text| text.starts_with("Never") && text.ends_with("Well today.")));
        let wrong = Frames::new("en", "No {drug}\n{nothing}\n", "drug = lithium\n", &clean);
        assert_eq!(wrong.sentences(2, 1).unwrap_err().frame, 2);
    }
}
