//! Words of risk: ideation, plans and means, attempts, self-harm, harm to others, abuse. A denial is kept as a denial;
//! what somebody else did or said of themselves is not the patient's risk.

mod answers;
mod clauses;
mod denials;
mod denied;
mod forms;
mod heard;
mod kin;
pub(super) mod learned;
mod levels;
mod parts;
mod patterns;
mod screens;
mod topics;
mod whose;
mod words;

use std::ops::Range;

use answers::Answers;
use denials::{denied_as_subject, denied_behind, denied_itself, nobody_does, noted_answer, wish_denied};
use denied::Denials;
use forms::Forms;
use heard::{Heard, Settled};
use learned::{Ear, Heeds, Ruled};
use patterns::Patterns;
use screens::Screens;
use topics::Topics;
use whose::Whose;

use super::context::tells_more;
use super::dialogue::Polarity;
use super::matcher::Matcher;
use super::phrasebook::Builder;
use super::reading::Sentence;
use super::scene::Scene;
use super::{Experiencer, Risk, RiskClass};
use crate::text::Speaker;

/// Log odds of the ear from which it confirms what a phrase found in a document, and below which it refutes even plain words.
const CONFIRMED: f32 = -0.5;
const DOUBTED: f32 = -4.0;

/// Words behind words of risk within which a denial still means them.
const DENIAL_BEHIND: usize = 3;

pub(super) const FILES: [&str; 8] = [
    include_str!("../lexicon/risk.tsv"),
    patterns::WORDS[0],
    patterns::WORDS[1],
    patterns::WORDS[2],
    patterns::WORDS[3],
    patterns::PATTERNS,
    topics::FILE,
    words::FILE,
];

/// A row of the list: `None` for what only looks like risk.
#[derive(Clone, Copy)]
struct Row {
    class: Option<RiskClass>,
    /// The words say "me" or "I": they are the speaker's own.
    own: bool,
}

/// Words of risk in a sentence.
struct Words {
    class: RiskClass,
    own: bool,
    words: Range<usize>,
    /// The words that a denial must reach: what would be done.
    core: Range<usize>,
    /// So plain that the ear need not confirm it.
    sure: bool,
    /// Said beside talk of dying that is often denied: only a denial of its own denies it.
    beside: bool,
}

pub struct RiskRules {
    rows: Vec<Row>,
    matcher: Matcher,
    patterns: Patterns,
    whose: Whose,
    screens: Screens,
    topics: Topics,
    around: words::Words,
    ear: Option<Ear>,
}

