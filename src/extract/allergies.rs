//! Allergies and intolerances, and the statement that there are none.

use std::ops::Range;

use super::dialogue::{DialogueRules, Polarity};
use super::lexicon::{ALLERGENS, Lexicon, REACTIONS, SPEECH, label};
use super::matcher::Matcher;
use super::medication::SentenceDrugs;
use super::phrasebook::Builder;
use super::scene::{Scene, Stance};
use super::{Entity, EntityType, Experiencer, Statement, StatementKind, Temporality};
use crate::text::Speaker;

/// Turns after which a question about allergies is forgotten.
const TOPIC_TURNS: usize = 8;
/// Words of an answer to a question about allergies; a longer sentence tells of something else.
const LONGEST_ANSWER: usize = 18;
/// Words, signs included, of a question that names substances and says hardly more ("And penicillin?").
const ELLIPSIS: usize = 6;
/// Words besides "Allergies" in a form's title.
const FORM_TITLE: usize = 3;
/// Words of a question that only follows up on the one before.
const SHORT_QUESTION: usize = 9;
/// Words after "allergic to" that name no substance.
const NOT_SUBSTANCES: &[&str] = &[
    "anything",
    "any",
    "something",
    "it",
    "that",
    "them",
    "this",
    "what",
    "medication",
    "medications",
    "medicine",
    "medicines",
    "meds",
    "drugs",
    "drug",
    "food",
    "foods",
    "nada",
    "algo",
    "eso",
    "ningun",
    "ninguna",
    "ninguno",
    "medicamentos",
    "medicamento",
    "medicacion",
    "alimentos",
    "alguno",
    "alguna",
    "farmacos",
    "nothing",
    "no",
    "none",
    "other",
    "others",
    "otros",
    "otras",
    "the",
    "la",
    "el",
    "los",
    "las",
    "a",
    "some",
    "certain",
    "everything",
    "todo",
    "which",
    "que",
    "si",
    "yes",
    "my",
    "your",
    "his",
    "her",
    "mi",
    "su",
    "many",
    "several",
    "varios",
    "varias",
    "people",
    "work",
    "conocidas",
    "medicamentosas",
    "conocida",
    "and",
    "or",
    "y",
    "o",
    "in",
    "en",
    "me",
    "is",
    "are",
    "es",
    "not",
    "antibiotics",
    "un",
    "una",
];

pub struct AllergyRules {
    allergens: Lexicon,
    reactions: Lexicon,
    allergic: Matcher,
    intolerant: Matcher,
    asks: Matcher,
    other: Matcher,
    what_happens: Matcher,
    causes: Matcher,
}

/// What the rules found: findings, statements, and the first words of the substances they took.
#[derive(Default)]
pub struct Allergies {
    pub entities: Vec<Entity>,
    pub statements: Vec<Statement>,
    pub taken: Vec<usize>,
}

/// A substance named in a sentence, drug or not.
struct Substance {
    words: Range<usize>,
    name: String,
}

impl AllergyRules {
    pub fn builtin(book: &mut Builder) -> Self {
        Self {
            allergens: Lexicon::load(book, ALLERGENS),
            reactions: Lexicon::load(book, REACTIONS),
            allergic: label(book, SPEECH, "allergic_to"),
            intolerant: label(book, SPEECH, "intolerant_to"),
            asks: label(book, SPEECH, "ask_allergy"),
            other: label(book, SPEECH, "other"),
            what_happens: label(book, SPEECH, "what_happens"),
            causes: label(book, SPEECH, "causes"),
        }
    }

