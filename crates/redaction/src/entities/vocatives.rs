//! Names by address and signature: "Ay, Chayo.", "abuela (Nené)", "me separé de flor", "RN Villanueva", "R. Montoya
//! LADAC".

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::super::token::{LetterCase, TextToken, TextTokenKind};
use super::super::word_tables::WordList;
use super::cues::{RELATIONS, TITLES};
use super::post_filter::stop_words;
use super::{informal, lexicon, places, words};
use crate::deadline;
use anamnesis_text::Language;

const TOLD: f64 = 0.8;

/// Words of speech before the addressed name: "gracias, Mica".
static BEFORE: WordList = WordList::spaced(
    "ay gracias oye oiga mira mire hola vale ok okay bueno si no sale perfecto tranquila tranquilo claro dale listo va venga animo \
     perdon perdone disculpa disculpe adelante pase pasale muchas buenas adios chau chao thanks sorry listen look hey hi hello yes no \
     yeah yep nah right righto sure cheers ta morning afternoon evening bye goodbye great good fine well alright please oh come",
);
/// "me separe d flor": verbs of separation and of living together.
static PARTED: WordList = WordList::spaced(
    "separe separo separado separada separamos separaron divorcie divorcio divorciado divorciada pelee peleo peleado peleada deje dejo \
     corte case caso casado casada junte junto vivo vivia vivimos sali salgo salia ando andaba volvi volvio",
);
/// First names that are also feelings or things.
static FEELINGS: WordList = WordList::spaced(
    "dolores soledad esperanza paz consuelo remedios milagros mercedes socorro pilar cruz rosario angustias gloria luz \
        alegria sol mar fe caridad piedad libertad victoria salud gracia perla",
);
/// Short names that are also words: they count only where nothing but a name fits.
static SHORT_NAMES: WordList = WordList::spaced(
    "mica nene nena caro sol flor luz maca cata peque negro negra flaco flaca gordo gorda tano pocho cuca mads pip peg nat",
);
/// Words in brackets after a relative that are no name.
static STATES: WordList = WordList::spaced(
    "viva vivo muerta muerto fallecida fallecido finada finado sana sano enferma enfermo difunta difunto mayor menor materna materno \
     paterna paterno jubilada jubilado casada casado soltera soltero separada separado divorciada divorciado cuidadora cuidador \
     informante acompanante tutora tutor conviviente deceased alive well separated estranged carer nok informant historian divorced \
     widowed maternal paternal older younger eldest youngest late twin step adopted foster present absent yes no si unknown same both \
     primary main only contact",
);
/// Abbreviations of posts with which staff sign, before or after the name.
static POSTS: WordList = WordList::spaced(
    "rn rpn rph lpn lvn cna hca rmn rgn rnld en een cnm cns np aprn fnp dnp crna pa pac msw lcsw lmsw lmft lpc lmhc ladac lcdc ladc cadc \
     psyd phd md do mbbs sho spr ssho st1 st2 st3 st4 st5 st6 ct1 ct2 fy fy1 fy2 ots pt ot slp rdn cdces pharmd ts t.s lcda lcdo \
     klgo klga mat tens aux obst odont cnm1 cnm2 cnm3 cns1 cpn amhp imha mft bcba cht",
);
static LEADING: WordList = WordList::spaced(
    "rn rpn rph lpn lvn cna hca rmn rgn rnld een np sho spr ts lcda lcdo klgo klga tens aux obst cnm cns cnm1 cnm2 cnm3 matrona nurse",
);

/// Finds names by address and signature.
pub(crate) fn find(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    for at in 1..context.tokens.len() {
        deadline::check_at(at);
        let token = &context.tokens[at];
        if !token.is_word() || token.span.len() < 3 {
            continue;
        }
        let before = context.plain(&context.tokens[at - 1]);
        let told = match before {
            "," => is_called(context, at),
            "(" => is_in_brackets(context, at),
            _ => is_parted(context, at) || is_after_post(context, at) || is_signed(context, at),
        };
        if told {
            found.push(PiiFinding::new(token.span, label::PERSON, "name", TOLD, DetectionLayer::Entity));
        }
    }
}

fn word<'a>(context: &'a DocumentContext<'_>, at: usize) -> &'a str {
    context.tokens.get(at).map(|token| context.lower(token)).unwrap_or_default()
}