impl RiskRules {
    pub fn builtin(book: &mut Builder) -> Self {
        let mut rows = Vec::new();
        let mut phrases = Vec::new();
        for line in FILES[0].lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.splitn(3, '\t');
            let (Some(class), Some(person), Some(words)) = (fields.next(), fields.next(), fields.next()) else {
                continue;
            };
            let index = u32::try_from(rows.len()).unwrap_or(u32::MAX);
            phrases.extend(words.split('|').map(|phrase| (phrase.trim(), index)));
            rows.push(Row { class: RiskClass::from_code(class), own: person == "1" });
        }
        Self {
            matcher: Matcher::new(book, phrases),
            rows,
            patterns: Patterns::builtin(book),
            whose: Whose::builtin(book),
            screens: Screens::builtin(book),
            topics: Topics::builtin(book),
            around: words::Words::builtin(book),
            ear: Ear::builtin(),
        }
    }

    pub(super) fn hear_with(&mut self, ear: Ear) {
        self.ear = Some(ear);
    }

    pub fn find(&self, scene: &Scene<'_>) -> Vec<Risk> {
        let (said, ruled) = self.said(scene);
        let (mut heard, mut settled) = (Vec::new(), Settled::default());
        let spoken_of = self.topics.spoken_of(scene.reading);
        let (topics, words) = (&self.topics, &self.around);
        Forms { topics, words, spoken_of: &spoken_of }.find(scene, &mut heard, &mut settled);
        Answers { topics, words, spoken_of: &spoken_of }.find(scene, &mut heard, &mut settled);
        Denials { topics, words, spoken_of: &spoken_of }.find(scene, &mut heard, &mut settled);
        kin::find(scene, words, &settled, &mut heard);
        let said = self.confirmed(scene, said);
        heard::add_said(scene, words, said, &settled, &mut heard);
        let mut out: Vec<Risk> = heard::folded(scene, heard);
        if let Some(ear) = &self.ear {
            let closed = settled.closed(scene, &out);
            let cued = |sentence: &Sentence| self.around.is_cued(scene.reading, sentence.words.clone());
            let cued: Vec<bool> = scene.reading.sentences.iter().map(cued).collect();
            ear.find(scene, &Heeds { ruled: &ruled, closed: &closed, cued: &cued }, &mut out);
        }
        levels::grade(scene, &mut out);
        // The gravest first: what a reader must see, whatever came first in the text.
        out.sort_by_key(|risk| (risk.denied, risk.experiencer != Experiencer::Patient, gravity(risk.class), risk.span));
        out.dedup_by_key(|risk| (risk.span, risk.class));
        out
    }

    /// What phrases found, with the ear's probability of it. In a document the ear must agree, or the words must name risk
    /// plainly: phrases alone are right in one of two there.
    fn confirmed(&self, scene: &Scene<'_>, said: Vec<Heard>) -> Vec<Heard> {
        let Some(ear) = &self.ear else { return said };
        let document = learned::is_document(scene.reading);
        let judged = said.into_iter().filter_map(|found| {
            if found.confirmed.is_some() {
                return Some(found);
            }
            let sentence = &scene.reading.sentences[scene.reading.sentence_of(found.words.start)];
            let passage = Sentence { words: heard::passage(scene, &sentence.words, &found.words), ..sentence.clone() };
            let odds = ear.odds(scene, &passage);
            let plain = || self.around.is_cued(scene.reading, passage.words.clone());
            let kept = !document || odds >= CONFIRMED || odds >= DOUBTED && plain();
            let confirmed = Some(learned::probability(odds));
            kept.then_some(Heard { confirmed, ..found })
        });
        judged.collect()
    }

    /// What the rules say of each sentence: what training and the ear look at.
    pub(super) fn ruled(&self, scene: &Scene<'_>) -> Vec<Ruled> {
        self.said(scene).1
    }

    /// What phrases and patterns find, and in which sentences.
    fn said(&self, scene: &Scene<'_>) -> (Vec<Heard>, Vec<Ruled>) {
        let mut out: Vec<Heard> = Vec::new();
        let mut ruled = vec![Ruled::default(); scene.reading.sentences.len()];
        for (index, sentence) in scene.sentences() {
            for words in self.words(scene, index, &sentence.words) {
                let Some(risk) = self.risk(scene, index, &words) else {
                    // "Asked about self-harm: says no, but cuts her thighs": the rest is said.
                    ruled[index].only_asked |= !tells_more(scene.reading, words.words.end..sentence.words.end);
                    continue;
                };
                let others = risk.experiencer != Experiencer::Patient;
                ruled[index].own |= !risk.denied && !others;
                ruled[index].denied |= risk.denied;
                ruled[index].others |= others;
                out.push(risk);
            }
        }
        (out, ruled)
    }

    /// Phrases and patterns of a sentence, without those that only look like risk.
    fn words(&self, scene: &Scene<'_>, index: usize, sentence: &Range<usize>) -> Vec<Words> {
        let mut harmless: Vec<Range<usize>> = Vec::new();
        let mut found = self.patterns.find(scene.reading, index);
        for word in sentence.clone() {
            let Some(hit) = self.matcher.at(scene.reading, word) else { continue };
            let row = self.rows[hit.meaning as usize];
            match row.class {
                None => harmless.push(hit.words),
                Some(class) => {
                    let (core, own) = (hit.words.clone(), row.own);
                    found.push(Words { class, own, core, words: hit.words, sure: false, beside: false })
                }
            }
        }
        found.retain(|words| !self.patterns.is_slip(scene.reading, index, words.class, &words.words));
        let overlaps = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
        // "I don't want to go on living with my in-laws": what closes the words goes on harmlessly.
        let closes = |other: &Range<usize>, words: &Range<usize>| {
            words.start < other.start && other.start < words.end && words.end <= other.end
        };
        found.retain(|words| {
            words.sure || !harmless.iter().any(|o| overlaps(o, &words.core) || closes(o, &words.words))
        });
        // "I wish I was dead" holds "wish I was dead": one finding.
        found.sort_by_key(|words| (words.words.start, std::cmp::Reverse(words.words.end)));
        let mut out: Vec<Words> = Vec::new();
        for words in found {
            let inside = |known: &&Words| {
                known.class == words.class
                    && (known.sure || !words.sure)
                    && (known.beside || !words.beside)
                    && known.words.start <= words.words.start
                    && words.words.end <= known.words.end
            };
            if !out.iter().any(|known| inside(&known)) {
                out.push(words);
            }
        }
        out
    }

    fn risk(&self, scene: &Scene<'_>, index: usize, found: &Words) -> Option<Heard> {
        let sentence = &scene.reading.sentences[index];
        let class = found.class;
        let context = scene.contexts.of(scene.reading, &found.words);
        // A plan is denied only where its own first words are; anything else also where its core is.
        // What a patient does is not denied by words far behind it: "… and says the bruises will go away".
        let behind = if found.own { DENIAL_BEHIND } else { usize::MAX };
        let reached =
            |words: &Range<usize>| scene.contexts.denied_within(scene.reading, words, found.words.end, behind);
        let negated = if found.beside {
            denied_itself(scene.reading, &sentence.words, &found.words)
        } else {
            (context.negated
                && scene.contexts.denied_from_outside(scene.reading, &found.words, &found.words)
                && reached(&found.words))
                || (class != RiskClass::PlanOrMeans
                    && scene.contexts.of(scene.reading, &found.core).negated
                    // "Quiero desaparecer" ends nothing, though what has disappeared is over.
                    && scene.contexts.denied_from_outside(scene.reading, &found.core, &found.words)
                    && reached(&found.core))
                || wish_denied(scene.reading, &sentence.words, &found.words)
                || denied_behind(scene.reading, found.words.end)
                || (!is_of_deeds(class)
                    && [found.words.end, found.core.end].iter().any(|end| denied_as_subject(scene.reading, *end)))
                || nobody_does(scene.reading, &sentence.words, &found.words)
                || self.screens.answered_no(scene.reading, index, &found.words)
        };
        let asked = scene.is_dialogue() && scene.exchanges.asks(index) && sentence.speaker != Speaker::Patient;
        let mut denied = match (asked, scene.exchanges.answer(index).map(|answer| answer.polarity)) {
            (true, Some(Polarity::No)) => true,
            (true, Some(Polarity::Yes)) => negated && found.own,
            // Asked and neither affirmed nor denied: the question alone is nothing.
            (true, _) => return None,
            (false, _) => negated,
        };
        if !asked && sentence.question && sentence.speaker != Speaker::Patient && asks_you(scene, &sentence.words) {
            denied = noted_answer(scene.reading, index)? == Polarity::No;
        }
        if scene.contexts.only_asked(scene.reading, &found.core) {
            return None;
        }
        let experiencer = self.whose.of(scene, &sentence.words, found);
        Some(Heard {
            class,
            denied,
            words: found.words.clone(),
            core: found.core.clone(),
            experiencer,
            confirmed: found.sure.then_some(1.0),
        })
    }
}