    pub fn find(&self, scene: &Scene<'_>, dialogue: &DialogueRules, drugs: &[SentenceDrugs]) -> Allergies {
        let mut out = Allergies::default();
        // The turn in which somebody last asked about allergies, and who.
        let mut topic: Option<(usize, Speaker)> = None;
        let mut form = false;
        for (index, sentence) in scene.sentences() {
            let substances = self.substances(scene, index, drugs);
            // "What are you taking for allergies?" asks about medicines.
            let asks_allergy = self
                .first(&self.asks, scene, &sentence.words)
                .is_some_and(|cue| !matches!(scene.reading.word(cue.start.saturating_sub(1)), "for" | "para" | "your"));
            let asked = scene.is_dialogue() && scene.exchanges.asks(index);
            form = self.in_form(scene, index, form);
            if form {
                self.take(scene, index, &substances, None, &mut out);
            }
            self.stated(scene, index, &substances, &mut out);
            self.reacted(scene, index, &substances, &mut out);
            self.reacted_to_it(scene, index, drugs, &mut out);
            if let Some(turn) = sentence.turn {
                let asker = topic.filter(|(since, _)| turn <= since + TOPIC_TURNS).map(|(_, asker)| asker);
                if asked && asks_allergy && sentence.speaker != Speaker::Patient {
                    let none = self.none_answered(scene, index, &substances, &mut out);
                    topic = (!none).then_some((turn, sentence.speaker));
                } else if asked && asker == Some(sentence.speaker) {
                    let about = self.still_about(scene, index);
                    if about {
                        self.confirmed(scene, index, &substances, &mut out);
                    }
                    topic = topic.filter(|_| about);
                } else if !asked
                    && asker.is_some_and(|asker| asker != sentence.speaker)
                    && !tells_of_taking(scene, index)
                {
                    let denies = dialogue.polarity(scene.reading, sentence) == Polarity::No && substances.len() != 1;
                    let brief = sentence.words.len() <= LONGEST_ANSWER || asks_allergy;
                    if !denies && brief {
                        self.take(scene, index, &substances, None, &mut out);
                    } else if denies && substances.len() == 2 && brief {
                        // "No, a la aspirina no, al Nolotil": what is denied was asked, what follows is answered.
                        self.take(scene, index, &substances, None, &mut out);
                    }
                }
            }
        }
        self.settle(&mut out);
        out
    }

    /// The substances of a sentence: drugs first, then everything else one may be allergic to.
    fn substances(&self, scene: &Scene<'_>, index: usize, drugs: &[SentenceDrugs]) -> Vec<Substance> {
        let words = scene.reading.sentences[index].words.clone();
        let mut out: Vec<Substance> = Vec::new();
        let slot = drugs.partition_point(|found| found.sentence < index);
        for mention in
            drugs.get(slot).filter(|found| found.sentence == index).into_iter().flat_map(|found| &found.mentions)
        {
            if mention.concept.group != "class" {
                out.push(Substance { words: mention.words.clone(), name: mention.concept.name.into() });
            }
        }
        for mention in self.allergens.find(scene.reading, words) {
            if out.iter().all(|known| known.words.end <= mention.words.start || mention.words.end <= known.words.start)
            {
                out.push(Substance { words: mention.words, name: mention.concept.name.into() });
            }
        }
        out.sort_by_key(|substance| substance.words.start);
        out
    }

    fn first(&self, matcher: &Matcher, scene: &Scene<'_>, words: &Range<usize>) -> Option<Range<usize>> {
        words.clone().find_map(|word| matcher.at(scene.reading, word)).map(|hit| hit.words)
    }

    /// "Allergic to penicillin", "penicillin allergy", "Alergias: penicilina", "intolerante a la lactosa", "sin alergias".
    fn stated(&self, scene: &Scene<'_>, index: usize, substances: &[Substance], out: &mut Allergies) {
        let words = scene.reading.sentences[index].words.clone();
        if scene.is_dialogue()
            && scene.exchanges.asks(index)
            && scene.reading.sentences[index].speaker != Speaker::Patient
        {
            return;
        }
        let intolerant = self.first(&self.intolerant, scene, &words);
        let Some(cue) = self.first(&self.allergic, scene, &words).or(intolerant.clone()) else {
            return self.none_in_words(scene, index, out);
        };
        let status = intolerant.filter(|other| *other == cue).map(|_| "intolerance");
        let end = (cue.end..words.end)
            .find(|&w| matches!(scene.reading.word(w), ";" | "but" | "pero" | "takes" | "toma" | "aunque"))
            .unwrap_or(words.end);
        let mut governed: Vec<Substance> = substances
            .iter()
            .filter(|s| s.words.start >= cue.start && s.words.start < end)
            .map(|s| Substance { words: s.words.clone(), name: s.name.clone() })
            .collect();
        // "Penicillin allergy": the substance stands right before.
        governed.extend(
            substances
                .iter()
                .filter(|s| s.words.end == cue.start)
                .map(|s| Substance { words: s.words.clone(), name: s.name.clone() }),
        );
        if governed.is_empty() {
            governed.extend(self.unknown_substance(scene, &cue));
        }
        if governed.is_empty() {
            return self.none_in_words(scene, index, out);
        }
        self.take(scene, index, &governed, status, out);
    }

