//! Seals the audit trail: entries since the last block become a block, and its head is written to the file of heads and
//! to the gauge. Several workers may do it concurrently; one of them writes each block. Once a day every chain is
//! checked from its first block to its last, against the stored heads.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::gate::KeyGate;
use crate::cli::app::App;
use crate::cli::audit::{read_heads, term_began};
use anamnesis_core::audit::{ChainVerdict, Head, gauge};
use anamnesis_core::ids::OrgId;
use anamnesis_store::StoreError;

/// Between two checks of every chain.
const CHECKED_EVERY: Duration = Duration::from_secs(86_400);

/// Seals until the process drains, and once more then.
pub(super) async fn seal(app: &App, gate: &KeyGate, draining: CancellationToken) {
    let pause = Duration::from_secs(app.settings.audit.seal_seconds.clamp(5, 86_400));
    // The block of each chain whose head is in the file: what could not be appended is appended later.
    let mut kept = BTreeMap::new();
    let mut checked: Option<Instant> = None;
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = draining.cancelled() => {
                seal_chains(app, &mut kept).await;
                return;
            }
        }
        if gate.keys_unavailable().await {
            continue;
        }
        seal_chains(app, &mut kept).await;
        if checked.is_none_or(|at| at.elapsed() >= CHECKED_EVERY) && check(app).await {
            checked = Some(Instant::now());
        }
    }
}

/// Checks every chain from its first block to its last; `false` if one could not be read.
async fn check(app: &App) -> bool {
    let file = &app.settings.audit.head_file;
    let heads = if file.exists() { read_heads(file) } else { Ok(Vec::new()) };
    let (Ok(heads), Ok(began)) = (heads, term_began(app, app.clock.now())) else {
        tracing::warn!(code = "audit_heads", "the file of heads cannot be read: the audit trail is not checked");
        return false;
    };
    let Ok(orgs) = app.store.audit_trail().audited_organizations().await else { return false };
    let mut faults = 0;
    for org in orgs {
        match app.store.audit_trail().check_audit(org, &heads, began).await {
            Ok(report) if matches!(report.verdict, ChainVerdict::Invalid | ChainVerdict::Diverged) => {
                faults += report.faults.max(1);
                tracing::error!(code = "audit_broken", %org, verdict = %report.verdict, "the audit trail was changed");
            }
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(code = "audit", %error, "a chain of the audit trail could not be checked");
                return false;
            }
        }
    }
    app.metrics.store.audit_faults.set(i64::try_from(faults).unwrap_or(i64::MAX));
    true
}

/// One chain that cannot be sealed stops no other.
async fn seal_chains(app: &App, kept: &mut BTreeMap<OrgId, u64>) {
    let (store, metrics) = (&app.store, &app.metrics.store);
    let unsealed =
        |error: StoreError| tracing::warn!(code = "audit", %error, "a chain of the audit trail is not sealed");
    let orgs = match store.audit_trail().audited_organizations().await {
        Ok(orgs) => orgs,
        Err(error) => return unsealed(error),
    };
    let mut whole = true;
    for org in &orgs {
        match store.audit_trail().seal_audit(*org).await {
            Ok(sealed) => {
                metrics.audit_sealed.inc_by(sealed.entries);
                metrics.audit_forged.inc_by(sealed.not_authentic);
                if sealed.not_authentic > 0 {
                    let forged = sealed.not_authentic;
                    tracing::error!(
                        code = "audit_not_authentic",
                        forged,
                        "entries of the audit trail were changed or forged"
                    );
                }
            }
            Err(error) => {
                whole = false;
                unsealed(error);
            }
        }
    }
    let now = app.clock.now();
    let heads = match store.audit_trail().audit_heads(&orgs, now).await {
        Ok(heads) => heads,
        Err(error) => return unsealed(error),
    };
    metrics.audit_head.set(i64::try_from(gauge(&heads)).unwrap_or_default());
    if whole {
        metrics.audit_sealed_at.set(now.timestamp());
    }
    let new: Vec<&Head> = heads.iter().filter(|head| kept.get(&head.org) != Some(&head.block)).collect();
    match append(&app.settings.audit.head_file, &new) {
        Ok(()) => kept.extend(heads.iter().map(|head| (head.org, head.block))),
        Err(error) => {
            tracing::warn!(code = "audit_heads", kind = ?error.kind(), "heads of the audit trail are not in audit.head_file");
        }
    }
    if let Ok(before) = term_began(app, now)
        && let Err(error) = store.audit_trail().purge_platform_audit(before).await
    {
        unsealed(error);
    }
}

/// Lines are appended whole, and are on the disk when this returns.
fn append(file: &Path, heads: &[&Head]) -> std::io::Result<()> {
    if file.as_os_str().is_empty() || heads.is_empty() {
        return Ok(());
    }
    let mut lines = String::new();
    for head in heads {
        lines.push_str(&serde_json::to_string(head)?);
        lines.push('\n');
    }
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    file.write_all(lines.as_bytes())?;
    file.sync_data()
}
