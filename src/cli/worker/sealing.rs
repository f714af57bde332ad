//! Seals the audit trail: what was written since the last block becomes a block, its head goes to the file of heads and to the
//! gauge. Several workers may do it at once; one of them makes each block.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::gate::Gate;
use crate::cli::audit::term_began;
use crate::cli::world::World;
use anamnesis_core::audit::{Head, gauge};
use anamnesis_store::StoreError;

/// Seals until the process drains, and once more then.
pub(super) async fn seal(world: &World, gate: &Gate, draining: CancellationToken) {
    let pause = Duration::from_secs(world.settings.audit.seal_seconds.clamp(5, 86_400));
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = draining.cancelled() => {
                once(world).await;
                return;
            }
        }
        if !gate.is_shut().await {
            once(world).await;
        }
    }
}

async fn once(world: &World) {
    match look(world).await {
        Ok(0) => {}
        Ok(forged) => {
            tracing::error!(code = "audit_not_authentic", forged, "entries of the audit trail were changed or forged")
        }
        Err(error) => tracing::warn!(code = "audit", %error, "the audit trail is not sealed"),
    }
}

/// How many entries are not authentic.
async fn look(world: &World) -> Result<u64, StoreError> {
    let (store, metrics) = (&world.store, &world.metrics.store);
    let (mut forged, mut grown) = (0, Vec::new());
    let orgs = store.audited_organizations().await?;
    for org in &orgs {
        let sealed = store.seal_audit(*org).await?;
        metrics.audit_sealed.inc_by(sealed.entries);
        metrics.audit_forged.inc_by(sealed.not_authentic);
        forged += sealed.not_authentic;
        if sealed.entries > 0 {
            grown.push(*org);
        }
    }
    let now = world.clock.now();
    let heads = store.audit_heads(&orgs, now).await?;
    metrics.audit_head.set(i64::try_from(gauge(&heads)).unwrap_or_default());
    metrics.audit_sealed_at.set(now.timestamp());
    let new: Vec<&Head> = heads.iter().filter(|head| grown.contains(&head.org)).collect();
    if let Err(error) = append(&world.settings.audit.head_file, &new) {
        tracing::warn!(code = "audit_heads", kind = ?error.kind(), "heads of the audit trail are not in audit.head_file");
    }
    if let Ok(before) = term_began(world, now) {
        store.purge_platform_audit(before).await?;
    }
    Ok(forged)
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
