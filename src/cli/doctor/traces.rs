//! The collector of spans: asked by a request that holds none.

use super::Doctor;
use anamnesis_observability::traces::{BUILT, Traces, TracesError};

pub(super) async fn check(doctor: &mut Doctor) {
    let config = &doctor.settings.traces;
    if !config.is_set() {
        return doctor.skip("traces", "no collector is configured");
    }
    if !BUILT {
        return doctor.skip("traces", "the program was built without traces");
    }
    match Traces::probe(config).await {
        Ok(()) => {}
        Err(error @ TracesError::Away(_)) => doctor.found("traces_unavailable", error.to_string()),
        Err(error) => doctor.found("traces_unusable", error.to_string()),
    }
    doctor.done("traces");
}
