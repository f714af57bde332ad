//! RabbitMQ: reachable, with the topology and limits that are shipped, rights to publish, and a consumer.

use secrecy::ExposeSecret as _;

use super::Doctor;
use crate::cli::topology::fetched;
use anamnesis_rabbitmq::topology::{Topology, TopologyDifference, counts, may_publish, retry_key_of_a_worker};
use anamnesis_rabbitmq::{BrokerConnection, BrokerError, ConnectionRole, Names, Queue, definitions};

/// Messages of the catch-all queue from which it is nearly full.
const NEARLY_FULL: u32 = 90_000;

pub(super) async fn check(doctor: &mut Doctor) {
    if !doctor.settings.broker.is_set() {
        return doctor.skip("broker", "broker.url is not set: there is none");
    }
    let link = match BrokerConnection::open(&doctor.settings.broker, ConnectionRole::Topology).await {
        Ok(link) => link,
        Err(error) => return refused(doctor, &error),
    };
    let names = Names::new(&doctor.settings.broker.prefix);
    let asked = asked(doctor, &link, &names).await;
    link.close().await;
    if let Err(error) = asked {
        refused(doctor, &error);
    }
    for check in ["broker", "topology", "queues"] {
        doctor.done(check);
    }
}

async fn asked(doctor: &mut Doctor, link: &BrokerConnection, names: &Names) -> Result<(), BrokerError> {
    let mut found = Topology::new(names).differences(link).await?;
    let exported = exported(doctor, names).await;
    // The export says the same of exchanges and queues.
    let known = |found: &[TopologyDifference], one: &TopologyDifference| {
        found.iter().any(|f| f.kind == one.kind && f.name == one.name)
    };
    for one in exported {
        if !known(&found, &one) {
            found.push(one);
        }
    }
    let missing = found.iter().any(|one| one.kind == "exchange");
    for one in found {
        let code = match one.kind {
            "policy" => "topology_policy",
            _ if one.problem.starts_with("is not there") => "topology_missing",
            _ => "topology_differs",
        };
        doctor.found(code, format!("{} {}: {}", one.kind, one.name, one.problem));
    }
    if !missing {
        let targets =
            [(names.retry(), retry_key_of_a_worker()), (names.events(), "anamnesis.memory.changed.v1".to_owned())];
        for (exchange, key) in targets {
            if !may_publish(link, &exchange, &key).await? {
                doctor.found("broker_publish", format!("exchange {exchange}: the user of broker.url may not publish"));
            }
        }
    }
    queues(doctor, link, names).await
}

/// Bindings and policies, where the management API is configured.
async fn exported(doctor: &mut Doctor, names: &Names) -> Vec<TopologyDifference> {
    let config = doctor.settings.broker.clone();
    if config.management_url.expose_secret().is_empty() {
        doctor.skip("topology", "bindings and policies are not seen: broker.management_url is not set");
        return Vec::new();
    }
    let vhost = vhost(config.url.expose_secret());
    match fetched(&config, &vhost).await {
        Ok(bytes) => definitions::compare(names, &vhost, &bytes.unwrap_or_default()).unwrap_or_else(|_| {
            doctor.found("broker_management", "broker.management_url: the answer is not RabbitMQ's definitions format");
            Vec::new()
        }),
        Err(failure) => {
            doctor.found("broker_management", failure.to_string());
            Vec::new()
        }
    }
}

/// The virtual host of an address: its path, decoded; `/` where there is none.
fn vhost(url: &str) -> String {
    let path = url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
    let path = path.split('?').next().unwrap_or_default();
    if path.is_empty() { "/".to_owned() } else { path.replace("%2f", "/").replace("%2F", "/") }
}

async fn queues(doctor: &mut Doctor, link: &BrokerConnection, names: &Names) -> Result<(), BrokerError> {
    for queue in [Queue::Realtime, Queue::Bulk] {
        let name = names.queue(queue);
        if let Some((waiting @ 1.., 0)) = counts(link, &name).await? {
            doctor.found("no_consumer", format!("queue {name}: {waiting} messages wait and nothing consumes them"));
        }
    }
    for name in [names.queue(Queue::Poison), names.retired_poison()] {
        if let Some((waiting @ 1.., 0)) = counts(link, &name).await? {
            doctor.found("messages_dead_lettered", format!("queue {name}: {waiting} messages"));
        }
    }
    if let Some(retired) = Topology::new(names).retired_queue(link).await? {
        doctor.found("queue_retired", retired.describe());
    }
    let name = names.catch_all();
    match counts(link, &name).await? {
        Some((NEARLY_FULL.., _)) => doctor.found("catch_all_full", format!("queue {name} is nearly full")),
        Some((waiting @ 1.., _)) => doctor.found("catch_all_waiting", format!("queue {name}: {waiting} events")),
        _ => {}
    }
    Ok(())
}

fn refused(doctor: &mut Doctor, error: &BrokerError) {
    let code = match error {
        // Found before, by the rules of the configuration.
        BrokerError::Url => "config_rule",
        BrokerError::Certificate { .. } => "broker_certificate",
        BrokerError::Untrusted { .. } => "broker_untrusted",
        BrokerError::Refused => "broker_refused",
        BrokerError::NoVhost => "broker_vhost",
        BrokerError::Forbidden { .. } => "broker_forbidden",
        BrokerError::Missing => "topology_missing",
        BrokerError::Mismatch { .. } => "topology_differs",
        _ => "broker_unreachable",
    };
    doctor.found(code, error.to_string());
}
