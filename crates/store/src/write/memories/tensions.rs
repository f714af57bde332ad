//! Contradicting statements of a patient: opposing preferences, wishes and relationships all stay, linked and typed
//! (model.md, "Change of mind"; seed 001, sections 5 and 9). Conflicts of clinical values belong to the projection.
//!
//! The pairs are a projection of the active statements: whichever message came first, the result is the same.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::rows::memory_cell;
use super::{BatchWriter, ChangedMemory};
use crate::StoreError;
use crate::encrypted_columns::{open_record, open_text};
use crate::records::FindingWords;
use crate::statements::write::memories::conflicts as contradictions;
use crate::statements::write::memories::tensions as sql;
use anamnesis_core::contradiction::{ContradictionClaim, ContradictionPolicy, ContradictionType, ParsedStatement};
use anamnesis_core::event::ContradictionFound;
use anamnesis_core::finding::{EntityType, Experiencer};
use anamnesis_core::ids::{MemoryId, derive};
use anamnesis_core::memory::State;
use anamnesis_core::projection::KeyHash;
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Arg, Row};
use anamnesis_text::fold;

/// The newest statements of a patient that are compared.
const MOST: usize = 100;

/// Whether statements of this kind can oppose each other without one of them being wrong.
pub(super) fn is_soft(entity: EntityType) -> bool {
    matches!(entity, EntityType::Preference | EntityType::Goal | EntityType::Relationship)
}

/// An active statement in the clear.
struct ActiveStatement {
    id: MemoryId,
    experiencer: Experiencer,
    /// The relative, if it is known.
    person: Option<String>,
    valid_from: DateTime<Utc>,
    text: String,
    /// How the words of the text begin that may be its subject.
    stems: BTreeSet<String>,
}

/// The newest statements of a patient, and which of them are compared with all others: a hundred statements make five
/// thousand pairs, of which one more document adds a hundred.
struct StatementComparison<'s> {
    scope: Scope,
    stated: &'s [ActiveStatement],
    /// `None`: all with all.
    anew: Option<BTreeSet<MemoryId>>,
}

impl<'s> StatementComparison<'s> {
    /// Pairs of unchanged statements are stored already. Exceptions: another statement may now be among the newest, or
    /// several memories were read from one sentence.
    fn build(scope: Scope, stated: &'s [ActiveStatement], changed: Vec<&ChangedMemory<'_>>, moved: bool) -> Self {
        let active = |c: &&&ChangedMemory<'_>| c.folded.state == State::Active;
        // After a checkpoint a memory has its first words and its time; after a full projection both may have changed.
        let changed_place = |c: &&ChangedMemory<'_>| c.was.is_some() && !(c.is_resumed() && active(&c));
        let moved = moved || changed.iter().any(changed_place);
        let anew: BTreeSet<MemoryId> = changed.iter().filter(active).map(|c| c.folded.id).collect();
        let (new, old): (Vec<&ActiveStatement>, Vec<&ActiveStatement>) =
            stated.iter().partition(|one| anew.contains(&one.id));
        let others: BTreeSet<&str> = old.iter().map(|one| one.text.as_str()).collect();
        let whole = moved || new.iter().any(|one| others.contains(one.text.as_str()));
        Self { scope, stated, anew: (!whole).then_some(anew) }
    }

    fn pairs(&self) -> Vec<(&'s ActiveStatement, &'s ActiveStatement, ContradictionType)> {
        pairs(self.stated, self.anew.as_ref())
    }
}

