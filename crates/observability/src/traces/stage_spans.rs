//! A stage that several messages go through at once: embedding and storing work on a whole batch.
//!
//! Each recorded message has a span of the stage in its own trace, as long as the stage took. What is done once for all of them
//! (a request, a transaction) is one span, so that no token and no transaction counts twice: a child of the first message's
//! stage with links to the others, whose stages link to the first.

use super::{Name, SpanGroup, SpanKind, TraceContext, TraceSpan, Traces};

/// The spans of one stage, one for each recorded message.
#[derive(Debug, Default)]
pub struct StageSpans {
    spans: Vec<TraceSpan>,
}

impl StageSpans {
    /// Begins the stage for the messages whose spans these are.
    pub fn begin<'c>(traces: &Traces, name: Name<'_>, messages: impl Iterator<Item = &'c TraceContext>) -> Self {
        let mut spans: Vec<TraceSpan> = Vec::new();
        for message in messages.filter(|message| message.is_recorded()) {
            let first = spans.first().map(TraceSpan::context);
            spans.push(traces.linked(name, SpanKind::Internal, message, first));
        }
        Self { spans }
    }

    /// Of whom an operation of this stage is a child.
    pub fn group(&self) -> SpanGroup {
        SpanGroup::from_messages(self.spans.iter().map(TraceSpan::context))
    }

    /// The stage failed for all of its messages.
    pub fn fail(&mut self, code: &'static str) {
        self.spans.iter_mut().for_each(|span| span.fail(code));
    }
}
