//! The language of texts for people.

pub(crate) use anamnesis_pipeline::rights::words::RightsLanguage;

/// The language of a verb's text.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct LanguageArgs {
    /// Language of the text: en or es.
    #[arg(long, value_name = "LANGUAGE", default_value_t = RightsLanguage::En, env = "ANAMNESIS_LANG")]
    pub(crate) language: RightsLanguage,
}
