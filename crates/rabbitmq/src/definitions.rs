//! RabbitMQ's definitions format: what we ship (`deploy/rabbitmq/definitions.json`), and what a broker exports, compared.
//! Bindings and policies cannot be asked for over AMQP; an export tells them.

use regex::Regex;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::names::Names;
use super::topology::{APPLY, ArgumentValue, RECREATE, Topology, TopologyDifference, former};

/// A policy: limits that an operator may change.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PolicySpec {
    pub(crate) name: String,
    pub(crate) pattern: String,
    pub(crate) definition: Map<String, Json>,
}

/// The shipped limits of an installation.
pub(crate) fn policies(names: &Names) -> Vec<PolicySpec> {
    let prefix = names.prefix();
    let escaped = prefix.replace('.', "\\.");
    let policy = |name: &str, pattern: String, definition: Json| PolicySpec {
        name: format!("{prefix}-{name}"),
        pattern,
        definition: definition.as_object().cloned().unwrap_or_default(),
    };
    vec![
        // The net below our own count of attempts. Requeues of a whole prefetch count against innocent messages too, so
        // it is wide; 4.x has 20 where nothing is said.
        policy("ingest", format!("^{escaped}\\.ingest\\.(realtime|bulk)$"), json!({"delivery-limit": 1000})),
        policy(
            "quarantine",
            format!("^{escaped}\\.quarantine$"),
            // Notices only: the quarantined messages are in the store, even if a notice is lost.
            json!({"max-length": 100_000, "overflow": "drop-head"}),
        ),
    ]
}

/// The file that `rabbitmqctl import_definitions` takes.
pub fn shipped(names: &Names) -> Json {
    let topology = Topology::new(names);
    let vhost = "/";
    let arguments = |list: &[(&'static str, ArgumentValue)]| -> Map<String, Json> {
        list.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
    };
    json!({
        "vhosts": [{"name": vhost}],
        "exchanges": topology.exchanges.iter().map(|exchange| json!({"name": exchange.name, "vhost": vhost,
            "type": "topic", "durable": true, "auto_delete": false, "internal": false, "arguments": {}}))
            .collect::<Vec<_>>(),
        "queues": topology.queues.iter().map(|queue| json!({"name": queue.name, "vhost": vhost, "durable": true,
            "auto_delete": false, "arguments": arguments(&queue.arguments)})).collect::<Vec<_>>(),
        "bindings": topology.bindings.iter().map(|binding| json!({"source": binding.exchange, "vhost": vhost,
            "destination": binding.queue, "destination_type": "queue", "routing_key": binding.routing_key,
            "arguments": {}})).collect::<Vec<_>>(),
        "policies": policies(names).iter().map(|policy| json!({"vhost": vhost, "name": policy.name,
            "pattern": policy.pattern, "apply-to": "queues", "definition": policy.definition, "priority": 1}))
            .collect::<Vec<_>>(),
    })
}

/// The users of an installation: one for workers, and one for producers that may only publish to the intake. Neither has
/// a password, and no login is possible before one is set from outside (`rabbitmqctl change_password`). For more
/// producers the second is repeated under other names.
pub fn users(names: &Names) -> Json {
    let prefix = names.prefix();
    let escaped = prefix.replace('.', "\\.");
    let vhost = "/";
    let (worker, producer) = (format!("{prefix}-worker"), format!("{prefix}-producer"));
    let user = |name: &str| json!({"name": name, "password_hash": "", "hashing_algorithm": "rabbit_password_hashing_sha256", "tags": []});
    let own = format!("^{escaped}\\.");
    let (intake, nothing) = (format!("^{escaped}\\.ingest$"), "^$");
    json!({
        "vhosts": [{"name": vhost}],
        "users": [user(&worker), user(&producer)],
        // Dead letters of the intake go through the default exchange, which a queue's owner must be allowed to use.
        "permissions": [
            {"user": worker, "vhost": vhost, "configure": own, "write": format!("{own}|^amq\\.default$"), "read": own},
            {"user": producer, "vhost": vhost, "configure": nothing, "write": intake, "read": nothing},
        ],
        // Messages that return from a delay queue have keys of their own. Producers may not use these keys.
        "topic_permissions": [
            {"user": producer, "vhost": vhost, "exchange": names.ingest(), "write": "^(realtime|bulk)\\.", "read": nothing},
        ],
    })
}

/// What a broker exports: `rabbitmqctl export_definitions -`, or `GET /api/definitions/VHOST`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BrokerExport {
    exchanges: Vec<ExportedEntity>,
    queues: Vec<ExportedEntity>,
    bindings: Vec<ExportedBinding>,
    policies: Vec<ExportedPolicy>,
}

