//! Where a denial ends although no sign says so: at the same head said again with an object ("no alergias alergia a
//! yodo"), at a "yes" after it, and after an adjective that names no finding ("no urgente empezar hierro").

use super::super::cues::{Cue, CueCategory, CueHit};
use super::{COORDINATORS, FUNCTION_WORDS, ScopeSentence};
use crate::assertion::scope_words::ARTICLES;
use crate::lexicon::word_lists::{self, WordList};

static KINDS: WordList = WordList::listed(word_lists::ASSERTION, "heads.kinds");
/// Words of a substance before the English head that names it ("red kidney bean allergy").
const LONGEST_OBJECT: usize = 3;
/// Letters of a word that is known again as a head.
const SHORTEST_HEAD: usize = 4;

static SPANISH_QUALITIES: WordList = WordList::listed(word_lists::ASSERTION, "heads.spanish_qualities");
const ENGLISH_QUALITIES: &[&str] = &["ent", "ant", "ous", "ful", "ive", "ary", "able", "ible"];
static NO_QUALITIES: WordList = WordList::listed(word_lists::ASSERTION, "heads.no_qualities");
/// Adjectives that grade the next word: "no evidente neumonía" denies the pneumonia.
const ATTRIBUTES: &[&str] = &[
    "evidente",
    "evidentes",
    "aparente",
    "aparentes",
    "importante",
    "importantes",
    "relevante",
    "relevantes",
    "reciente",
    "recientes",
    "frecuente",
    "frecuentes",
    "existente",
    "existentes",
    "persistente",
    "persistentes",
    "grave",
    "primaria",
    "secundaria",
    "evident",
    "apparent",
    "important",
    "relevant",
    "recent",
    "frequent",
    "persistent",
    "significant",
    "primary",
    "secondary",
    "active",
    "positive",
    "invasive",
    "dependent",
    "visible",
    "notable",
    "infective",
];
static LINKS: WordList = WordList::listed(word_lists::ASSERTION, "heads.links");
static ORDERS: WordList = WordList::listed(word_lists::ASSERTION, "heads.orders");

/// "Empezar", "start": an order, which no adjective before it governs.
fn is_order(word: &str) -> bool {
    let infinitive = word.len() > 4 && ["ar", "er", "ir"].iter().any(|ending| word.ends_with(ending));
    infinitive && word.bytes().all(|byte| byte.is_ascii_lowercase()) || ORDERS.contains(word)
}

impl ScopeSentence<'_, '_> {
    /// "I smoke with my cousin.": a companion in what the speaker does, at the end of a clause.
    pub(super) fn is_company(&self, hit: &CueHit, cue: &Cue) -> bool {
        const OWN: &[&str] = &["mi", "mis", "my", "un", "una", "unos", "some", "a"];
        const VERBS: &[&str] = &[
            "smoke", "smoked", "drink", "drank", "fumo", "fume", "fumaba", "bebo", "bebi", "porro", "porros", "joint",
            "joints", "copas", "beers", "cervezas",
        ];
        let word = |word: usize| self.reading.word(word);
        let person = matches!(cue.category, CueCategory::Family | CueCategory::Other) && !cue.header;
        let before = (self.words.start..hit.words.start).rev().find(|at| !OWN.contains(&word(*at)));
        let with = before.filter(|at| matches!(word(*at), "con" | "with"));
        with.is_some_and(|with| (self.words.start..with).any(|at| VERBS.contains(&word(at))))
            && person
            && self.closes(hit)
    }

    /// Where a denial ends at `word`, because the next words state an exception to it. `from`: the first word after the
    /// denial.
    pub(super) fn stated_again(&self, from: usize, word: usize) -> Option<usize> {
        if self.affirms(word) && word > from {
            return Some(word);
        }
        let Some(head) = head(self.reading.word(word)) else { return self.doubled(from, word) };
        let cue = from.checked_sub(1).and_then(|last| self.hit_at(last)).map_or(from, |hit| hit.words.start);
        let first = (cue..word).rev().find(|at| self::head(self.reading.word(*at)) == Some(head));
        let Some(first) = first else {
            // "No tos no fiebre alergia a penicilina": a finding was denied, and no sign joins the next to it.
            let denied = (from..word).any(|at| (self.finding)(at) == Some(word));
            return (denied && self.names_object(word)).then_some(word);
        };
        if self.goes_on(first, word) {
            return None;
        }
        if self.names_object(word) {
            return Some(word);
        }
        // "No allergies penicillin allergy": the substance comes before its head.
        let object = first + 1..word;
        let noun = matches!(self.reading.word(word), "allergy" | "intolerance" | "allergic" | "intolerant");
        let plain = |at: usize| !KINDS.contains(self.reading.word(at)) && self.category_at(at).is_none();
        let whole = (1..=LONGEST_OBJECT).contains(&object.len()) && object.clone().all(plain);
        (noun && whole && !self.names_object(first)).then_some(first + 1)
    }

