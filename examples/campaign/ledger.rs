//! What the run that nothing disturbed left, and what the other one did.

use std::collections::BTreeSet;
use std::process::Command;

use anamnesis_core::audit::{ChainVerdict, VIA};
use anamnesis_core::memory::State;
use anamnesis_rabbitmq::{BrokerConnection, ConnectionRole, Names};
use anamnesis_store::Store;
use anamnesis_store::audit_trail::AuditFilter;
use anamnesis_store::digest::StoreDigest;
use anamnesis_store::quarantine::{ContentView, QuarantineAction};
use anamnesis_store::read::{MemoryFilter, ReadInstant, TimeWindow};
use chrono::DateTime;
use lapin::options::BasicGetOptions;
use uuid::Uuid;

use crate::Outcome;
use crate::keystore::verb;
use crate::messages::Messages;
use crate::servers::Servers;
use crate::workers::program;

/// The actor that opens quarantined messages.
const LOOKER: &str = "campaign";

/// The end of the calm run.
pub(crate) struct Calm {
    digest: StoreDigest,
    /// The audit trail of its messages.
    trail: BTreeSet<String>,
    /// Ids of quarantined messages; an id depends on the content and the reason.
    quarantined: BTreeSet<Uuid>,
}

/// What was found after the rage.
pub(crate) struct Found {
    pub(crate) lost: u64,
    pub(crate) duplicated: u64,
    pub(crate) innocent: u64,
    /// Patients and quarantined messages of which something does not open.
    pub(crate) unreadable: u64,
    pub(crate) poison: u64,
    pub(crate) events: u64,
    pub(crate) events_missing: u64,
    pub(crate) differs: Vec<String>,
    expected_poison: u64,
}

impl Calm {
    /// Messages that were stored, and messages that were quarantined.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.digest.tables.get("inbox").map_or(0, |table| table.rows), self.quarantined.len() as u64)
    }
}

impl Found {
    pub(crate) fn is_right(&self) -> bool {
        let nothing = self.lost + self.duplicated + self.innocent + self.unreadable + self.events_missing == 0;
        nothing && self.differs.is_empty() && self.poison == self.expected_poison
    }
}

/// Ingests everything once, in order, with nothing in the way.
pub(crate) async fn calm(servers: &Servers, messages: &Messages) -> Outcome<Calm> {
    let provider = Servers::calm_provider().await?;
    let file = servers.path().join("calm.ndjson");
    let mut text = messages.calm.join(&b'\n');
    text.push(b'\n');
    std::fs::write(&file, text)?;
    let environment = servers.calm_environment("calm");
    verb(&["keys", "init"], &environment)?;
    let mut command = Command::new(program()?);
    command.arg("ingest").arg(&file).args(["--output", "json"]).envs(environment);
    let ended = command.env("ANAMNESIS__EMBEDDING__URL", provider.openai_url()).output()?;
    if !matches!(ended.status.code(), Some(0 | 3)) {
        return Err(format!("the calm run failed: {}", String::from_utf8_lossy(&ended.stderr)).into());
    }
    let store = servers.store(true).await?;
    let (digest, trail) = (store.read().digest(None).await?, trail(&store).await?);
    let calm = Calm { digest, trail, quarantined: quarantined(&store).await?.into_iter().collect() };
    store.close().await;
    Ok(calm)
}

async fn quarantined(store: &Store) -> Outcome<Vec<Uuid>> {
    let rows = store.quarantined().messages("", "", 1_000_000).await?;
    Ok(rows.into_iter().map(|row| row.id).collect())
}

