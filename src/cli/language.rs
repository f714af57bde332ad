//! The language of what a person reads.

use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    En,
    Es,
}

impl Language {
    /// One of two texts that say the same, English first.
    pub(crate) fn of(self, [english, spanish]: [&str; 2]) -> &str {
        match self {
            Self::En => english,
            Self::Es => spanish,
        }
    }
}

/// The language of a verb's text.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Spoken {
    /// The language of the text.
    #[arg(long, value_enum, default_value_t = Language::En, env = "ANAMNESIS_LANG")]
    pub(crate) language: Language,
}
