//! What happens: events of a life, operations and investigations, appointments and referrals, each with whom it concerns,
//! whether it is planned, and the clause that says so.

mod appointments;
mod settle;

use std::ops::Range;

pub use appointments::AppointmentRules;
pub(super) use appointments::{FILE as APPOINTMENTS, WORDS as APPOINTMENT_WORDS};
pub use settle::settle;

use super::lexicon::{Lexicon, List, Mention};
use super::measurements::clause;
use super::phrasebook::Builder;
use super::scene::{Scene, Stance};
use super::structure::Section;
use super::{Entity, EntityType};
use crate::domain::finding::{Experiencer, Temporality};
use crate::domain::wording::person;
use crate::text::Speaker;

/// Events, then procedures.
pub(super) const FILES: &[&str] = &[include_str!("../lexicon/events.tsv"), include_str!("../lexicon/procedures.tsv")];
/// The status of what is still to come.
pub(super) const PLANNED: &str = "planned";
/// Words between a death and who died.
const RELATIVE_REACH: usize = 6;
/// Words before a procedure in which it may be said to be planned.
const PLAN_REACH: usize = 7;

/// Finds events and procedures; see the module.
pub struct EventRules {
    lexicon: Lexicon,
}

impl EventRules {
    pub fn builtin(book: &mut Builder) -> Self {
        Self { lexicon: Lexicon::load(book, List::Events) }
    }

    pub fn find(&self, scene: &Scene<'_>, out: &mut Vec<Entity>) {
        for (index, sentence) in scene.sentences() {
            for mention in self.lexicon.find(scene.reading, sentence.words.clone()) {
                if mention.concept.group != "none" {
                    out.extend(self.entity(scene, index, &mention));
                }
            }
        }
    }

    fn entity(&self, scene: &Scene<'_>, index: usize, mention: &Mention) -> Option<Entity> {
        let traits = mention.concept.code.unwrap_or_default();
        let mut stance = scene.stance(index, &mention.words)?;
        let sentence = &scene.reading.sentences[index];
        let relative = match traits {
            "relative" => Some(relative(scene, mention, &sentence.words)?),
            _ => None,
        };
        let event = mention.concept.group == "event";
        let planned = traits == PLANNED || (!event && is_planned(scene, mention, &sentence.words));
        if traits == "relative" && !is_loss(scene, mention, index) {
            return None;
        }
        if relative.is_some() {
            // Whose relative it is, is the patient: a death of one befalls them.
            stance.context.experiencer = Experiencer::Patient;
            stance.context.negated = false;
        }
        if planned {
            stance.context.temporality = Temporality::Recent;
            stance.context.uncertain = false;
        }
        // The "No" of a form beside a ticked "Yes" denies nothing of what is written behind the two.
        if traits == "organ" && is_ticked(sentence.span.of(scene.text())) {
            stance.context.negated = false;
        }
        if stance.context.negated && (traits != "denied" || planned) {
            return None;
        }
        if scene.section(mention.words.start) == Some(Section::Warnings) || !is_named(scene, mention, index) {
            return None;
        }
        if stance.context.temporality == Temporality::Hypothetical && !is_conditional(scene, &mention.words, &sentence.words) {
            stance.context.temporality = Temporality::Recent;
        }
        // What befalls a relative is theirs, and no part of the patient's story.
        let couple = matches!(mention.concept.name, "separation" | "divorce" | "marriage");
        let theirs = relative.is_none() && !couple && is_of_relative(scene, &mention.words, &sentence.words);
        let named = (mention.words.start.saturating_sub(12).max(sentence.words.start)..mention.words.start)
            .any(|word| person(scene.reading.word(word)).is_some());
        if stance.context.experiencer == Experiencer::Family && (couple || !named) && scene.section(mention.words.start) != Some(Section::Family) {
            stance.context.experiencer = Experiencer::Patient;
        }
        let general = event || mention.concept.name == "surgery";
        if general && (theirs || stance.context.experiencer != Experiencer::Patient) {
            return None;
        }
        if event && relative.is_none() && sentence.speaker == Speaker::Family && is_own(scene, &mention.words, &sentence.words) {
            return None;
        }
        finished(scene, index, mention, &mut stance);
        let kind = if event { EntityType::Event } else { EntityType::Procedure };
        let mut entity = scene.entity(kind, &mention.words, mention.concept.name.to_owned(), &stance)?;
        entity.status = planned.then(|| PLANNED.to_owned());
        entity.subject = relative.filter(|_| sentence.speaker != Speaker::Family).map(str::to_owned);
        let label = sentence.words.contains(&mention.words.end) && scene.reading.word(mention.words.end) == ":";
        let needs_day = traits == "dated" || (event && label && !entity.context.negated && !planned);
        entity.group = Some(if needs_day { "dated" } else { mention.concept.group });
        Some(entity)
    }
}

