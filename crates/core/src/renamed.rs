//! Renamed keys of settings: the rows of a `renamed.tsv`. An old name works for one minor version, with a warning.

/// One renamed key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenamedKey {
    /// The old dotted path.
    pub old: &'static str,
    /// The new dotted path. Only its last step differs from the old one, unless a section around it was renamed too.
    pub new: &'static str,
    /// The version that renamed it.
    pub since: &'static str,
}

impl RenamedKey {
    /// The rows of a table: old key, new key, version. A line that begins with `#` is a comment.
    pub fn rows(table: &'static str) -> Vec<Self> {
        let lines = table.lines().filter(|line| !line.starts_with('#'));
        let row = |line: &'static str| {
            let mut cells = line.split('\t');
            Some(Self { old: cells.next()?, new: cells.next()?, since: cells.next()? })
        };
        lines.filter_map(row).collect()
    }

    /// The section that contains the key, under its new name; empty: the top.
    pub fn section(&self) -> &'static str {
        self.new.rsplit_once('.').map_or("", |(section, _)| section)
    }

    /// The last step of the old path.
    pub fn old_name(&self) -> &'static str {
        self.old.rsplit_once('.').map_or(self.old, |(_, name)| name)
    }

    /// The last step of the new path.
    pub fn new_name(&self) -> &'static str {
        self.new.rsplit_once('.').map_or(self.new, |(_, name)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_and_a_comment_is_not() {
        let rows = RenamedKey::rows("# old\tnew\tsince\na.model.most\ta.llm.max\t0.3.0\ntop\tfirst\t0.3.0\n");
        let parts: Vec<_> = rows.iter().map(|row| (row.section(), row.old_name(), row.new_name(), row.since)).collect();
        assert_eq!(parts, [("a.llm", "most", "max", "0.3.0"), ("", "top", "first", "0.3.0")]);
    }
}
