//! The columns of the rows that a statement answers, by name.

/// Names of the columns of a statement's answer; none for one that answers no rows.
///
/// # Errors
/// What is wrong: a column that is an expression without `AS name`, `*`, or two columns of one name.
pub(crate) fn column_names(text: &str) -> Result<Vec<String>, String> {
    let words = top_level(text);
    let is = |at: usize, word: &str| words[at].1.eq_ignore_ascii_case(word);
    let verb = (0..words.len())
        .find(|at| ["SELECT", "INSERT", "UPDATE", "DELETE"].iter().any(|verb| is(*at, verb)))
        .ok_or("no statement that this generator knows")?;
    let list = if is(verb, "SELECT") {
        let first = if verb + 1 < words.len() && is(verb + 1, "DISTINCT") { verb + 2 } else { verb + 1 };
        let (at, word) = words[first - 1];
        let start = at + word.len();
        let ends = ["FROM", "WHERE", "UNION", "ORDER", "LIMIT", "GROUP"];
        let end = words[first..].iter().find(|(_, word)| ends.iter().any(|end| word.eq_ignore_ascii_case(end)));
        &text[start..end.map_or(text.len(), |(at, _)| *at)]
    } else {
        match words.iter().rfind(|(_, word)| word.eq_ignore_ascii_case("RETURNING")) {
            Some((at, word)) => &text[at + word.len()..],
            None => return Ok(Vec::new()),
        }
    };
    let items = split(list);
    if items.is_empty() {
        return Err("no columns are named".to_owned());
    }
    let mut names: Vec<String> = Vec::new();
    for item in items {
        let name = name(item).ok_or_else(|| format!("`{item}` needs a name: AS …"))?;
        if names.contains(&name) {
            return Err(format!("two columns are called `{name}`"));
        }
        names.push(name);
    }
    Ok(names)
}

/// The name of an item of a list: behind `AS`, or that of the column.
fn name(item: &str) -> Option<String> {
    let (before, last) = item.rsplit_once(char::is_whitespace).unwrap_or(("", item));
    let named = before.split_whitespace().next_back().is_some_and(|word| word.eq_ignore_ascii_case("AS"));
    let plain = before.is_empty();
    let name = if plain { last.rsplit('.').next().unwrap_or(last) } else { last };
    let is_name = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_lowercase());
    let column = last.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    (is_name && (named || (plain && column))).then(|| name.to_owned())
}

/// Depth of parentheses and braces, and whether a place is in a quoted text.
#[derive(Default)]
struct Nesting {
    depth: usize,
    quoted: bool,
}

impl Nesting {
    /// Whether the character is at the top level; takes it in.
    fn is_top(&mut self, c: char) -> bool {
        match c {
            '\'' => self.quoted = !self.quoted,
            _ if self.quoted => {}
            '(' | '{' => self.depth += 1,
            ')' | '}' => {
                self.depth = self.depth.saturating_sub(1);
                return false;
            }
            _ => {}
        }
        self.depth == 0 && !self.quoted && c != '\''
    }
}

/// Words outside of parentheses, braces and quotes, with their places.
fn top_level(text: &str) -> Vec<(usize, &str)> {
    let mut nesting = Nesting::default();
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let inside = nesting.is_top(c) && (c.is_ascii_alphanumeric() || c == '_' || c == '$' || c == '.');
        match (start, inside) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                words.push((from, &text[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// Items of a list, separated by commas of the top level.
pub(crate) fn split(list: &str) -> Vec<&str> {
    let mut nesting = Nesting::default();
    let mut items = Vec::new();
    let mut start = 0;
    for (at, c) in list.char_indices() {
        if nesting.is_top(c) && c == ',' {
            items.push(list[start..at].trim());
            start = at + 1;
        }
    }
    items.push(list[start..].trim());
    items.retain(|item| !item.is_empty());
    items
}