#[derive(Debug, Deserialize)]
struct ExportedEntity {
    name: String,
    vhost: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    arguments: Map<String, Json>,
}

#[derive(Debug, Deserialize)]
struct ExportedBinding {
    source: String,
    vhost: Option<String>,
    destination: String,
    #[serde(default)]
    routing_key: String,
}

#[derive(Debug, Deserialize)]
struct ExportedPolicy {
    name: String,
    vhost: Option<String>,
    pattern: String,
    #[serde(default, rename = "apply-to")]
    apply_to: Option<String>,
    #[serde(default)]
    priority: i64,
    #[serde(default)]
    definition: Map<String, Json>,
}

impl ExportedPolicy {
    /// Whether it applies to a quorum queue of this name. A pattern that cannot be read here may.
    fn applies_to(&self, queue: &str) -> bool {
        let kind = self.apply_to.as_deref().is_none_or(|kind| matches!(kind, "queues" | "quorum_queues" | "all"));
        kind && Regex::new(&self.pattern).map_or(true, |pattern| pattern.is_match(queue))
    }
}

/// Everything by which an exported broker differs from what we ship, in one virtual host.
///
/// # Errors
/// When the export is not RabbitMQ's definitions format.
pub fn compare(names: &Names, vhost: &str, exported: &[u8]) -> Result<Vec<TopologyDifference>, serde_json::Error> {
    let mut there: BrokerExport = serde_json::from_slice(exported)?;
    // An export of one virtual host leaves its name out.
    let ours = |of: &Option<String>| of.as_deref().is_none_or(|name| name == vhost);
    there.exchanges.retain(|one| ours(&one.vhost));
    there.queues.retain(|one| ours(&one.vhost));
    there.bindings.retain(|one| ours(&one.vhost));
    there.policies.retain(|one| ours(&one.vhost));
    let topology = Topology::new(names);
    let mut found = Vec::new();
    exchanges(&topology, &there, &mut found);
    queues(names, &topology, &there, &mut found);
    bindings(names, &topology, &there, &mut found);
    limits(names, &topology, &there, &mut found);
    if there.queues.iter().any(|queue| queue.name == names.former_catch_all()) {
        found.push(former(&names.former_catch_all()));
    }
    Ok(found)
}

fn difference(kind: &'static str, name: &str, problem: impl Into<String>, remedy: &'static str) -> TopologyDifference {
    TopologyDifference { kind, name: name.to_owned(), problem: problem.into(), remedy }
}

fn exchanges(topology: &Topology, there: &BrokerExport, found: &mut Vec<TopologyDifference>) {
    for exchange in &topology.exchanges {
        match there.exchanges.iter().find(|one| one.name == exchange.name) {
            None => found.push(difference("exchange", &exchange.name, "is not there", APPLY)),
            Some(one) if one.kind.as_deref() != Some("topic") => {
                found.push(difference("exchange", &exchange.name, "is not a topic exchange", RECREATE));
            }
            Some(_) => {}
        }
    }
}