fn back<'a>(context: &'a DocumentContext<'_>, at: usize, by: usize) -> &'a str {
    at.checked_sub(by).map(|at| word(context, at)).unwrap_or_default()
}

fn ends(context: &DocumentContext<'_>, at: usize) -> bool {
    context
        .tokens
        .get(at)
        .is_none_or(|next| next.kind == TextTokenKind::Break || matches!(context.plain(next), "." | "!" | "?"))
}

/// A first name, a surname or an unlisted word that is no clinical word.
fn may_name(context: &DocumentContext<'_>, token: &TextToken) -> bool {
    let lower = context.lower(token);
    let known = lexicon::word(lower);
    !stop_words::is_clinical(lower)
        && !stop_words::is_thing(lower)
        && !stop_words::is_role(lower)
        && !stop_words::is_no_person_word(lower)
        && !stop_words::is_kin(lower)
        && !RELATIONS.contains(lower)
        && !TITLES.contains(lower)
        && (known.is_name() && !lexicon::is_ordinary_in(context.language, lower)
            || words::is_everyday_name(lower)
            || informal::is_unknown(lower) && !places::is_place(lower)
            || token.case == LetterCase::Title && informal::is_unknown_capitalized(lower))
}

/// "Ay, Chayo. Lo siento", "gracias, mica": one word between a comma and the end of the sentence.
fn is_called(context: &DocumentContext<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    let lower = context.lower(token);
    let short = SHORT_NAMES.contains(lower);
    let small =
        token.case == LetterCase::Lower && (words::is_everyday_name(lower) || short) && context.is_lowercase_at(at);
    let opened = at < 3 || at >= 3 && ends(context, at - 3) || matches!(back(context, at, 3), ":" | "¡" | "¿" | "-");
    BEFORE.contains(back(context, at, 2))
        && opened
        && ends(context, at + 1)
        && (small || token.case == LetterCase::Title && (short || may_name(context, token)))
}

/// "la abuela (Nené)", "hija (Sisa):": one capitalised word in brackets after a relative, whatever it means elsewhere.
fn is_in_brackets(context: &DocumentContext<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    let lower = context.lower(token);
    RELATIONS.contains(back(context, at, 2))
        && !matches!(back(context, at, 2), "interpreter" | "interprete" | "dog" | "cat" | "perro" | "perra")
        && token.case == LetterCase::Title
        && word(context, at + 1) == ")"
        && !STATES.contains(lower)
        && !stop_words::is_clinical(lower)
        && !stop_words::is_role(lower)
        && !stop_words::is_kin(lower)
        && !RELATIONS.contains(lower)
}

fn is_parted(context: &DocumentContext<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    let lower = context.lower(token);
    context.language != Language::English
        && matches!(back(context, at, 1), "de" | "d" | "con" | "c")
        && PARTED.contains(back(context, at, 2))
        && lexicon::word(lower).given
        && !FEELINGS.contains(lower)
        && (token.case == LetterCase::Title || words::is_everyday_name(lower))
        && context.touches(at - 1, at)
}

/// "RN Villanueva gave the dose", "TS Canché enterada".
fn is_after_post(context: &DocumentContext<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    let post = &context.tokens[at - 1];
    token.case == LetterCase::Title
        && post.case != LetterCase::Lower
        && LEADING.contains(context.lower(post))
        && context.touches(at - 1, at)
        && may_name(context, token)
        && !stop_words::is_verb(context.lower(token))
}

/// "R. Montoya LADAC", "N. Okafor, RN": a capitalised word before the abbreviation of a post.
fn is_signed(context: &DocumentContext<'_>, at: usize) -> bool {
    let token = &context.tokens[at];
    let comma = usize::from(word(context, at + 1) == ",");
    let Some(post) = context.tokens.get(at + 1 + comma) else { return false };
    let initial = back(context, at, 1) == "." && back(context, at, 2).len() == 1;
    token.case == LetterCase::Title
        && post.case == LetterCase::Upper
        && post.span.len() > 1
        && POSTS.contains(context.lower(post))
        && (comma == 1 || context.touches(at, at + 1))
        && (initial || context.tokens[at - 1].case == LetterCase::Title)
        && may_name(context, token)
}