    /// A single word right after "allergic to" that the lists do not know: missing an allergy harms more than a
    /// strange name does.
    fn unknown_substance(&self, scene: &Scene<'_>, cue: &Range<usize>) -> Option<Substance> {
        let says_to = matches!(scene.reading.word(cue.end - 1), "to" | "a" | "al" | "la" | "los" | "las");
        let mut word = cue.end;
        while matches!(scene.reading.word(word), "the" | "la" | "el" | "los" | "las") {
            word += 1;
        }
        let name = scene.reading.word(word);
        let plain = name.len() >= 4 && name.chars().all(char::is_alphabetic) && !NOT_SUBSTANCES.contains(&name);
        (says_to && plain).then(|| Substance { words: word..word + 1, name: name.to_owned() })
    }

    /// "Sin alergias conocidas", "NKDA", "no soy alérgico a nada", "Allergies: none".
    fn none_in_words(&self, scene: &Scene<'_>, index: usize, out: &mut Allergies) {
        let sentence = &scene.reading.sentences[index];
        let abbreviated =
            sentence.words.clone().any(|w| matches!(scene.reading.word(w), "nkda" | "nka" | "namc" | "nkma"));
        let other = self.first(&self.other, scene, &sentence.words).is_some();
        // A title ("ALERGIAS: sin alergias conocidas") says it twice: one denial is enough.
        let denied = sentence.words.clone().filter_map(|word| self.asks.at(scene.reading, word)).any(|cue| {
            let context = scene.contexts.of(scene.reading, &(cue.words.start..cue.words.start + 1));
            let own = context.experiencer == Experiencer::Patient && context.temporality != Temporality::Hypothetical;
            context.negated && !context.uncertain && own
        });
        if abbreviated || (denied && !other) {
            out.statements.push(Statement { kind: StatementKind::NoKnownAllergies, span: sentence.span });
        }
    }

    /// Whether the asker's next question stays with allergies: a short one ("Ciprofloxacin?", "Are you sure?") or one
    /// about the reaction; "Are you still taking Zoloft?" has left them.
    fn still_about(&self, scene: &Scene<'_>, index: usize) -> bool {
        let words = &scene.reading.sentences[index].words;
        let reaction = self.first(&self.what_happens, scene, words).is_some();
        reaction || (words.len() <= SHORT_QUESTION && !tells_of_taking(scene, index))
    }

    /// Lines under a title "Allergies" of a form, down to a blank line or the next title of another kind.
    fn in_form(&self, scene: &Scene<'_>, index: usize, before: bool) -> bool {
        let sentence = &scene.reading.sentences[index];
        if sentence.turn.is_some() {
            return false;
        }
        let words = sentence.words.clone();
        let titled = words.clone().any(|word| scene.reading.word(word) == ":");
        let cue = self.first(&self.asks, scene, &words);
        if let Some(cue) = &cue {
            let alone = words.len() <= cue.len() + FORM_TITLE && cue.start < words.start + 2;
            let denied = scene.contexts.of(scene.reading, &(cue.start..cue.start + 1)).negated;
            return alone && !denied;
        }
        if !before {
            return false;
        }
        let previous = &scene.reading.sentences[index - 1];
        let gap = scene.text().get(previous.span.end..sentence.span.start).unwrap_or("");
        let field = matches!(
            scene.reading.word(words.start),
            "medication"
                | "medicine"
                | "drug"
                | "substance"
                | "allergen"
                | "reaction"
                | "severity"
                | "type"
                | "food"
                | "medicamento"
                | "farmaco"
                | "sustancia"
                | "alergeno"
                | "reaccion"
                | "gravedad"
                | "tipo"
                | "alimento"
                | "medicacion"
                | "name"
                | "nombre"
                | "-"
                | "*"
                | "•"
        );
        gap.matches('\n').count() <= 1 && (!titled || field)
    }