fn queues(names: &Names, topology: &Topology, there: &BrokerExport, found: &mut Vec<TopologyDifference>) {
    let mut needs_retired = false;
    for queue in &topology.queues {
        let Some(one) = there.queues.iter().find(|one| one.name == queue.name) else {
            found.push(difference("queue", &queue.name, "is not there", APPLY));
            continue;
        };
        let has = |(name, wanted): &(&'static str, ArgumentValue)| one.arguments.get(*name) == Some(&json!(wanted));
        if queue.earlier.as_ref().is_some_and(|earlier| earlier.iter().all(has)) {
            needs_retired = true;
            continue;
        }
        for (name, wanted) in &queue.arguments {
            let current = one.arguments.get(*name);
            if current != Some(&json!(wanted)) {
                let current = current.map_or_else(|| "nothing".to_owned(), Json::to_string);
                let problem = format!("`{name}` is {current} and should be {}", json!(wanted));
                found.push(difference("queue", &queue.name, problem, RECREATE));
            }
        }
    }
    let retired = names.retired_poison();
    if needs_retired && !there.queues.iter().any(|one| one.name == retired) {
        found.push(difference("queue", &retired, "is not there: dead letters of the intake queues need it", APPLY));
    }
}

const UNBIND: &str = "this program does not use it: remove it, unless another subscriber does";

fn bindings(names: &Names, topology: &Topology, there: &BrokerExport, found: &mut Vec<TopologyDifference>) {
    let name = |exchange: &str, queue: &str, key: &str| format!("{exchange} → {queue} ({key})");
    for wanted in &topology.bindings {
        let bound = there.bindings.iter().any(|one| {
            one.source == wanted.exchange && one.destination == wanted.queue && one.routing_key == wanted.routing_key
        });
        if !bound {
            let name = name(&wanted.exchange, &wanted.queue, &wanted.routing_key);
            found.push(difference("binding", &name, "is not there: such messages come back to their sender", APPLY));
        }
    }
    let queues = [names.queue(super::Queue::Realtime), names.queue(super::Queue::Bulk)];
    for one in there.bindings.iter().filter(|one| queues.contains(&one.destination) && !one.source.is_empty()) {
        let ours = topology
            .bindings
            .iter()
            .any(|b| b.exchange == one.source && b.queue == one.destination && b.routing_key == one.routing_key);
        if !ours {
            let name = name(&one.source, &one.destination, &one.routing_key);
            found.push(difference("binding", &name, "leads more into an intake than the contract says", UNBIND));
        }
    }
}

const IMPORT: &str = "rabbitmqctl import_definitions deploy/rabbitmq/definitions.json";

const OUTRANKED: &str = "a queue has one policy: lower the other's priority, or narrow its pattern";

fn limits(names: &Names, topology: &Topology, there: &BrokerExport, found: &mut Vec<TopologyDifference>) {
    for wanted in policies(names) {
        let Some(one) = there.policies.iter().find(|one| one.name == wanted.name) else {
            found.push(difference("policy", &wanted.name, "is not there: its queues have the broker's limits", IMPORT));
            continue;
        };
        if one.pattern != wanted.pattern {
            found.push(difference("policy", &wanted.name, "applies to other queues", IMPORT));
        }
        for (key, value) in &wanted.definition {
            let current = one.definition.get(key);
            if current != Some(value) {
                let current = current.map_or_else(|| "nothing".to_owned(), Json::to_string);
                let problem = format!("`{key}` is {current}; shipped is {value}");
                found.push(difference("policy", &wanted.name, problem, IMPORT));
            }
        }
        // Of all policies that match a queue only the one of the highest priority applies.
        let ours = topology.queues.iter().filter(|queue| one.applies_to(&queue.name));
        let outranked = ours.filter_map(|queue| {
            let mut rivals = there.policies.iter().filter(|rival| rival.name != one.name);
            rivals.find(|rival| rival.applies_to(&queue.name) && rival.priority >= one.priority).map(|r| (queue, r))
        });
        for (queue, rival) in outranked {
            let problem = format!("`{}` applies to `{}` instead", rival.name, queue.name);
            found.push(difference("policy", &wanted.name, problem, OUTRANKED));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(change: impl FnOnce(&mut Json)) -> Vec<String> {
        let names = Names::new("anamnesis");
        let mut export = shipped(&names);
        change(&mut export);
        let found = compare(&names, "/", export.to_string().as_bytes()).unwrap();
        found.into_iter().map(|one| format!("{} {}: {}", one.kind, one.name, one.problem)).collect()
    }

    #[test]
    fn a_broker_with_what_we_ship_differs_in_nothing() {
        assert_eq!(compared(|_| ()), Vec::<String>::new());
    }

    #[test]
    fn every_thing_that_is_missing_or_changed_is_told() {
        for part in ["exchanges", "queues", "bindings", "policies"] {
            let count = shipped(&Names::new("anamnesis"))[part].as_array().unwrap().len();
            for at in 0..count {
                let differences = compared(|export| drop(export[part].as_array_mut().unwrap().remove(at)));
                assert_eq!(differences.len(), 1, "{part} {at}: {differences:?}");
            }
        }
        let differences = compared(|export| export["queues"][0]["arguments"]["x-queue-type"] = json!("classic"));
        assert_eq!(differences.len(), 1);
        assert!(differences[0].contains("`x-queue-type` is \"classic\" and should be \"quorum\""), "{differences:?}");
        let differences = compared(|export| export["policies"][0]["definition"]["delivery-limit"] = json!(3));
        assert!(differences[0].contains("`delivery-limit` is 3; shipped is 1000"), "{differences:?}");
    }

    #[test]
    fn a_binding_too_many_into_an_intake_is_told() {
        let differences = compared(|export| {
            let stray = json!({"source": "amq.topic", "vhost": "/", "destination": "anamnesis.ingest.bulk",
                "destination_type": "queue", "routing_key": "#", "arguments": {}});
            export["bindings"].as_array_mut().unwrap().push(stray);
        });
        assert_eq!(differences.len(), 1, "{differences:?}");
    }

    #[test]
    fn a_policy_that_another_one_outranks_does_not_apply() {
        let rival = |priority: i64, kind: &str, pattern: &str| {
            let rival = json!({"vhost": "/", "name": "ha-all", "pattern": pattern, "apply-to": kind,
                "definition": {"max-length": 5}, "priority": priority});
            compared(|export| export["policies"].as_array_mut().unwrap().push(rival))
        };
        let differences = rival(10, "all", ".*");
        assert_eq!(differences.len(), 3, "one for each queue with limits: {differences:?}");
        assert!(differences[0].contains("`ha-all` applies to `anamnesis.ingest.realtime` instead"), "{differences:?}");
        assert_eq!(rival(1, "queues", "quarantine$").len(), 1, "of two alike it is unknown which one applies");
        assert_eq!(rival(0, "all", ".*"), Vec::<String>::new());
        assert_eq!(rival(10, "exchanges", ".*"), Vec::<String>::new());
        assert_eq!(rival(10, "queues", "^other\\."), Vec::<String>::new());
    }

    #[test]
    fn the_catch_all_of_an_earlier_version_is_told_and_the_one_of_today_has_a_limit() {
        let differences = compared(|export| {
            let queue = json!({"name": "anamnesis.events.mailbox", "vhost": "/", "durable": true, "arguments": {}});
            export["queues"].as_array_mut().unwrap().push(queue);
        });
        assert_eq!(differences.len(), 1);
        assert!(differences[0].contains("without a limit"), "{differences:?}");
        let differences = compared(|export| {
            let queues = export["queues"].as_array_mut().unwrap();
            let queue = queues.iter_mut().find(|queue| queue["name"] == "anamnesis.events.catch_all").unwrap();
            queue["arguments"].as_object_mut().unwrap().remove("x-max-length-bytes").unwrap();
        });
        assert!(differences[0].contains("`x-max-length-bytes` is nothing and should be 268435456"), "{differences:?}");
    }

    #[test]
    fn intake_queues_of_version_0_2_are_no_difference_while_the_retired_queue_is_there() {
        let earlier = |export: &mut Json| {
            for at in 0..2 {
                export["queues"][at]["arguments"]["x-dead-letter-routing-key"] = json!("anamnesis.ingest.parked");
            }
        };
        let retired = json!({"name": "anamnesis.ingest.parked", "vhost": "/", "durable": true,
            "arguments": {"x-queue-type": "quorum"}});
        let differences = compared(|export| {
            earlier(export);
            export["queues"].as_array_mut().unwrap().push(retired);
        });
        assert_eq!(differences, Vec::<String>::new());
        let differences = compared(earlier);
        assert_eq!(differences.len(), 1, "{differences:?}");
        assert!(differences[0].starts_with("queue anamnesis.ingest.parked: is not there"), "{differences:?}");
    }

    #[test]
    fn what_another_virtual_host_has_does_not_count() {
        let names = Names::new("anamnesis");
        let export = shipped(&names).to_string();
        assert!(compare(&names, "other", export.as_bytes()).unwrap().len() > 20);
    }
}
