//! What a span may say: its names, its kinds and the closed list of its attributes. A new key is a variant here, a row of
//! docs/traces.md and a line of the list that a test holds.

use std::fmt;

/// Declares an enum of attribute keys with the names of the semantic conventions.
macro_rules! keys {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $key:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// Every key, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// As the collector sees it.
            pub const fn key(self) -> &'static str {
                match self { $($name::$variant => $key),+ }
            }
        }
    };
}

keys!(
    /// Keys whose values are codes: words that stand in the source of the program.
    Code {
        /// Kind of the job.
        Job = "anamnesis.job.name",
        /// What became of a message, a run or a read.
        Outcome = "anamnesis.outcome",
        /// What texts were embedded for.
        Purpose = "anamnesis.embedding.purpose",
        /// Where a message came in.
        Queue = "anamnesis.queue",
        /// Type of a message or an event.
        Type = "anamnesis.message.type",
        DbOperation = "db.operation.name",
        DbSystem = "db.system.name",
        /// Code of the error, where the status is one.
        ErrorType = "error.type",
        GenAiOperation = "gen_ai.operation.name",
        GenAiProvider = "gen_ai.provider.name",
        MessagingOperation = "messaging.operation.name",
        MessagingOperationType = "messaging.operation.type",
        MessagingSystem = "messaging.system",
    }
);

keys!(
    /// Keys whose values are numbers.
    Count {
        /// Rows that a job changed.
        Changed = "anamnesis.job.changed",
        /// Documents of a transaction, or of a context.
        Documents = "anamnesis.documents",
        /// Events of a transaction.
        Events = "anamnesis.events",
        /// Rows that a job looked at.
        Examined = "anamnesis.job.examined",
        /// Findings of a transaction.
        Findings = "anamnesis.findings",
        /// Passages that a search found.
        Passages = "anamnesis.passages",
        /// Texts of a request.
        Texts = "anamnesis.embedding.texts",
        /// Vectors of a transaction.
        Vectors = "anamnesis.vectors",
        Dimension = "gen_ai.embeddings.dimension.count",
        Tokens = "gen_ai.usage.input_tokens",
        BatchMessages = "messaging.batch.message_count",
    }
);

keys!(
    /// Keys whose values are names: of the configuration, or keyed hashes that do not reveal their input.
    Named {
        /// Keyed hash of an organisation, as in the log.
        Organization = "anamnesis.organization",
        Model = "gen_ai.request.model",
        Destination = "messaging.destination.name",
        /// A UUID or a keyed hash, and only where the log of the pipeline is at debug.
        MessageId = "messaging.message.id",
    }
);

/// Every attribute key that a span of this program may have.
pub fn attribute_keys() -> impl Iterator<Item = &'static str> {
    let codes = Code::ALL.iter().map(|key| key.key());
    codes.chain(Count::ALL.iter().map(|key| key.key())).chain(Named::ALL.iter().map(|key| key.key()))
}

/// What a span says of the process, once for each request to the collector.
pub const RESOURCE_KEYS: [&str; 3] = ["service.name", "service.version", "service.instance.id"];

/// The names of spans. What varies in them is of the configuration or a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name<'a> {
    /// A message from its arrival to its outcome, by the queue that it came from.
    Process(&'a str),
    /// A station of a message: decode, admit, redact, extract, embed, store.
    Stage(&'static str),
    /// A call of an embedding model.
    Embeddings(&'a str),
    /// A transaction of the store.
    Transaction,
    /// An event on its way to a destination.
    Publish(&'a str),
    /// A run of a job.
    Job(&'static str),
    /// A bounded piece of a run.
    JobBatch,
    /// What is known of a patient, put together.
    Context,
    /// A search over passages.
    Search,
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process(queue) => write!(f, "process {queue}"),
            Self::Stage(stage) => f.write_str(stage),
            Self::Embeddings(model) => write!(f, "embeddings {model}"),
            Self::Transaction => f.write_str("transaction"),
            Self::Publish(destination) => write!(f, "publish {destination}"),
            Self::Job(job) => write!(f, "job {job}"),
            Self::JobBatch => f.write_str("batch"),
            Self::Context => f.write_str("context"),
            Self::Search => f.write_str("search_memory"),
        }
    }
}

/// The part that a span plays between programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    Internal,
    Client,
    Consumer,
    Producer,
}