    /// "El ibuprofeno, ¿qué tal?" — "Me salen ronchas con él": the reaction is to what was just named.
    fn reacted_to_it(&self, scene: &Scene<'_>, index: usize, drugs: &[SentenceDrugs], out: &mut Allergies) {
        let sentence = &scene.reading.sentences[index];
        let (Some(turn), Speaker::Patient | Speaker::Family) = (sentence.turn, sentence.speaker) else { return };
        let words = &sentence.words;
        let refers = words.clone().any(|word| {
            matches!(
                scene.reading.word(word),
                "it" | "them" | "that" | "el" | "ella" | "eso" | "esa" | "ese" | "la" | "lo"
            )
        });
        let cause =
            self.first(&self.causes, scene, words).is_some() || self.first(&self.intolerant, scene, words).is_some();
        let slot = drugs.partition_point(|found| found.sentence < index);
        let Some(last) = slot.checked_sub(1).map(|before| &drugs[before]) else { return };
        let near = scene.reading.sentences[last.sentence].turn.is_some_and(|named| named + 1 == turn);
        let named_here = drugs.get(slot).is_some_and(|found| found.sentence == index);
        if !(refers && cause && near) || named_here || last.mentions.len() != 1 || scene.exchanges.asks(index) {
            return;
        }
        let Some(reaction) = self.reactions.find(scene.reading, words.clone()).into_iter().next() else { return };
        if scene.contexts.of(scene.reading, &reaction.words).negated {
            return;
        }
        let mention = &last.mentions[0];
        let substance = Substance { words: mention.words.clone(), name: mention.concept.name.into() };
        let stance = scene.answered(last.sentence, index, &mention.words);
        let status = if reaction.concept.group == "allergic" { "allergy" } else { "intolerance" };
        self.push(scene, &substance, &stance, Some(status), out);
    }

    /// A question about allergies that was answered; whether the answer was that there are none.
    fn none_answered(&self, scene: &Scene<'_>, index: usize, substances: &[Substance], out: &mut Allergies) -> bool {
        let Some(answer) = scene.exchanges.answer(index) else { return false };
        let words = &scene.reading.sentences[index].words;
        let other = self.first(&self.other, scene, words).is_some();
        match (answer.polarity, substances) {
            (Polarity::No, []) if !other => {
                let given = &scene.reading.sentences[answer.sentence];
                let goes_on =
                    given.span.of(scene.text()).contains(" but ") || given.span.of(scene.text()).contains(" pero ");
                if !goes_on {
                    out.statements.push(Statement { kind: StatementKind::NoKnownAllergies, span: given.span });
                }
                !goes_on
            }
            (Polarity::Yes | Polarity::No, [_, ..]) => {
                self.take(scene, index, substances, None, out);
                false
            }
            _ => false,
        }
    }

    /// "Ciprofloxacin?" — "Yes!": named by the one who asks, confirmed by the other.
    fn confirmed(&self, scene: &Scene<'_>, index: usize, substances: &[Substance], out: &mut Allergies) {
        let sentence = &scene.reading.sentences[index];
        // "Did they give you antibiotics?" speaks of something else; "Ciprofloxacin?" does not.
        let named: usize = substances.iter().map(|substance| substance.words.len()).sum();
        let elliptic = sentence.words.len() <= named + ELLIPSIS;
        let confirmed =
            elliptic && scene.exchanges.answer(index).is_some_and(|answer| answer.polarity == Polarity::Yes);
        let reaction = self.first(&self.what_happens, scene, &sentence.words).is_some();
        if confirmed && !reaction {
            self.take(scene, index, substances, None, out);
        }
    }

