//! What a person asked to forget stands in documents too. Readers do not see it there: the words are covered in the text, and
//! a passage that holds them is not searched. The document itself stays as it came, so that forgetting can be taken back.

use std::collections::HashMap;
use std::sync::LazyLock;

use uuid::Uuid;

use super::number;
use crate::StoreError;
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Arg, Sql, Transaction};
use anamnesis_text::Span;

// The evidence of each forgotten memory, whichever document states it; of a forgotten capture the whole document. What
// another memory of the same attribute still says stays readable: a dose of today is not forgotten with that of last year.
static FORGOTTEN: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT document_id, revision, kind, evidence_start, evidence_end FROM memory \
         WHERE org_id = $1 AND patient_id = $2 AND state = 'inactive' AND document_id IS NOT NULL AND revision IS NOT NULL \
         UNION ALL SELECT f.source_id, f.revision, f.kind, f.evidence_start, f.evidence_end FROM extracted_findings AS f \
         WHERE f.org_id = $1 AND f.patient_id = $2 AND f.evidence_start IS NOT NULL AND f.kind <> 'raw' \
         AND EXISTS (SELECT 1 FROM memory AS m WHERE m.org_id = f.org_id AND m.patient_id = f.patient_id \
           AND m.group_hash = f.group_hash AND m.attribute_hash = f.attribute_hash AND m.state = 'inactive') \
         AND NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.org_id = f.org_id AND m.patient_id = f.patient_id \
           AND m.group_hash = f.group_hash AND m.attribute_hash = f.attribute_hash AND m.state <> 'inactive')",
    )
});

/// What covers a forgotten byte: the text keeps its length, so that all offsets stay true.
const COVER: char = '_';

/// Stretches of documents that are not to be read, by document and revision.
#[derive(Debug, Default)]
pub(super) struct Forgotten(HashMap<(Uuid, u32), Vec<Span>>);

impl Forgotten {
    pub(crate) async fn of(tx: &mut Transaction, scope: Scope) -> Result<Self, StoreError> {
        let args = vec![Arg::from(scope.org().0), scope.patient().0.into()];
        let mut all: HashMap<_, Vec<Span>> = HashMap::new();
        for row in tx.fetch_all(&FORGOTTEN, args).await? {
            let offset = |at| row.opt_i64(at).map(|n| n.and_then(|n| usize::try_from(n).ok()));
            let span = match (row.text(2)?.as_str(), offset(3)?, offset(4)?) {
                ("raw", ..) => Span { start: 0, end: usize::MAX },
                (_, Some(start), Some(end)) if start <= end => Span { start, end },
                _ => continue,
            };
            all.entry((row.uuid(0)?, number(&row, 1)?)).or_default().push(span);
        }
        Ok(Self(all))
    }

    /// Whether a passage holds any of it.
    pub(crate) fn touches(&self, document: Uuid, revision: u32, passage: &Span) -> bool {
        self.0.get(&(document, revision)).is_some_and(|spans| spans.iter().any(|span| span.overlaps(passage)))
    }

    /// The text with what was forgotten covered; white space stays, so that lines and turns do.
    pub(crate) fn cover(&self, document: Uuid, revision: u32, text: String) -> String {
        let Some(spans) = self.0.get(&(document, revision)) else { return text };
        let mut out = String::with_capacity(text.len());
        for (at, c) in text.char_indices() {
            if c.is_whitespace() || !spans.iter().any(|span| span.start < at + c.len_utf8() && at < span.end) {
                out.push(c);
            } else {
                out.extend(std::iter::repeat_n(COVER, c.len_utf8()));
            }
        }
        out
    }
}

pub(crate) fn statements() -> Vec<&'static Sql> {
    vec![&FORGOTTEN]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_covered_keeps_its_place_and_its_neighbours() {
        let document = Uuid::from_u128(1);
        let text = "Está mejor. Bebió té.\nDuerme bien.";
        let (start, end) = (text.find("Bebió").unwrap(), text.find(".\nDuerme").unwrap());
        let forgotten = Forgotten(HashMap::from([((document, 1), vec![Span { start, end }])]));
        let covered = forgotten.cover(document, 1, text.to_owned());
        assert_eq!((covered.as_str(), covered.len()), ("Está mejor. ______ ___.\nDuerme bien.", text.len()));
        assert_eq!(forgotten.cover(document, 2, text.to_owned()), text, "another revision");
        assert!(forgotten.touches(document, 1, &Span { start: 0, end: start + 1 }));
        assert!(!forgotten.touches(document, 1, &Span { start: 0, end: start }));
    }
}