/// Quotes the clause and weighs how surely it was read.
fn finished(scene: &Scene<'_>, sentence: usize, mention: &Mention, stance: &mut Stance) {
    let place = scene.reading.sentences[sentence].span;
    if !stance.answered && place.len() > LONGEST_QUOTE {
        stance.evidence = clause(scene.text(), place, scene.reading.source(&mention.words));
    }
    stance.confidence = stance.confidence.min(if stance.context.uncertain { 0.5 } else { 0.85 });
}

/// A sentence that is longer than this is quoted by the clause.
const LONGEST_QUOTE: usize = 160;

/// The relative or companion of whom a clause speaks.
fn relative(scene: &Scene<'_>, mention: &Mention, within: &Range<usize>) -> Option<&'static str> {
    let reading = scene.reading;
    let who = |word: usize| {
        let word = reading.word(word);
        match word {
            "dog" | "cat" | "perro" | "perra" | "gato" | "gata" | "pet" | "mascota" => Some("pet"),
            "baby" | "bebe" => Some("baby"),
            "mujer" | "senora" => Some("wife"),
            "stepfather" | "stepdad" | "padrastro" => Some("stepfather"),
            "stepmother" | "stepmum" | "madrastra" => Some("stepmother"),
            "abuelita" | "nan" | "gran" | "nana" | "granny" => Some("grandmother"),
            "suegra" | "suegro" => Some("parent-in-law"),
            "papi" | "viejo" | "taita" => Some("father"),
            "hermanito" => Some("brother"),
            "fiance" | "fiancee" | "conviviente" => Some("partner"),
            "colleague" | "companero" | "companera" => Some("colleague"),
            "friends" | "mate" | "compadre" => Some("friend"),
            "family" | "familia" | "familiar" | "familiares" | "relative" | "relatives" => None,
            word => person(word),
        }
    };
    let stops = |word: usize| matches!(reading.word(word), "." | ";" | "?" | "!" | "pero" | "but" | "|");
    let last = (mention.words.end..within.end.min(mention.words.end + RELATIVE_REACH)).take_while(|word| !stops(*word));
    let after = last.clone().find_map(|word| who(word).map(|name| (word - mention.words.end, name)));
    // "lost", "death of": what is lost stands right behind.
    if matches!(reading.word(mention.words.start), "lost" | "loss" | "death" | "passing" | "perdi" | "perdio" | "perdimos" | "perder" | "perdida" | "muerte" | "fallecimiento" | "partida" | "falta" | "funeral")
        || reading.word(mention.words.end.saturating_sub(1)) == "a"
    {
        return after.filter(|(gap, _)| *gap <= 2).map(|(_, name)| name);
    }
    let from = mention.words.start.saturating_sub(RELATIVE_REACH).max(within.start);
    let before = (from..mention.words.start).rev().take_while(|word| !stops(*word));
    let before = before.into_iter().find_map(|word| who(word).map(|name| (mention.words.start - word - 1, name)));
    [before, after].into_iter().flatten().min_by_key(|(gap, _)| *gap).map(|(_, name)| name)
}

/// A death is a loss of the patient's, unless it is an entry of the family history: "father died of MI aged 49".
fn is_loss(scene: &Scene<'_>, mention: &Mention, sentence: usize) -> bool {
    let reading = scene.reading;
    let within = &reading.sentences[sentence].words;
    let rest = mention.words.end..within.end.min(mention.words.end + 8);
    let rest: Vec<&str> = rest.map(|word| reading.word(word)).collect();
    let suicide = rest.iter().any(|word| matches!(*word, "suicide" | "suicidio" | "suicido"));
    if suicide {
        let near = relative(scene, mention, within);
        return matches!(near, Some("mother" | "father" | "brother" | "sister" | "son" | "daughter" | "husband" | "wife" | "partner"));
    }
    if scene.section(mention.words.start) == Some(Section::Family) {
        return false;
    }
    let aged = rest.iter().any(|word| matches!(*word, "aged" | "age"))
        || rest.windows(3).any(|words| words[0] == "a" && words[1] == "los" && words[2].bytes().all(|b| b.is_ascii_digit()));
    !aged
}

/// Abbreviations are in capitals, organs under a title of operations, and a bare "operations" is a title, unless denied.
fn is_named(scene: &Scene<'_>, mention: &Mention, sentence: usize) -> bool {
    let reading = scene.reading;
    let raw = reading.source(&mention.words).of(scene.text());
    let within = reading.sentences[sentence].span.of(scene.text());
    if mention.words.len() == 1 && raw.chars().count() <= 4 && raw.chars().all(char::is_alphabetic) {
        let whole = raw.chars().all(char::is_uppercase);
        let spoken = !within.chars().any(char::is_uppercase);
        if !whole && !(spoken && raw.len() == 3 && matches!(raw, "mri" | "ekg" | "ecg" | "ect" | "eeg")) && !is_word(raw) {
            return false;
        }
    }
    if mention.concept.code == Some("organ") {
        let titled = scene.section(mention.words.start) == Some(Section::Surgical);
        let from = reading.sentences[sentence].words.start;
        let labelled = (from..mention.words.start).any(|word| is_operations(reading.word(word)));
        let asked = sentence.checked_sub(1).map(|before| &reading.sentences[before]).filter(|before| before.question);
        let asked = asked.is_some_and(|asked| asked.words.clone().any(|word| is_operations(reading.word(word))));
        return titled || labelled || asked;
    }
    let bare = mention.words.len() == 1 && matches!(reading.word(mention.words.start), "operaciones" | "cirugias" | "surgeries" | "operations" | "surgery" | "cirugia");
    !bare || scene.contexts.of(reading, &mention.words).negated
}

fn is_ticked(text: &str) -> bool {
    ["_x_", "[x]", "(x)", "☒", "[X]", "(X)", "☑"].iter().any(|mark| text.contains(mark))
}

fn is_operations(word: &str) -> bool {
    matches!(word, "operado" | "operada" | "operaron" | "operated" | "operacion" | "operaciones" | "cirugias" | "surgeries" | "operations" | "quirurgicos" | "quirurgicas" | "iq")
}

/// Short words of the lists that are no abbreviations.
fn is_word(raw: &str) -> bool {
    matches!(
        raw.to_lowercase().as_str(),
        "fell" | "died" | "dead" | "echo" | "yeso" | "dies" | "cast" | "lost" | "cai" | "caí" | "eco" | "tox" | "paro" | "move" | "fall"
    )
}

/// Whether the words before something make it a condition: "if I lost my job".
fn is_conditional(scene: &Scene<'_>, words: &Range<usize>, within: &Range<usize>) -> bool {
    let from = words.start.saturating_sub(12).max(within.start);
    let accented = |word: usize| scene.reading.words[word].source.of(scene.text()).contains('í');
    (from..words.start).any(|word| {
        matches!(
            scene.reading.word(word),
            "si" if !accented(word)
        ) || matches!(
            scene.reading.word(word),
            "if" | "would" | "could" | "might" | "may" | "podria" | "unless" | "should" | "cuando" | "when" | "'d" | "hypothetically"
                | "case" | "caso" | "puede" | "consider" | "considerar" | "risk" | "riesgo" | "or" | "valorar" | "fear" | "afraid" | "miedo"
        )
    })
}

/// Whether a relative is named before what happened, in the same clause: "my son was suspended".
fn is_of_relative(scene: &Scene<'_>, words: &Range<usize>, within: &Range<usize>) -> bool {
    let reading = scene.reading;
    let from = words.start.saturating_sub(8).max(within.start);
    for word in (from..words.start).rev() {
        if matches!(reading.word(word), "." | ";" | "?" | "!" | "i" | "he" | "she" | "yo" | "patient" | "paciente" | "pt" | "|") {
            return false;
        }
        if person(reading.word(word)).is_some() {
            let before = word.checked_sub(2).map_or("", |at| reading.word(at));
            return !matches!(before, "with" | "con" | "by" | "por" | "of" | "de" | "from" | "to" | "a" | "for" | "para");
        }
    }
    false
}

/// Whether a relative speaks of themselves: "I moved in with him".
fn is_own(scene: &Scene<'_>, words: &Range<usize>, within: &Range<usize>) -> bool {
    let from = words.start.saturating_sub(2).max(within.start);
    // "Se me cayó": it fell to the speaker's charge, and the fall is the patient's.
    let dative = |word: usize| scene.reading.word(word) == "me" && word > 0 && scene.reading.word(word - 1) == "se";
    (from..words.end.min(within.end)).any(|word| !dative(word) && matches!(scene.reading.word(word), "i" | "me" | "my" | "we" | "yo" | "nos" | "mi" | "perdi" | "nuestra"))
}

/// Whether the words before a procedure, or its section, say that it is still to be done.
fn is_planned(scene: &Scene<'_>, mention: &Mention, within: &Range<usize>) -> bool {
    let (reading, words) = (scene.reading, &mention.words);
    if mention.concept.name == "blood tests" && is_plan_word(reading.word(words.start)) {
        return true;
    }
    let from = words.start.saturating_sub(PLAN_REACH).max(within.start);
    let clause: Vec<&str> = (from..words.start).map(|word| reading.word(word)).collect();
    let start = clause.iter().rposition(|word| matches!(*word, "." | ";" | "," | "(" | "|")).map_or(0, |at| at + 1);
    let says = clause[start..].iter().any(|word| is_plan_word(word));
    let behind = (words.end..within.end.min(words.end + 4))
        .map(|word| reading.word(word))
        .take_while(|word| !matches!(*word, "." | ";" | ","))
        .any(|word| matches!(word, "pending" | "pendiente" | "pendientes" | "requested" | "booked" | "ordered" | "solicitada" | "solicitado" | "programada" | "programado" | "tomorrow" | "manana" | "queda" | "awaited" | "scheduled" | "planned" | "listed"));
    let section = scene.section(words.start) == Some(Section::Plan);
    let done = clause[start..].iter().any(|word| matches!(*word, "done" | "given" | "had" | "showed" | "hecho" | "hecha" | "realizo" | "realizada" | "aplico" | "previa" | "previo" | "hizo"));
    let past = (words.end..within.end.min(words.end + 3)).any(|word| matches!(reading.word(word), "done" | "given" | "showed" | "shows" | "normal" | "clear" | "negative" | "realizada" | "hecha" | "muestra" | "mostro"));
    (says || behind || section) && !done && !past
}

fn is_plan_word(word: &str) -> bool {
    matches!(
        word,
        "pending" | "awaiting" | "await" | "awaits" | "request" | "requested" | "order" | "ordered" | "book" | "booked" | "arrange" | "schedule"
            | "scheduled" | "plan" | "plans" | "planned" | "planning" | "refer" | "referred" | "will" | "'ll" | "repeat" | "rpt" | "recheck" | "needs"
            | "due" | "listed" | "waiting" | "tomorrow" | "upcoming" | "next" | "recommend" | "recommended" | "want" | "send" | "get" | "going" | "for"
    ) || matches!(
        word,
        "pendiente" | "pendientes" | "solicito" | "solicita" | "solicitar" | "pido" | "pide" | "pedir" | "programada" | "programado" | "programar" | "queda"
            | "plan" | "qx" | "manana" | "proxima" | "proximo" | "indico" | "indica" | "realizar" | "hacer" | "repetir" | "espera" | "completar" | "pautar"
            | "agendar" | "haremos" | "hara" | "falta" | "ordena" | "vamos" | "propone" | "propongo" | "citada" | "citado" | "pedimos" | "mando" | "piden"
    )
}