    /// "My neighbour gave me", "mi vecina me lleva": an act towards the speaker says nothing of the person's health.
    pub(super) fn acts_on_speaker(&self, verb: usize) -> bool {
        let word = |at: usize| if at < self.words.end { self.reading.word(at) } else { "" };
        matches!(word(verb), "me" | "nos") || matches!(word(verb + 1), "me" | "us")
    }

    /// "… y yo tengo": the speaker comes back to themselves. In "my friend says I have ADHD" it is the other's word.
    pub(super) fn returns_to_speaker(&self, named: usize, word: usize) -> bool {
        let speaks = matches!(
            self.reading.word(word),
            "i" | "yo" | "tengo" | "tomo" | "padezco" | "sufro" | "tuve" | "estoy" | "soy"
        );
        let says = |at: usize| {
            let said = self.reading.word(at);
            ["say", "said", "think", "thought", "tell", "believe", "dice", "dijo", "cree", "piensa", "opina", "insist"]
                .iter()
                .any(|stem| said.starts_with(stem))
        };
        speaks && !(named..word).any(says)
    }

    /// "No fiebre fiebre ayer": a finding that is said twice in a row is denied and then stated.
    fn doubled(&self, from: usize, word: usize) -> Option<usize> {
        let said = self.reading.word(word);
        let again = word > from && self.reading.word(word - 1) == said && said.len() >= SHORTEST_HEAD;
        let alone = word + 1 < self.words.end && !self.reading.words[word + 1].punctuation;
        (again && alone && said.chars().all(char::is_alphabetic)).then_some(word)
    }

    /// "Sí" with its accent, and "yes": the words after it are affirmed.
    fn affirms(&self, word: usize) -> bool {
        let source = self.reading.words[word].source.slice(self.reading.text);
        let says = self.reading.word(word) == "yes" || matches!(source, "sí" | "Sí" | "SÍ");
        says && word + 1 < self.words.end && !self.reading.words[word + 1].punctuation
    }

    /// "No urgente empezar hierro", "not urgent start iron": where a bare denial ends that only covers an adjective. A
    /// word that is no finding and ends as adjectives do is such an adjective, unless words follow that bind the next
    /// one to it.
    pub(super) fn spent_on_quality(&self, hit: &CueHit) -> Option<usize> {
        let (word, next) = (hit.words.end, hit.words.end + 1);
        let bare = hit.words.len() == 1 && next < self.words.end;
        if !bare || self.category_at(word).is_some() || (self.finding)(word).is_some() {
            return None;
        }
        let said = self.reading.word(word);
        let ends = |endings: &[&str]| endings.iter().any(|ending| said.ends_with(ending));
        let quality = match self.reading.word(hit.words.start) {
            "no" => ends(&SPANISH_QUALITIES) && !NO_QUALITIES.contains(said),
            "not" => ends(ENGLISH_QUALITIES) && !NO_QUALITIES.contains(said),
            _ => false,
        };
        let after = self.reading.word(next);
        let bound = LINKS.contains(after) || self.reading.words[next].punctuation || self.category_at(next).is_some();
        let noun = !ARTICLES.contains(&after) && !is_order(after);
        (quality && !bound && !(noun && ATTRIBUTES.contains(&said))).then_some(next)
    }

    /// "Allergic to", "alergia a": the object of the head is named after it.
    fn names_object(&self, head: usize) -> bool {
        matches!(self.reading.word(head + 1), "a" | "al" | "to" | "frente")
    }

    /// Whether a denied list goes on from one head to the next: by "or" and "ni", and by "and" or a comma where the
    /// first has an object as well.
    fn goes_on(&self, first: usize, word: usize) -> bool {
        let small = |at: &usize| {
            let said = self.reading.word(*at);
            said != "," && !COORDINATORS.contains(&said) && (FUNCTION_WORDS.contains(said) || KINDS.contains(said))
        };
        let before = (first + 1..word).rev().find(|at| !small(at)).map_or("", |at| self.reading.word(at));
        match before {
            "ni" | "or" | "nor" | "o" | "u" | "/" => true,
            "," | "and" | "y" | "e" => self.names_object(first),
            _ => false,
        }
    }
}

/// The head of a word, in whichever form and language.
fn head(word: &str) -> Option<&'static str> {
    let of = |stems: &[&str]| stems.iter().any(|stem| word.starts_with(stem));
    if of(&["alerg", "allerg"]) {
        return Some("allergy");
    }
    of(&["intoleran"]).then_some("intolerance")
}
