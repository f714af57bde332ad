//! The configuration itself, and settings with which the program does not start.

use std::path::Path;

use super::{Doctor, DoctorFinding, finding};
use crate::cli::config::{problems, sentence};
use crate::cli::producers;
use anamnesis_config::check::{ProblemKind as Kind, Severity};
use anamnesis_config::intake::UnboundProducers;
use anamnesis_jobs::policy::Policies;

/// Every problem of the configuration.
pub(super) fn findings(file: Option<&Path>) -> Vec<DoctorFinding> {
    problems(file)
        .into_iter()
        .map(|problem| {
            let code = match problem.kind {
                Kind::File => "config_file",
                Kind::Syntax => "config_syntax",
                Kind::Unknown => "config_key",
                Kind::Value => "config_value",
                Kind::Range => "config_range",
                Kind::Rule => "config_rule",
                Kind::Secret => "config_secret",
                Kind::Unbuilt => "config_unbuilt",
                Kind::Renamed if problem.severity == Severity::Error => "config_rule",
                Kind::Renamed => "config_renamed",
            };
            finding(code, sentence(&problem))
        })
        .collect()
}

/// Settings with which only a worker does not start.
pub(super) fn check(doctor: &mut Doctor) {
    if doctor.settings.broker.is_set() {
        let intake = &doctor.settings.intake;
        let code = match intake.unbound_producers {
            UnboundProducers::Refuse => "producers_unbound",
            UnboundProducers::Allow => "producers_open",
        };
        for problem in producers::open_bindings(intake) {
            doctor.found(code, problem);
        }
    }
    if let Err(error) = Policies::load(doctor.settings.jobs.directory()) {
        doctor.found("job_policy", error.to_string());
    }
    if let Some(now) = doctor.settings.pipeline.now {
        doctor.found("clock_fixed", format!("every command takes {now} for the present"));
    }
    doctor.done("configuration");
}
