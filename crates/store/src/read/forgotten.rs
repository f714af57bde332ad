//! Forgotten statements are also in documents. Readers do not see them there: the words are masked in the text, and a
//! passage that contains them is not searched. The document itself stays as it arrived, so that forgetting can be
//! undone.

use std::collections::HashMap;

use uuid::Uuid;

use super::number;
use crate::StoreError;
use crate::statements::read::forgotten as sql;
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Arg, Transaction};
use anamnesis_text::Span;

/// Masks a forgotten byte: the text keeps its length, so that all offsets stay valid.
const COVER: char = '_';

/// Stretches of documents that are not to be read, by document and revision.
#[derive(Debug, Default)]
pub(super) struct ForgottenSpans(HashMap<(Uuid, u32), Vec<Span>>);

impl ForgottenSpans {
    pub(crate) async fn load(tx: &mut Transaction, scope: Scope) -> Result<Self, StoreError> {
        let args = vec![Arg::from(scope.org().0), scope.patient().0.into()];
        let mut all: HashMap<_, Vec<Span>> = HashMap::new();
        for row in tx.fetch_all(&sql::STRETCHES, args).await? {
            let offset = |at| row.opt_i64(at).map(|n| n.and_then(|n| usize::try_from(n).ok()));
            let (start, end) = (offset(sql::stretches::EVIDENCE_START)?, offset(sql::stretches::EVIDENCE_END)?);
            let span = match (row.text(sql::stretches::KIND)?.as_str(), start, end) {
                ("raw", ..) => Span { start: 0, end: usize::MAX },
                (_, Some(start), Some(end)) if start <= end => Span { start, end },
                _ => continue,
            };
            let document = row.uuid(sql::stretches::DOCUMENT_ID)?;
            all.entry((document, number(&row, sql::stretches::REVISION)?)).or_default().push(span);
        }
        Ok(Self(all))
    }

    /// Whether a passage holds any of it.
    pub(crate) fn touches(&self, document: Uuid, revision: u32, passage: &Span) -> bool {
        self.0.get(&(document, revision)).is_some_and(|spans| spans.iter().any(|span| span.overlaps(passage)))
    }

    /// The text with forgotten words masked; white space stays, and with it lines and turns.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_covered_keeps_its_place_and_its_neighbours() {
        let document = Uuid::from_u128(1);
        let text = "Está mejor. Bebió té.\nDuerme bien.";
        let (start, end) = (text.find("Bebió").unwrap(), text.find(".\nDuerme").unwrap());
        let forgotten = ForgottenSpans(HashMap::from([((document, 1), vec![Span { start, end }])]));
        let covered = forgotten.cover(document, 1, text.to_owned());
        assert_eq!((covered.as_str(), covered.len()), ("Está mejor. ______ ___.\nDuerme bien.", text.len()));
        assert_eq!(forgotten.cover(document, 2, text.to_owned()), text, "another revision");
        assert!(forgotten.touches(document, 1, &Span { start: 0, end: start + 1 }));
        assert!(!forgotten.touches(document, 1, &Span { start: 0, end: start }));
    }
}