pub(crate) async fn found(servers: &Servers, calm: &Calm, messages: &Messages) -> Outcome<Found> {
    let store = servers.store(false).await?;
    let unreadable = unreadable(&store, messages).await?;
    if unreadable > 0 {
        // The digest would end at the first of them.
        let stored = servers.stored().await?.len() as u64;
        store.close().await;
        let (lost, duplicated) = (messages.good.saturating_sub(stored), stored.saturating_sub(messages.good));
        let differs = vec!["unreadable".to_owned()];
        let (events, events_missing, expected_poison) = (0, 0, messages.poison);
        let (innocent, poison) = (0, 0);
        let found =
            Found { lost, duplicated, innocent, unreadable, poison, events, events_missing, differs, expected_poison };
        return Ok(found);
    }
    let digest = store.read().digest(None).await?;
    let rows = |digest: &StoreDigest, table: &'static str| digest.tables.get(table).map_or(0, |table| table.rows);
    // The outbox says how memory came to be, which depends on who was first; quarantine is compared by its ids, and the audit
    // trail without what was looked at here.
    let compared = |table: &str| !["outbox", "quarantine", "action_audit"].contains(&table);
    let mut differs: Vec<String> = calm
        .digest
        .tables
        .iter()
        .filter(|(table, expected)| compared(table) && digest.tables.get(*table) != Some(expected))
        .map(|(table, _)| (*table).to_owned())
        .collect();
    if trail(&store).await? != calm.trail {
        differs.push("action_audit".to_owned());
    }
    let lost = messages.good.saturating_sub(rows(&digest, "inbox"));
    let duplicated = rows(&digest, "inbox").saturating_sub(messages.good)
        + rows(&digest, "documents").saturating_sub(rows(&calm.digest, "documents"));
    let listed = store.quarantined().messages("", "", 1_000_000).await?;
    let known = listed.iter().filter(|one| calm.quarantined.contains(&one.id)).count() as u64;
    let deadly = listed.iter().filter(|one| one.reason == "crash_suspect").count() as u64;
    let innocent = listed.len() as u64 - known - deadly.min(1);
    let (heard, mut missing) = (events(servers).await?, 0);
    let mut expected = 0;
    for org in store.stats().every_organization().await? {
        for id in store.outbox().event_ids(org).await? {
            expected += 1;
            missing += u64::from(!heard.contains(&id));
        }
    }
    // Last: what is sealed here is announced by nobody.
    if !trail_holds(&store).await? {
        differs.push("audit_block".to_owned());
    }
    store.close().await;
    let (poison, expected_poison) = (known + deadly.min(1), messages.poison);
    let events = expected;
    Ok(Found {
        lost,
        duplicated,
        innocent,
        unreadable,
        poison,
        events,
        events_missing: missing,
        differs,
        expected_poison,
    })
}

/// What was done to whom by whom, of every organisation, but for what was looked at here.
async fn trail(store: &Store) -> Outcome<BTreeSet<String>> {
    let mut trail = BTreeSet::new();
    for org in store.stats().every_organization().await? {
        let which = AuditFilter {
            org,
            patient: None,
            action: String::new(),
            actor: String::new(),
            since: DateTime::UNIX_EPOCH,
            until: DateTime::from_timestamp_secs(u32::MAX.into()).unwrap_or_default(),
            most: 10_000_000,
        };
        for one in store.audit_trail().audit_entries(&which).await?.into_iter().filter(|one| one.actor != LOOKER) {
            // The calm run is an operator's: nobody stands between a person and the store.
            let actor = one.actor.split(VIA).next().unwrap_or_default();
            let (who, on) = ((actor, one.role), (one.patient_id, one.subject_id));
            trail.insert(format!("{org} {} {who:?} {} {on:?} {}", one.id, one.action, one.outcome));
        }
    }
    Ok(trail)
}

/// The chain of every organisation is whole, and of the store's own key.
async fn trail_holds(store: &Store) -> Outcome<bool> {
    let mut holds = true;
    for org in store.audit_trail().audited_organizations().await? {
        store.audit_trail().seal_audit(org).await?;
        let report = store.audit_trail().check_audit(org, &[], DateTime::UNIX_EPOCH).await?;
        if report.verdict == ChainVerdict::Invalid {
            eprintln!("the audit trail of {org} is not whole: {} faults", report.faults);
            holds = false;
        }
    }
    Ok(holds)
}

/// Reads everything of every patient, and every quarantined message.
async fn unreadable(store: &Store, messages: &Messages) -> Outcome<u64> {
    let mut unreadable = 0;
    for scope in messages.patients() {
        let all = MemoryFilter { states: State::ALL.to_vec(), ..MemoryFilter::default() };
        let read = async {
            store.read().profile(scope).await?;
            store.read().preferences(scope, ReadInstant::Now).await?;
            store.read().risks(scope, ReadInstant::Now).await?;
            store.read().documents(scope, TimeWindow::default(), usize::MAX, ReadInstant::Now).await?;
            store.read().clinical(scope, ReadInstant::Now).await?;
            store.read().memories(scope, &all, ReadInstant::Now).await.map(drop)
        };
        if let Err(error) = read.await {
            eprintln!("a patient cannot be read: {error}");
            unreadable += 1;
        }
    }
    for id in quarantined(store).await? {
        unreadable += u64::from(
            store.quarantined().open_message(id, LOOKER, QuarantineAction::Shown(ContentView::Nothing)).await.is_err(),
        );
    }
    Ok(unreadable)
}

/// The ids of all events that left, from the catch-all queue: nobody else subscribes.
async fn events(servers: &Servers) -> Outcome<BTreeSet<Uuid>> {
    let link = BrokerConnection::open(&servers.config, ConnectionRole::Topology).await?;
    let channel = link.channel().await?;
    let catch_all = Names::new(&servers.config.prefix).catch_all();
    let mut heard = BTreeSet::new();
    while let Some(got) = channel.basic_get(catch_all.as_str().into(), BasicGetOptions { no_ack: true }).await? {
        if let Some(id) = got.properties.message_id() {
            heard.insert(id.as_str().parse()?);
        }
    }
    link.close().await;
    Ok(heard)
}
