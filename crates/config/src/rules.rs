//! Rules between settings, collected: a start stops at the first broken one, `config check` lists them all.

use super::embedding::InvalidSetting;

/// A broken rule. Names the key and the rule, never the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuleViolation {
    pub(crate) key: String,
    pub(crate) setting: InvalidSetting,
    /// Which element of the list that the key is in.
    pub(crate) item: usize,
}

/// The broken rules, in the order in which they were looked at.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    broken: Vec<RuleViolation>,
    item: usize,
    /// The section that is looked at, where keys name another one.
    section: Option<(&'static str, &'static str)>,
}

impl Rules {
    /// The first rule that `look` finds broken.
    ///
    /// # Errors
    /// That rule.
    pub(crate) fn first(look: impl FnOnce(&mut Self)) -> Result<(), InvalidSetting> {
        let mut rules = Self::default();
        look(&mut rules);
        rules.broken.first().map_or(Ok(()), |broken| Err(broken.setting))
    }

    pub(crate) fn into_broken(self) -> Vec<RuleViolation> {
        self.broken
    }

    /// Notes what a check says.
    pub(crate) fn note(&mut self, checked: Result<(), InvalidSetting>) {
        let Err(setting) = checked else { return };
        let key = match self.section {
            Some((named, meant)) => setting.key.replacen(named, meant, 1),
            None => setting.key.to_owned(),
        };
        self.broken.push(RuleViolation { key, setting, item: self.item });
    }

    /// Notes the key and the rule unless `holds`.
    pub(crate) fn rule(&mut self, holds: bool, key: &'static str, rule: &'static str) {
        self.note(super::embedding::rule(holds, key, rule));
    }

    /// Looks at each element of a list.
    pub(crate) fn each<T>(&mut self, items: &[T], mut look: impl FnMut(&mut Self, &T)) {
        for (at, item) in items.iter().enumerate() {
            self.item = at;
            look(self, item);
        }
        self.item = 0;
    }

    /// Looks at a section whose rules name the keys of another one.
    pub(crate) fn within(&mut self, named: &'static str, meant: &'static str, look: impl FnOnce(&mut Self)) {
        self.section = Some((named, meant));
        look(self);
        self.section = None;
    }
}
