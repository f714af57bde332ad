//! The rules of extraction that each organisation's documents and questions are read with: those of the program, with the
//! lexicons of the deployment and of the organisation. A file that cannot be used stops the start.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anamnesis_config::extraction::{ExtractionConfig, ReadingProfile};
use anamnesis_core::ids::OrgId;
use anamnesis_extraction::Extractor;
use anamnesis_extraction::lexicon::{LexiconError, LexiconExtension};
use anamnesis_extraction::reader::{ClinicalReader, ReaderError};

/// A fault of the configured lexicons: the key, then file, line and column; never their content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtractorsError {
    #[error("extraction.lexicons: {0}")]
    Deployment(LexiconError),
    #[error("extraction.organizations[{at}].lexicons: {problem}")]
    Organization { at: usize, problem: LexiconError },
    #[error("extraction.organizations[{at}].organization: is listed twice")]
    Twice { at: usize },
    /// Of the profile `careful`: a file that is not there or is no reader.
    #[error("extraction.reader_file: {0}")]
    Reader(ReaderError),
}

/// All extractors of a process.
#[derive(Clone, Default)]
pub struct Extractors {
    /// `None`: the program's own rules, compiled when they are first needed.
    usual: Option<Arc<Extractor>>,
    own: BTreeMap<OrgId, Arc<Extractor>>,
}

impl Extractors {
    /// # Errors
    /// The first key whose files cannot be used.
    pub(crate) fn load(config: &ExtractionConfig) -> Result<Self, ExtractorsError> {
        let reader = match config.profile {
            ReadingProfile::Fast => None,
            ReadingProfile::Careful if config.reader_file.as_os_str().is_empty() => Some(ClinicalReader::builtin()),
            ReadingProfile::Careful => Some(ClinicalReader::open(&config.reader_file)),
        };
        // A small program has no reader, and reads as well as it can.
        let reader = reader.filter(|reader| !matches!(reader, Err(ReaderError::Absent)));
        if reader.is_none() && config.profile == ReadingProfile::Careful {
            tracing::warn!(code = "reader_absent", "the program has no learned reader: documents are read by rules");
        }
        let reader = reader.transpose().map_err(ExtractorsError::Reader)?;
        Self::with(config, reader.as_ref())
    }

    /// Only the rules, for any profile: for questions, which are no documents.
    ///
    /// # Errors
    /// As [`Extractors::load`].
    pub fn rules(config: &ExtractionConfig) -> Result<Self, ExtractorsError> {
        Self::with(config, None)
    }

    fn with(config: &ExtractionConfig, reader: Option<&ClinicalReader>) -> Result<Self, ExtractorsError> {
        let extractor = |files: &[PathBuf]| extractor(files, reader);
        let usual = extractor(&config.lexicons).map_err(ExtractorsError::Deployment)?;
        let mut own = BTreeMap::new();
        for (at, rules) in config.organizations.iter().enumerate() {
            let files: Vec<PathBuf> = config.lexicons.iter().chain(&rules.lexicons).cloned().collect();
            let made = extractor(&files).map_err(|problem| ExtractorsError::Organization { at, problem })?;
            if own.insert(rules.organization, made.unwrap_or_else(Extractor::shared)).is_some() {
                return Err(ExtractorsError::Twice { at });
            }
        }
        Ok(Self { usual, own })
    }

    /// The rules of an organisation.
    pub fn get(&self, organization: OrgId) -> Arc<Extractor> {
        let own = self.own.get(&organization).or(self.usual.as_ref());
        own.map_or_else(Extractor::shared, Arc::clone)
    }
}

/// `None`: the program's own rules, without a reader.
fn extractor(files: &[PathBuf], reader: Option<&ClinicalReader>) -> Result<Option<Arc<Extractor>>, LexiconError> {
    let extension = LexiconExtension::load(files)?;
    if extension.is_empty() && reader.is_none() {
        return Ok(None);
    }
    let rules = Extractor::extended(&extension);
    Ok(Some(Arc::new(match reader {
        Some(reader) => rules.with_reader(reader.clone()),
        None => rules,
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORG: &str = "5f3b1c52-6d0e-4c43-9a55-0a4f6c1d2e3f";

    fn lexicon(folder: &tempfile::TempDir, name: &str, rows: &str) -> String {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("# list: drugs\n# version: {name}\n{rows}\n")).unwrap();
        path.display().to_string()
    }

    fn config(all: &[&str], own: &[&str]) -> ExtractionConfig {
        let lines = format!(
            "profile = \"fast\"\nlexicons = {all:?}\n[[organizations]]\norganization = \"{ORG}\"\nlexicons = {own:?}\n"
        );
        toml::from_str(&lines).unwrap()
    }

    #[test]
    fn an_organisation_has_the_deployments_lexicons_and_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let all = lexicon(&folder, "all", "ssri\tzumbatrol\t-\tzumbatrol");
        let own = lexicon(&folder, "own", "ssri\tfloxomar\t-\tfloxomar");
        let extractors = Extractors::load(&config(&[&all], &[&own])).unwrap();
        let version = |org: &str| extractors.get(org.parse().unwrap()).version().to_owned();
        let (listed, other) = (version(ORG), version("5f3b1c52-6d0e-4c43-9a55-0a4f6c1d2e40"));
        assert!(listed.starts_with(&other) && listed.contains("+own.") && other.contains("+all."), "{listed} {other}");
        let fast = ExtractionConfig { profile: ReadingProfile::Fast, ..ExtractionConfig::default() };
        let none = Extractors::load(&fast).unwrap();
        assert!(Arc::ptr_eq(&none.get(ORG.parse().unwrap()), &Extractor::shared()), "nothing is compiled twice");
    }

    #[test]
    fn unusable_lexicons_are_reported_by_key_file_line_and_column() {
        let folder = tempfile::tempdir().unwrap();
        let bad = lexicon(&folder, "bad", "ssri\tSECRET\t-\tx");
        let told = |config| Extractors::load(&config).err().map(|error| error.to_string()).unwrap_or_default();
        let problem = format!("{bad}:3:6: a name has 1 to 100 characters in lower case");
        assert_eq!(told(config(&[&bad], &[])), format!("extraction.lexicons: {problem}"));
        assert_eq!(told(config(&[], &[&bad])), format!("extraction.organizations[0].lexicons: {problem}"));
        let mut twice = config(&[], &[]);
        twice.organizations.push(twice.organizations[0].clone());
        assert_eq!(told(twice), "extraction.organizations[1].organization: is listed twice");
    }
}
