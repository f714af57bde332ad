//! Which producer may speak for which organisation (contract.md, "Messages in"). The organisation is taken from the
//! data, the producer from the envelope: a producer that writes another tenant's id is stopped here.

use std::collections::{HashMap, HashSet};

use super::refusal::{Problem, Refusal};
use crate::config::intake::{IntakeConfig, UnknownOrganizations};
use crate::domain::ids::OrgId;
use crate::domain::reason::Reason;

/// What to do with an organisation that a message names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It is registered.
    Known,
    /// It is new and the configuration lets it in: register it first.
    Register,
}

/// The bindings of the configuration, ready to be asked for each message.
#[derive(Debug, Clone)]
pub struct Bindings {
    /// `None`: no producer is bound and any may speak for any organisation.
    allowed: Option<HashMap<String, HashSet<OrgId>>>,
    unknown: UnknownOrganizations,
}

impl Bindings {
    pub fn new(config: &IntakeConfig) -> Self {
        let mut allowed: HashMap<String, HashSet<OrgId>> = HashMap::new();
        for producer in &config.producers {
            allowed.entry(producer.source.clone()).or_default().extend(&producer.organizations);
        }
        Self { allowed: (!allowed.is_empty()).then_some(allowed), unknown: config.unknown_organizations }
    }

    /// Judges one message by its source and organisation. `registered` asks the store.
    ///
    /// # Errors
    /// `organization_mismatch` when the source is not bound to the organisation, `unknown_organization` when it is not
    /// registered and may not be.
    pub fn admit(
        &self,
        source: &str,
        organization: OrgId,
        registered: impl FnOnce(OrgId) -> bool,
    ) -> Result<Admission, Refusal> {
        let bound = match &self.allowed {
            None => true,
            Some(allowed) => allowed.get(source).is_some_and(|organizations| organizations.contains(&organization)),
        };
        if !bound {
            return Err(refusal(Reason::OrganizationMismatch, Problem::UnboundProducer));
        }
        match (registered(organization), self.unknown) {
            (true, _) => Ok(Admission::Known),
            (false, UnknownOrganizations::Register) => Ok(Admission::Register),
            (false, UnknownOrganizations::Refuse) => {
                Err(refusal(Reason::UnknownOrganization, Problem::UnregisteredOrganization))
            }
        }
    }
}

fn refusal(reason: Reason, problem: Problem) -> Refusal {
    Refusal { reason, problem, field: Some("organization_id".to_string()) }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::config::intake::Producer;

    const OURS: OrgId = OrgId(Uuid::from_u128(1));
    const OTHERS: OrgId = OrgId(Uuid::from_u128(2));

    fn bindings(producers: &[(&str, OrgId)], unknown_organizations: UnknownOrganizations) -> Bindings {
        let producers = producers
            .iter()
            .map(|(source, org)| Producer { source: (*source).to_string(), organizations: vec![*org] })
            .collect();
        Bindings::new(&IntakeConfig { producers, unknown_organizations, ..IntakeConfig::default() })
    }

    fn reason(result: Result<Admission, Refusal>) -> Reason {
        result.expect_err("refused").reason
    }

    #[test]
    fn without_bindings_every_source_speaks_for_every_organisation() {
        let open = bindings(&[], UnknownOrganizations::Register);
        assert_eq!(open.admit("urn:anything", OURS, |_| true), Ok(Admission::Known));
        assert_eq!(open.admit("urn:anything", OURS, |_| false), Ok(Admission::Register));
    }

    #[test]
    fn a_bound_producer_speaks_for_its_organisations_only() {
        let bound = bindings(&[("urn:clinic", OURS), ("urn:hospital", OTHERS)], UnknownOrganizations::Register);
        assert_eq!(bound.admit("urn:clinic", OURS, |_| true), Ok(Admission::Known));
        assert_eq!(reason(bound.admit("urn:clinic", OTHERS, |_| true)), Reason::OrganizationMismatch);
        assert_eq!(reason(bound.admit("urn:stranger", OURS, |_| true)), Reason::OrganizationMismatch);
        assert_eq!(reason(bound.admit("urn:clinic/", OURS, |_| true)), Reason::OrganizationMismatch);
    }

    #[test]
    fn an_organisation_that_may_not_register_itself_is_refused() {
        let closed = bindings(&[], UnknownOrganizations::Refuse);
        assert_eq!(closed.admit("urn:clinic", OURS, |_| true), Ok(Admission::Known));
        assert_eq!(reason(closed.admit("urn:clinic", OURS, |_| false)), Reason::UnknownOrganization);
    }

    #[test]
    fn one_source_listed_twice_has_both_organisations() {
        let bound = bindings(&[("urn:clinic", OURS), ("urn:clinic", OTHERS)], UnknownOrganizations::Register);
        assert!(bound.admit("urn:clinic", OURS, |_| true).is_ok());
        assert!(bound.admit("urn:clinic", OTHERS, |_| true).is_ok());
    }
}
