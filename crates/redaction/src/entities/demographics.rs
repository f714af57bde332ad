//! Sex, relations and professions: most policies keep them, `strict` replaces them.

use std::sync::LazyLock;

use regex::Regex;

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use crate::pattern::compiled;
use crate::word_tables::{self, WordList, WordMap};
use anamnesis_text::Span;

static SEX: WordList = WordList::listed(word_tables::ENTITIES, "demographics.sex");
static FAMILY: WordList = WordList::listed(word_tables::ENTITIES, "demographics.family");
/// Words of both lists, which have none in common.
static LISTED: LazyLock<WordMap<&str>> = LazyLock::new(|| {
    let sexes = SEX.iter().map(|word| (*word, label::SEX));
    sexes.chain(FAMILY.iter().map(|word| (*word, label::FAMILY))).collect()
});
/// The side of the family after a relation belongs to it.
const SIDES: [&str; 4] = [" materno", " paterna", " paterno", " materna"];
/// First three letters of professions: the pattern is tried nowhere else.
static BEGINNINGS: LazyLock<[bool; 1 << 15]> = LazyLock::new(|| {
    let mut begin = [false; 1 << 15];
    for word in STARTS.split(' ') {
        begin[beginning(word.as_bytes())] = true;
    }
    begin
});
const STARTS: &str = "agr gan alb min mae pro jub pen ama cam con tax mil bom pol gua adm abo ing arq com car ele fon mec pan \
    pel coc pes pas est obr emp fun vet far per mus dep fut tea law eng acc plu ret wai tru che stu hai arc jou sol fir";

/// Five bits of each of the first three letters.
fn beginning(word: &[u8]) -> usize {
    word.iter().take(3).fold(0, |place, letter| place << 5 | usize::from(letter & 31))
}
static PROFESSION: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"^(?:agricultora?|ganader[oa]|albanil|miner[oa]|maestr[oa]|profesora? de [a-z]+|jubilad[oa]|pensionista|ama de casa|camarer[oa]|conductora?|camionero|taxista|militar|bomber[oa]s?|policia|guardia civil|administrativ[oa]|abogad[oa]|ingenier[oa]|arquitect[oa]|comerciante|carpinter[oa]|electricista|fontaner[oa]|mecanic[oa]|panader[oa]|peluquer[oa]|cociner[oa]|pescadora?|pastora?|estudiante|obrer[oa]|emplead[oa] de [a-z]+|funcionari[oa]|veterinari[oa]|farmaceutic[oa]|periodista|music[oa]|deportista|futbolista|teacher|farmer|lawyer|engineer|accountant|plumber|electrician|carpenter|firefighter|police officer|retired [a-z]+|waitress|waiter|truck driver|chef|student|hairdresser|mechanic|architect|journalist|soldier|veteran)(?-u:\b)",
    )
});

/// Finds sex, relations and professions. Most policies keep them; the tagger reads them all the same.
pub(crate) fn find(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let lower = &context.view.lower;
    let bytes = lower.as_bytes();
    let (mut families, mut professions) = (Vec::new(), Vec::new());
    let (mut at, mut professed) = (0, 0);
    while at < bytes.len() {
        if !is_word(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        at += bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
        // No listed word and no profession is shorter.
        if at - start < 3 {
            continue;
        }
        let word = &lower[start..at];
        let listed_as = LISTED.get(word).copied();
        if listed_as == Some(label::SEX) {
            found.push(listed(Span::new(start, at), label::SEX));
        }
        if listed_as == Some(label::FAMILY) {
            let side = SIDES.iter().find(|side| {
                lower[at..].starts_with(**side) && !bytes.get(at + side.len()).copied().is_some_and(is_word)
            });
            families.push(listed(Span::new(start, at + side.map_or(0, |side| side.len())), label::FAMILY));
        }
        if start >= professed
            && BEGINNINGS[beginning(word.as_bytes())]
            && let Some(hit) = PROFESSION.find(&lower[start..])
        {
            professed = start + hit.end();
            professions.push(listed(Span::new(start, professed), label::PROFESSION));
        }
    }
    found.append(&mut families);
    found.append(&mut professions);
}

/// A byte of a word as patterns with ASCII boundaries count them.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn listed(span: Span, label: &'static str) -> PiiFinding {
    PiiFinding::new(span, label, "word_list", 0.6, DetectionLayer::Entity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::labelled;
    use anamnesis_text::Language;

    #[test]
    fn sex_relations_and_professions_have_their_labels() {
        for (text, kind, value) in [
            ("varon con tos", label::SEX, "varon"),
            ("a man with cough", label::SEX, "man"),
            ("a woman with cough", label::SEX, "woman"),
            ("su abuela tose", label::FAMILY, "abuela"),
            ("su abuela materna tose", label::FAMILY, "abuela materna"),
            ("her sisters cough", label::FAMILY, "sisters"),
            ("trabaja de albanil aqui", label::PROFESSION, "albanil"),
            ("es profesora de musica aqui", label::PROFESSION, "profesora de musica"),
            ("works as a truck driver here", label::PROFESSION, "truck driver"),
            ("a retired miner here", label::PROFESSION, "retired miner"),
        ] {
            let found = labelled(text, Language::Unknown, find);
            assert!(found.contains(&(kind, value.to_owned())), "{text}: {found:?}");
        }
    }

    #[test]
    fn parts_of_words_are_none_of_them() {
        for text in ["varonil", "personal", "manual", "chefs", "abuela_x", "tiempo", "so"] {
            assert!(labelled(text, Language::Unknown, find).is_empty(), "{text}");
        }
        let sided = labelled("abuela maternal", Language::Spanish, find);
        assert_eq!(sided, [(label::FAMILY, "abuela".to_owned())]);
    }

    #[test]
    fn every_listed_profession_begins_with_letters_that_are_looked_at() {
        for word in ["minera", "taxista", "bombero", "abogada", "lawyer", "nurse", "waiter", "soldier", "veteran"] {
            let found = labelled(word, Language::Unknown, find);
            assert_eq!(found.is_empty(), word == "nurse", "{word}: {found:?}");
        }
    }
}