/// A question put to somebody, outside a dialogue: "Have you …?", "¿Ha tenido …?".
fn asks_you(scene: &Scene<'_>, sentence: &Range<usize>) -> bool {
    let word = |at: usize| scene.reading.word(at);
    let own = sentence.clone().any(|at| matches!(word(at), "i" | "me" | "my" | "mi" | "yo" | "mis"));
    let you = |at: usize| {
        matches!(
            word(at),
            "you"
                | "your"
                | "anyone"
                | "usted"
                | "ha"
                | "has"
                | "le"
                | "te"
                | "tiene"
                | "tienes"
                | "piensa"
                | "alguien"
        )
    };
    !own && sentence.clone().any(you)
}

/// What was done or suffered, of which no wish is the subject.
fn is_of_deeds(class: RiskClass) -> bool {
    matches!(class, RiskClass::AttemptHistory | RiskClass::SelfHarm | RiskClass::Abuse)
}

fn gravity(class: RiskClass) -> u8 {
    match class {
        RiskClass::PlanOrMeans => 0,
        RiskClass::AttemptHistory => 1,
        RiskClass::HarmToOthers => 2,
        RiskClass::ActiveIdeation => 3,
        RiskClass::SelfHarm => 4,
        RiskClass::Abuse => 5,
        RiskClass::PassiveIdeation => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::DocumentType;
    use crate::extract::{ExtractionInput, Extractor};
    use crate::text::{Document, Language};

    fn class(text: &str) -> Option<RiskClass> {
        class_in(text, None)
    }

    fn class_in(text: &str, document_type: Option<DocumentType>) -> Option<RiskClass> {
        static EXTRACTOR: std::sync::LazyLock<Extractor> = std::sync::LazyLock::new(Extractor::builtin);
        let document = Document::plain(text, Language::Unknown);
        let found = EXTRACTOR.extract(&ExtractionInput { document_type, ..ExtractionInput::of(&document) }).risk;
        found.into_iter().find(|risk| !risk.denied && risk.experiencer == Experiencer::Patient).map(|risk| risk.class)
    }

    #[test]
    fn every_class_is_heard_in_both_languages() {
        use RiskClass::*;
        for (text, expected) in [
            ("A veces pienso que ojalá no despertara.", PassiveIdeation),
            ("I just don't want to be here anymore.", PassiveIdeation),
            ("Me quiero matar.", ActiveIdeation),
            ("I keep thinking about killing myself.", ActiveIdeation),
            ("Presenta ideación autolítica estructurada.", ActiveIdeation),
            ("He guardado pastillas para tomármelas todas.", PlanOrMeans),
            ("I have a plan to end my life.", PlanOrMeans),
            ("Escribí una carta de despedida.", PlanOrMeans),
            ("Hace dos años intenté suicidarme.", AttemptHistory),
            ("I tried to kill myself in college.", AttemptHistory),
            ("Anoche me corté en los brazos.", SelfHarm),
            ("I've been cutting myself again.", SelfHarm),
            ("Tengo ganas de matar a mi jefe.", HarmToOthers),
            ("I want to hurt my brother.", HarmToOthers),
            ("Mi marido me pega.", Abuse),
            ("My boyfriend hits me when he drinks.", Abuse),
        ] {
            assert_eq!(class(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn denials_idioms_and_other_people_are_not_risk() {
        for text in [
            "Niega ideación suicida.",
            "No he pensado en hacerme daño.",
            "Nunca intentaría matarme.",
            "Denies suicidal ideation.",
            "I would never hurt myself.",
            "No suicidal thoughts or plans.",
            "Me muero de risa.",
            "Me quiero morir de la vergüenza.",
            "My manager won't let me leave early.",
            "Being a dad is beautiful.",
            "Estoy matando el tiempo.",
            "This job is killing me.",
            "I'm dying to see the movie.",
            "Mi tío se suicidó: hubo un intento de suicidio de mi tío.",
            "Her brother had a suicide attempt.",
            "Me corté el pelo ayer.",
            "Sin ideas de muerte ni ideación autolítica.",
        ] {
            assert_eq!(class(text), None, "{text}");
        }
    }

    #[test]
    fn what_a_relative_says_of_themselves_is_theirs() {
        for text in [
            "My son told me he wants to kill himself and I'm lost.",
            "My sister was abused by her ex.",
            "My cousin keeps saying he's going to kill his boss.",
            "One of my students says he wants to die.",
            "Mi hijo me ha dicho que se quiere matar.",
            "Mi suegra dice que está cansada de vivir.",
        ] {
            assert_eq!(class(text), None, "{text}");
        }
        assert_eq!(class("My son left and now I want to die."), Some(RiskClass::ActiveIdeation));
        assert_eq!(class("My boss is vile, gonna kill him."), Some(RiskClass::HarmToOthers));
        assert_eq!(class("Mi marido me dejó y ya estoy harta de vivir."), Some(RiskClass::PassiveIdeation));
    }

    #[test]
    fn what_was_never_told_was_done() {
        assert_eq!(class("The rape has never been reported."), class("The rape has been reported."));
        assert_eq!(class("El maltrato nunca ha sido denunciado: mi marido me pega."), Some(RiskClass::Abuse));
        assert_eq!(class("Mi intento de suicidio no fue una llamada de atención."), Some(RiskClass::AttemptHistory));
        assert_eq!(class("Rang the helpline after I took an overdose."), Some(RiskClass::AttemptHistory));
    }

    #[test]
    fn a_patients_relative_who_informs_speaks_of_the_patient() {
        assert_eq!(class("Pt's husband says she took an overdose last night."), Some(RiskClass::AttemptHistory));
        assert_eq!(class("Patient's mother says she wants to kill herself."), Some(RiskClass::ActiveIdeation));
        for text in [
            "The patient's mother reports she tried to hang herself.",
            "Mother reports that he tried to hang himself.",
            "Father states patient tried to hang herself.",
            "La madre refiere que intentó ahorcarse.",
        ] {
            assert_eq!(class(text), Some(RiskClass::AttemptHistory), "{text}");
        }
        for text in [
            "My mother says she tried to hang herself.",
            "Mother tried to hang herself.",
            "Mi madre dice que intentó ahorcarse.",
        ] {
            assert_eq!(class(text), None, "{text}");
        }
        // In a chat it is the patient who writes.
        let message = "Mum says she tried to hang herself.";
        assert_eq!(class(message), Some(RiskClass::AttemptHistory));
        assert_eq!(class_in(message, Some(DocumentType::ChatMessage)), None);
    }

    #[test]
    fn what_is_told_behind_a_sign_answers_what_was_asked_about() {
        assert_eq!(class("Asked about mood: wants to die."), Some(RiskClass::ActiveIdeation));
        assert_eq!(class("Preguntado por el ánimo: refiere que se quiere matar."), Some(RiskClass::ActiveIdeation));
        assert_eq!(class("Asked about self-harm: she says no, never."), None);
    }

    #[test]
    fn who_brings_somebody_speaks_of_them() {
        for text in [
            "Su madre lo trae porque intentó ahorcarse.",
            "Her father brought her in because she tried to hang herself.",
        ] {
            assert_eq!(class(text), Some(RiskClass::AttemptHistory), "{text}");
        }
        assert_eq!(class("Su madre intentó ahorcarse."), None);
    }

    #[test]
    fn a_wish_to_disappear_is_no_symptom_that_is_over() {
        for text in
            ["Quiero desaparecer.", "Me dan ganas de desaparecer.", "quiero desaparecer porque nadie me escucha"]
        {
            assert_eq!(class(text), Some(RiskClass::PassiveIdeation), "{text}");
        }
        assert_eq!(class("No quiero desaparecer."), None);
        assert_eq!(class("Las ganas de morirme han desaparecido."), None);
    }

    #[test]
    fn a_wish_denied_right_before_it_is_none() {
        for text in [
            "I don't want to die.",
            "I don't even want to kill myself.",
            "It never crossed my mind to kill myself.",
            "No quiero morirme, quiero curarme.",
        ] {
            assert_eq!(class(text), None, "{text}");
        }
        // Far behind, "go away" says nothing of the deed; and nobody's looking denies nothing.
        assert_eq!(class("I don't want to live."), Some(RiskClass::PassiveIdeation));
        assert_eq!(class("I cut my arms when nobody's looking."), Some(RiskClass::SelfHarm));
    }

    #[test]
    fn a_denial_that_runs_into_the_words_of_risk_denies_them() {
        for text in [
            "No thoughts of self-harm, no plan.",
            "There is no history of overdose.",
            "I have never been abused.",
            "Suicide's never been in my head.",
            "Nadie me pega en casa.",
        ] {
            assert_eq!(class(text), None, "{text}");
        }
        assert_eq!(class("There's no point in me being here any longer."), Some(RiskClass::PassiveIdeation));
        assert_eq!(class("Nadie sabe que mi marido me pega."), Some(RiskClass::Abuse));
    }

    #[test]
    fn a_screening_is_denied_by_its_answer_unless_more_was_said() {
        assert_eq!(class("Asked directly about domestic abuse while alone: says none."), None);
        assert_eq!(class("Cribado de violencia de pareja: negativo."), None);
        for text in [
            "Screened for self-harm: says no, but cuts her thighs.",
            "Asked about self-harm: says no, but cuts her thighs.",
            "Se le pregunta por autolesiones: dice que no, pero se corta los muslos.",
        ] {
            assert_eq!(class(text), Some(RiskClass::SelfHarm), "{text}");
        }
    }

    #[test]
    fn what_a_leaflet_says_is_nobodys_and_a_patient_who_read_it_is_heard() {
        assert_eq!(class("If you are thinking about suicide, call this number at any hour."), None);
        assert_eq!(class("El folleto explica qué hacer ante las ideas de suicidio."), None);
        assert_eq!(class("She read the leaflet and wants to kill herself."), Some(RiskClass::ActiveIdeation));
    }

    #[test]
    fn a_slip_of_the_knife_is_no_self_harm() {
        assert_eq!(class("Cut myself peeling potatoes for dinner."), None);
        assert_eq!(class("Me corté el flequillo yo sola."), None);
        assert_eq!(class("Lo voy a destrozar al ajedrez."), None);
        assert_eq!(class("I burn my arm on the oven on purpose."), Some(RiskClass::SelfHarm));
    }
}