    /// "What happens when you take sulfa?", "penicillin gave me hives", "el ibuprofeno me sienta mal".
    fn reacted(&self, scene: &Scene<'_>, index: usize, substances: &[Substance], out: &mut Allergies) {
        let sentence = &scene.reading.sentences[index];
        if substances.is_empty() {
            return;
        }
        if let Some(asked) = self.first(&self.what_happens, scene, &sentence.words) {
            let named: Vec<Substance> = substances
                .iter()
                .filter(|s| s.words.start >= asked.end && s.words.start <= asked.end + 3)
                .map(|s| Substance { words: s.words.clone(), name: s.name.clone() })
                .collect();
            return self.known(scene, index, &named, out);
        }
        let reactions = self.reactions.find(scene.reading, sentence.words.clone());
        let Some(cause) = self.first(&self.causes, scene, &sentence.words) else { return };
        let Some(reaction) = reactions.iter().find(|reaction| reaction.words.end > cause.start) else { return };
        let asks = scene.is_dialogue() && scene.exchanges.asks(index);
        if !asks && scene.reading.sentences[index].speaker != Speaker::Clinician {
            let status = Some(if reaction.concept.group == "allergic" { "allergy" } else { "intolerance" });
            let before: Vec<Substance> = substances
                .iter()
                .filter(|s| s.words.start.abs_diff(cause.start) <= 8)
                .map(|s| Substance { words: s.words.clone(), name: s.name.clone() })
                .collect();
            self.take(scene, index, &before, status, out);
        }
    }

    /// A clinician who asks what a substance does to the patient knows of the allergy.
    fn known(&self, scene: &Scene<'_>, index: usize, named: &[Substance], out: &mut Allergies) {
        let sentence = &scene.reading.sentences[index];
        let context = super::Context::default();
        let epistemic = scene.epistemic(sentence.speaker);
        let stance = Stance { context, epistemic, evidence: sentence.span, answered: false, confidence: 0.7 };
        for substance in named {
            self.push(scene, substance, &stance, None, out);
        }
    }

    fn take(
        &self,
        scene: &Scene<'_>,
        index: usize,
        substances: &[Substance],
        status: Option<&'static str>,
        out: &mut Allergies,
    ) {
        for substance in substances {
            if let Some(stance) = scene.stance(index, &substance.words) {
                self.push(scene, substance, &stance, status, out);
            }
        }
    }

    fn push(
        &self,
        scene: &Scene<'_>,
        substance: &Substance,
        stance: &Stance,
        status: Option<&'static str>,
        out: &mut Allergies,
    ) {
        if out.taken.contains(&substance.words.start) {
            return;
        }
        let Some(mut entity) = scene.entity(EntityType::Allergy, &substance.words, substance.name.clone(), stance)
        else {
            return;
        };
        entity.status = status.filter(|status| *status == "intolerance").map(str::to_owned);
        out.taken.push(substance.words.start);
        out.entities.push(entity);
    }

    /// A document that names an allergy does not also say there is none.
    fn settle(&self, out: &mut Allergies) {
        let positive = out.entities.iter().any(|entity| {
            !entity.context.negated && entity.context.experiencer == Experiencer::Patient && entity.status.is_none()
        });
        if positive {
            out.statements.clear();
        }
        out.statements.dedup();
    }
}

/// Whether a sentence tells what is taken rather than what is not tolerated.
fn tells_of_taking(scene: &Scene<'_>, index: usize) -> bool {
    const TAKING: &[&str] = &[
        "take",
        "taking",
        "takes",
        "took",
        "taken",
        "using",
        "prescribed",
        "tomo",
        "toma",
        "tomando",
        "tomaba",
        "tomas",
        "receto",
        "gave",
        "given",
        "give",
        "got",
        "on",
        "put",
        "started",
        "mandaron",
        "mando",
        "dieron",
        "recetaron",
        "pusieron",
        "puso",
        "usando",
        "uso",
        "received",
        "pills",
        "pastillas",
        "semana",
        "week",
        "course",
    ];
    let mut words = scene.reading.sentences[index].words.clone();
    let allergic = words
        .clone()
        .any(|w| scene.reading.word(w).starts_with("alerg") || scene.reading.word(w).starts_with("allerg"));
    !allergic && words.any(|word| TAKING.contains(&scene.reading.word(word)))
}
