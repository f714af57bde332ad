//! Runs of jobs in traces: one trace for each run, with its batches. Codes and counts; the organisation as the log's keyed hash.

use super::driver::{JobDriver, JobOutcome, JobReport};
use super::planner::RunKey;
use anamnesis_observability::traces::{Code, Count, Name, Named, SpanKind, TraceContext, TraceSpan};

impl JobDriver {
    /// The span of a run that was granted.
    pub(crate) fn run_span(&self, run: &RunKey) -> TraceSpan {
        let mut span = self.traces.begin(Name::Job(run.job.code()), SpanKind::Internal, &TraceContext::default());
        if span.is_recorded() {
            span.code(Code::Job, run.job.code());
            span.name(Named::Organization, &self.keys.platform().pseudonym(run.org.0.as_bytes()));
        }
        span
    }
}

/// Ends it as the report says.
pub(crate) fn end_run(mut span: TraceSpan, report: &JobReport) {
    span.count(Count::Examined, report.examined);
    span.count(Count::Changed, report.changed);
    let outcome = match &report.outcome {
        JobOutcome::Done => "succeeded",
        JobOutcome::Partial => "partial",
        JobOutcome::Failed { error } => {
            span.fail(error);
            "failed"
        }
        JobOutcome::LeasedElsewhere { .. } => "held",
        JobOutcome::BackingOff { .. }
        | JobOutcome::AlreadyDone
        | JobOutcome::Exhausted
        | JobOutcome::NotDue
        | JobOutcome::Preview => return,
    };
    span.code(Code::Outcome, outcome);
}