impl BatchWriter<'_> {
    /// Compares the statements of the patients of this batch again, where a statement changed or a memory vanished.
    ///
    /// # Errors
    /// When the store cannot be read or written, or a cell does not open.
    pub(super) async fn write_tensions(
        &mut self,
        gone: &[(Scope, MemoryId)],
        changed: &[ChangedMemory<'_>],
    ) -> Result<(), StoreError> {
        let soft: Vec<&ChangedMemory<'_>> = changed.iter().filter(|c| is_soft(c.opening().entity)).collect();
        let scopes = soft.iter().map(|c| c.scope).chain(gone.iter().map(|(scope, _)| *scope));
        let scopes: BTreeSet<Scope> = scopes.collect();
        if scopes.is_empty() {
            return Ok(());
        }
        let fresh: BTreeSet<MemoryId> =
            soft.iter().filter(|c| c.was != Some(State::Active.code())).map(|c| c.folded.id).collect();
        let stated = self.stated(&scopes).await?;
        let mut comparisons = Vec::with_capacity(scopes.len());
        for scope in scopes {
            let stated = stated.get(&scope).map(Vec::as_slice).unwrap_or_default();
            let moved = gone.iter().any(|(of, _)| *of == scope);
            let own = soft.iter().filter(|c| c.scope == scope).copied();
            comparisons.push(StatementComparison::build(scope, stated, own.collect(), moved));
        }
        self.forget_tensions(&comparisons).await?;
        let mut rows = Vec::new();
        for comparison in &comparisons {
            let scope = comparison.scope;
            for (kept, claim, type_) in comparison.pairs() {
                let id = derive("contradiction", &[kept.id.0.as_bytes(), claim.id.0.as_bytes()]);
                rows.push(self.tension_row(scope, id, kept, claim, type_)?);
                if fresh.contains(&kept.id) || fresh.contains(&claim.id) {
                    self.done.contradictions.push(type_.code());
                    let found = ContradictionFound {
                        contradiction_id: id,
                        kept_memory_id: kept.id,
                        claim_memory_id: claim.id,
                        type_: type_.code(),
                    };
                    self.events.push(scope, &[id.as_bytes()], &found);
                }
            }
        }
        self.tx.bulk(&contradictions::INSERT, rows).await?;
        Ok(())
    }

    /// Removes the pairs that are compared again, and those without a statement among the newest.
    async fn forget_tensions(&mut self, comparisons: &[StatementComparison<'_>]) -> Result<(), StoreError> {
        let (mut whole, mut parts, mut ids, mut standing) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for comparison in comparisons {
            let group = (comparison.scope.patient().0, self.tension_group(comparison.scope)?.to_vec());
            match &comparison.anew {
                None => whole.push(group),
                Some(anew) => {
                    parts.push(group);
                    ids.extend(anew.iter().map(|id| id.0));
                    standing.extend(comparison.stated.iter().map(|stated| stated.id.0));
                }
            }
        }
        let org = Arg::from(self.target.org.0);
        if !whole.is_empty() {
            self.tx.execute(&contradictions::DELETE_OF_GROUPS, vec![org.clone(), Arg::Pairs(whole)]).await?;
        }
        if !parts.is_empty() {
            let args = vec![org, Arg::Pairs(parts), Arg::Uuids(ids), Arg::Uuids(standing)];
            self.tx.execute(&sql::DELETE_COMPARED, args).await?;
        }
        Ok(())
    }

    /// A separate group, so that the projection of a clinical attribute leaves these pairs unchanged.
    fn tension_group(&self, scope: Scope) -> Result<KeyHash, StoreError> {
        Ok(self.keys_of(scope)?.hash("tensions", b""))
    }

    /// The active statements of each patient, newest first.
    async fn stated(&mut self, scopes: &BTreeSet<Scope>) -> Result<BTreeMap<Scope, Vec<ActiveStatement>>, StoreError> {
        let patients = Arg::Uuids(scopes.iter().map(|scope| scope.patient().0).collect());
        let most = Arg::I64(MOST as i64);
        let rows = self.tx.fetch_all(&sql::STATED, vec![self.target.org.0.into(), patients, most]).await?;
        let mut stated: BTreeMap<Scope, Vec<ActiveStatement>> = BTreeMap::new();
        for row in rows {
            let patient = row.uuid(sql::stated::PATIENT_ID)?;
            if let Some(scope) = scopes.iter().find(|scope| scope.patient().0 == patient) {
                stated.entry(*scope).or_default().extend(self.opened(*scope, &row)?);
            }
        }
        Ok(stated)
    }

    /// `None` for a memory without words.
    fn opened(&self, scope: Scope, row: &Row) -> Result<Option<ActiveStatement>, StoreError> {
        let keys = self.keys_of(scope)?;
        let id = row.uuid(sql::stated::ID)?;
        let Some(sealed) = row.opt_blob(sql::stated::CONTENT_SEALED)? else { return Ok(None) };
        let words: FindingWords = open_record(keys, memory_cell(id, "content"), &sealed)?;
        // An account repeats what others stated.
        if words.account.is_some() {
            return Ok(None);
        }
        let quote = row.opt_blob(sql::stated::EVIDENCE_SEALED)?.filter(|sealed| !sealed.is_empty());
        let quote = quote.map(|sealed| open_text(keys, memory_cell(id, "evidence"), &sealed)).transpose()?;
        let text = quote.unwrap_or(words.mention);
        Ok(Some(ActiveStatement {
            id: MemoryId(id),
            experiencer: Experiencer::from_code(&row.text(sql::stated::EXPERIENCER)?).ok_or(StoreError::Shape)?,
            person: words.person,
            valid_from: row.time(sql::stated::VALID_FROM)?,
            stems: content(&text),
            text,
        }))
    }

    fn tension_row(
        &self,
        scope: Scope,
        id: Uuid,
        kept: &ActiveStatement,
        claim: &ActiveStatement,
        type_: ContradictionType,
    ) -> Result<Vec<Arg>, StoreError> {
        let now = Arg::from(self.target.now);
        let row = contradictions::insert::Row {
            org_id: scope.org().0.into(),
            patient_id: scope.patient().0.into(),
            id: id.into(),
            group_hash: self.tension_group(scope)?.into(),
            kept_id: kept.id.0.into(),
            claim_id: claim.id.0.into(),
            r#type: type_.code().into(),
            state: "open".into(),
            found_at: claim.valid_from.into(),
            created_at: now.clone(),
            updated_at: now,
        };
        Ok(row.into())
    }
}

/// How words of four letters and more begin, folded: "swim" and "swimming" begin alike.
fn content(text: &str) -> BTreeSet<String> {
    let text = fold(text);
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
    words.map(|word| word.chars().take(4).collect()).collect()
}

/// The opposing pairs, the earlier statement first, that contain one of `anew`. A sentence that gave several memories
/// counts once.
fn pairs<'s>(
    stated: &'s [ActiveStatement],
    anew: Option<&BTreeSet<MemoryId>>,
) -> Vec<(&'s ActiveStatement, &'s ActiveStatement, ContradictionType)> {
    let mut texts = BTreeSet::new();
    let distinct = stated.iter().filter(|one| texts.insert(one.text.as_str()));
    let read = |one: &'s ActiveStatement| {
        (
            one,
            ParsedStatement::parse(ContradictionClaim {
                experiencer: Some(one.experiencer),
                ..ContradictionClaim::from_text(&one.text)
            }),
        )
    };
    let distinct: Vec<(&ActiveStatement, ParsedStatement<'_>)> = distinct.map(read).collect();
    let is_new = |one: &ActiveStatement| anew.is_none_or(|anew| anew.contains(&one.id));
    let policy = ContradictionPolicy::default();
    let mut found = Vec::new();
    for (at, (claim, claimed)) in distinct.iter().enumerate() {
        // Newest first: what follows was said before.
        let near = distinct[at + 1..].iter().filter(|(kept, _)| is_new(kept) || is_new(claim));
        let near = near.filter(|(kept, _)| kept.person == claim.person && !kept.stems.is_disjoint(&claim.stems));
        let opposed = near.filter_map(|(kept, said)| Some((*kept, *claim, said.opposition(claimed, &policy)?)));
        found.extend(opposed);
    }
    found
}
