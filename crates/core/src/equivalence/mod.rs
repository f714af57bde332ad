//! Whether two free texts state the same fact (model.md, "Change of mind"): a different number, dose, date, polarity or
//! experiencer is never the same fact, and what is undecided is not the same either. Two rows too many cost a second
//! look; two facts merged into one may harm a person. The seeds' own code compared similarity alone.
//!
//! English and Spanish: "no toma sertralina" and "does not take sertraline" are one fact; "0,5 g" and "500 mg" one dose.

mod concepts;
mod dates;
mod frequency;
mod normalize;
#[rustfmt::skip] // lists of words read as paragraphs
mod vocabulary;

use std::collections::BTreeSet;

use concepts::{TermMeaning, meaning, phrase};
use normalize::{TextItem, items};

use super::quantity::{Quantity, is_unit};
use super::wording::{denies, person};
use anamnesis_text::fold;

/// Whether `a` and `b` state the same fact.
pub fn same_fact(a: &str, b: &str) -> bool {
    match (statement(a), statement(b)) {
        (None, None) => !a.trim().is_empty() && fold(a.trim()) == fold(b.trim()),
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

/// The statement of one clause.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct FactClause {
    /// Concepts; in the order of the text where order matters ("from sertraline to fluoxetine").
    content: Vec<String>,
    /// Amounts in the order of the text: "from 50 to 100" is not "from 100 to 50".
    amounts: Vec<String>,
    rhythm: Vec<String>,
    dates: Vec<String>,
    /// The other people that it mentions, in order.
    people: Vec<&'static str>,
    negated: bool,
    /// True once: "had", "tuvo", "history of".
    past: bool,
    ordered: bool,
}

impl FactClause {
    fn is_bare(&self) -> bool {
        self.content.is_empty() && self.people.is_empty()
    }

    /// Takes over the details of a clause without content: ", 50 mg, daily".
    fn absorb(&mut self, other: FactClause) {
        self.content.extend(other.content);
        self.amounts.extend(other.amounts);
        self.rhythm.extend(other.rhythm);
        self.dates.extend(other.dates);
        self.people.extend(other.people);
        self.negated |= other.negated;
        self.past |= other.past;
        self.ordered |= other.ordered;
    }

    fn normalize(&mut self) {
        if self.people.first() == Some(&SELF) {
            self.people.remove(0);
        }
        // Each amount belongs to the words next to it: their order is part of the fact.
        self.ordered |= self.amounts.len() > 1;
        if !self.ordered {
            self.content = std::mem::take(&mut self.content).into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        }
        self.rhythm.sort();
    }

    fn has_numbers(&self) -> bool {
        !self.amounts.is_empty() || !self.rhythm.is_empty() || !self.dates.is_empty()
    }
}

/// The patient, where a text names another person too: "wife hit the patient" is not "the patient hit his wife".
const SELF: &str = "self";

/// The clauses of a text in canonical form; `None` when it states nothing.
fn statement(text: &str) -> Option<Vec<FactClause>> {
    let mut clauses: Vec<FactClause> = Vec::new();
    let mut waiting: Option<FactClause> = None;
    for mut clause in clauses_of(&items(text)) {
        if let Some(first) = waiting.take() {
            clause.absorb(first);
        }
        match clauses.last_mut() {
            Some(last) if clause.is_bare() => last.absorb(clause),
            None if clause.is_bare() => waiting = Some(clause),
            _ => clauses.push(clause),
        }
    }
    clauses.extend(waiting.filter(|clause| clause.has_numbers()));
    clauses.iter_mut().for_each(FactClause::normalize);
    collapse(&mut clauses);
    clauses.sort();
    (!clauses.is_empty()).then_some(clauses)
}

/// "Allergic to penicillin and sulfa" is one list, whatever its order, as long as no number, denial or person belongs to
/// one member only.
fn collapse(clauses: &mut Vec<FactClause>) {
    let alike = clauses.windows(2).all(|pair| {
        (pair[0].negated, pair[0].past, &pair[0].people) == (pair[1].negated, pair[1].past, &pair[1].people)
    });
    if clauses.len() > 1 && alike && !clauses.iter().any(|clause| clause.has_numbers() || clause.ordered) {
        let mut all = clauses.swap_remove(0);
        all.content.extend(clauses.drain(..).flat_map(|clause| clause.content));
        all.normalize();
        clauses.push(all);
    }
}

fn clauses_of(items: &[TextItem]) -> Vec<FactClause> {
    let mut clauses = vec![FactClause::default()];
    let mut at = 0;
    while at < items.len() {
        let rest = &items[at..];
        if is_boundary(&rest[0]) {
            clauses.push(FactClause::default());
        }
        let clause = clauses.last_mut().expect("there is one from the start");
        at += take(clause, rest);
    }
    clauses.retain(|clause| *clause != FactClause::default());
    clauses
}

fn is_boundary(item: &TextItem) -> bool {
    let words = ["and", "but", "or", "nor", "whereas", "while", "y", "e", "pero", "o", "u", "ni", "mientras", "aunque"];
    match item {
        TextItem::Sign(sign) => matches!(sign, ',' | ';' | '.' | '(' | ')' | '!' | '+' | '&'),
        TextItem::Word { folded, .. } => words.contains(&folded.as_str()),
        TextItem::Number(_) | TextItem::Raw(_) | TextItem::Date(_) => false,
    }
}

/// Reads the beginning of the rest into the clause and returns how many items it was.
fn take(clause: &mut FactClause, rest: &[TextItem]) -> usize {
    if let Some((length, date)) = dates::read(rest) {
        clause.dates.push(date);
        return length;
    }
    if let Some((length, rhythm)) = frequency::read(rest) {
        clause.rhythm.push(rhythm);
        return length;
    }
    if let Some((length, meaning)) = phrase(rest) {
        apply(clause, meaning);
        return length;
    }
    match rest {
        [TextItem::Number(value), TextItem::Word { folded: unit, .. }, ..] if is_unit(unit) => {
            clause.amounts.extend(Quantity::new(*value, unit).map(|quantity| quantity.canonical()));
            2
        }
        [TextItem::Number(value), TextItem::Sign('%'), ..] => {
            clause.amounts.extend(Quantity::new(*value, "%").map(|quantity| quantity.canonical()));
            2
        }
        [TextItem::Number(value), ..] => {
            clause.amounts.extend(Quantity::new(*value, "").map(|quantity| quantity.canonical()));
            1
        }
        [TextItem::Raw(text), ..] => {
            clause.amounts.push(text.clone());
            1
        }
        [TextItem::Word { folded, raw, named }, ..] => {
            word(clause, folded, raw, *named);
            1
        }
        _ => 1,
    }
}

fn word(clause: &mut FactClause, folded: &str, raw: &str, named: bool) {
    clause.negated |= denies(folded);
    clause.ordered |= vocabulary::DIRECTIONS.contains(&folded);
    if denies(folded) {
        return;
    }
    if let Some(person) = person(folded) {
        clause.people.push(person);
    } else {
        apply(clause, meaning(folded, raw, named));
    }
}

fn apply(clause: &mut FactClause, meaning: TermMeaning) {
    match meaning {
        TermMeaning::Nothing => {}
        TermMeaning::Concept(concept) => clause.content.push(concept.into_owned()),
        TermMeaning::Denial => clause.negated = true,
        TermMeaning::Past => clause.past = true,
        // Only informative where another person is named too.
        TermMeaning::Oneself if !clause.people.is_empty() => clause.people.push(SELF),
        TermMeaning::Oneself => {}
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
