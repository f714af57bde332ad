//! Sex, relations and professions: kept by most policies, taken under `strict`.

use std::sync::LazyLock;

use regex::Regex;

use super::super::context::Context;
use super::super::finding::{Finding, Layer};
use super::super::label;
use super::compiled;
use crate::text::Span;

static SEX: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:varon|varones|mujer|mujeres|hombre|masculino|femenino|femenina|nina|nino|ninas|ninos|male|female|woman|man|girl|boy|gentleman|lady|transgenero|transgender|adolescente|lactante|anciana|anciano)(?-u:\b)",
    )
});
static FAMILY: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:madre|padre|padres|hermanos?|hermanas?|hij[oa]s?|ti[oa]s?|abuel[oa]s?|prim[oa]s?|espos[oa]|marido|conyuge|pareja|suegr[oa]|sobrin[oa]s?|niet[oa]s?|cunad[oa]s?|familiares|mother|father|parents|sisters?|brothers?|sons?|daughters?|uncles?|aunts?|grand(?:mother|father|parents|ma|pa)|cousins?|wife|husband|spouse|partner|nephews?|nieces?|siblings?)(?: (?:materno|paterna|paterno|materna))?(?-u:\b)",
    )
});
static PROFESSION: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:agricultora?|ganader[oa]|albanil|miner[oa]|maestr[oa]|profesora? de [a-z]+|jubilad[oa]|pensionista|ama de casa|camarer[oa]|conductora?|camionero|taxista|militar|bomber[oa]s?|policia|guardia civil|administrativ[oa]|abogad[oa]|ingenier[oa]|arquitect[oa]|comerciante|carpinter[oa]|electricista|fontaner[oa]|mecanic[oa]|panader[oa]|peluquer[oa]|cociner[oa]|pescadora?|pastora?|estudiante|obrer[oa]|emplead[oa] de [a-z]+|funcionari[oa]|veterinari[oa]|farmaceutic[oa]|periodista|music[oa]|deportista|futbolista|teacher|farmer|lawyer|engineer|accountant|plumber|electrician|carpenter|firefighter|police officer|retired [a-z]+|waitress|waiter|truck driver|chef|student|hairdresser|mechanic|architect|journalist|soldier|veteran)(?-u:\b)",
    )
});

/// Finds sex, relations and professions. Most policies keep them; the tagger reads them all the same.
pub fn find(context: &Context<'_>, found: &mut Vec<Finding>) {
    let lower = &context.view.lower;
    for (label, pattern) in [(label::SEX, &SEX), (label::FAMILY, &FAMILY), (label::PROFESSION, &PROFESSION)] {
        for hit in pattern.find_iter(lower) {
            found.push(Finding::new(Span::new(hit.start(), hit.end()), label, "word_list", 0.6, Layer::Entity));
        }
    }
}
