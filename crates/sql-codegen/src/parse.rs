//! Files of statements.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::Error;
use crate::outputs::split;

/// Texts that others take in, by `file/name`.
pub(crate) type Fragments = HashMap<String, String>;

/// A file: a module of the code that is generated.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    /// Folders and name, without the ending.
    pub(crate) module: Vec<String>,
    pub(crate) statements: Vec<SqlStatement>,
}

/// A statement, or a fragment of some.
#[derive(Debug)]
pub(crate) struct SqlStatement {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) comment: Vec<String>,
    pub(crate) form: Form,
    /// On one line, without comments.
    pub(crate) text: String,
}

/// What is made of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    Plain,
    Fragment,
    /// `-- keys:` the columns, and the placeholder with the list of wanted ones.
    Keys(Vec<String>, String),
    /// `-- row:`
    Row(Columns),
    /// `-- rows:` and `-- shared:`, if any.
    Rows(Columns, Vec<ParsedColumn>),
}

/// Columns of a table that a statement fills.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Columns {
    pub(crate) table: String,
    pub(crate) columns: Vec<ParsedColumn>,
}

/// A column, with its type where it is no column of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParsedColumn {
    pub(crate) name: String,
    pub(crate) kind: Option<String>,
}

impl File {
    pub(crate) fn parse(path: PathBuf, module: Vec<String>, text: &str) -> Result<Self, Error> {
        let mut file = Self { path, module, statements: Vec::new() };
        let mut block: Option<(usize, Vec<&str>)> = None;
        for (at, line) in text.lines().enumerate() {
            if line.starts_with("-- name:") || line.starts_with("-- fragment:") {
                file.add(block.take())?;
                block = Some((at + 1, vec![line]));
            } else if let Some((_, lines)) = &mut block {
                lines.push(line);
            } else if !line.trim().is_empty() && !line.starts_with("--") {
                return Err(file.wrong(at + 1, "text before the first `-- name:`".to_owned()));
            }
        }
        file.add(block)?;
        Ok(file)
    }

    fn add(&mut self, block: Option<(usize, Vec<&str>)>) -> Result<(), Error> {
        let Some((line, lines)) = block else { return Ok(()) };
        let statement = SqlStatement::parse(line, &lines).map_err(|what| self.wrong(line, what))?;
        if self.statements.iter().any(|other| other.name == statement.name) {
            return Err(self.wrong(line, format!("`{}` is there twice", statement.name)));
        }
        self.statements.push(statement);
        Ok(())
    }

    pub(crate) fn wrong(&self, line: usize, what: String) -> Error {
        Error::Text { path: self.path.clone(), line, what }
    }

    /// The fragments of this file, by `file/name`.
    pub(crate) fn fragments(&self) -> impl Iterator<Item = (String, String)> {
        let named = |statement: &SqlStatement| format!("{}/{}", self.module.join("/"), statement.name);
        self.statements
            .iter()
            .filter(|statement| statement.form == Form::Fragment)
            .map(move |statement| (named(statement), statement.text.clone()))
    }

    /// Puts fragments where `{fragment file/name}` stands; they may hold others.
    pub(crate) fn take_in(&mut self, fragments: &Fragments) -> Result<(), Error> {
        self.statements.retain(|statement| statement.form != Form::Fragment);
        for at in 0..self.statements.len() {
            let line = self.statements[at].line;
            while let Some(start) = self.statements[at].text.find("{fragment ") {
                let text = &self.statements[at].text;
                let end = text[start..].find('}').map_or(text.len(), |length| start + length);
                let name = text[start + "{fragment ".len()..end].trim();
                let Some(fragment) = fragments.get(name) else {
                    return Err(self.wrong(line, format!("there is no fragment `{name}`")));
                };
                self.statements[at].text = [&text[..start], fragment, text.get(end + 1..).unwrap_or_default()].concat();
            }
        }
        Ok(())
    }
}

impl SqlStatement {
    fn parse(line: usize, lines: &[&str]) -> Result<Self, String> {
        let (is_fragment, name) = match (lines[0].strip_prefix("-- name:"), lines[0].strip_prefix("-- fragment:")) {
            (Some(name), _) => (false, name.trim()),
            (None, name) => (true, name.unwrap_or_default().trim()),
        };
        if !is_snake_case(name) {
            return Err(format!("`{name}` is no name in snake_case"));
        }
        let body = lines[1..].iter().position(|line| !line.starts_with("--")).map_or(lines.len(), |at| at + 1);
        let (comment, directives) = head(&lines[1..body]);
        let form = form(&directives, is_fragment)?;
        let text: Vec<&str> = lines[body..]
            .iter()
            .map(|line| line.trim())
            .filter(|line| !line.is_empty() && !line.starts_with("--"))
            .collect();
        let text = text.join(" ").trim_end_matches(';').trim().to_owned();
        if text.is_empty() {
            return Err("no text".to_owned());
        }
        Ok(Self { name: name.to_owned(), line, comment, form, text })
    }
}

fn is_snake_case(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Comment lines between the name and the text: what they say, and the directives among them, each with what follows its
/// colon. A directive goes on in the next line until its parentheses are closed.
fn head(lines: &[&str]) -> (Vec<String>, Vec<(&'static str, String)>) {
    let mut comment = Vec::new();
    let mut directives: Vec<(&'static str, String)> = Vec::new();
    for line in lines {
        let line = line.trim_start_matches('-').trim();
        let known = ["rows", "shared", "row", "keys"];
        let directive = known.iter().find_map(|name| Some((*name, line.strip_prefix(name)?.strip_prefix(':')?)));
        let open = directives.last_mut().filter(|(_, text)| text.contains('(') && !text.contains(')'));
        match (directive, open) {
            (_, Some((_, text))) => {
                text.push(' ');
                text.push_str(line);
            }
            (Some((name, text)), None) => directives.push((name, text.trim().to_owned())),
            (None, None) => comment.push(line.to_owned()),
        }
    }
    (comment, directives)
}

fn form(directives: &[(&'static str, String)], is_fragment: bool) -> Result<Form, String> {
    let mut form = if is_fragment { Form::Fragment } else { Form::Plain };
    let mut shared = Vec::new();
    for (name, text) in directives {
        match (*name, &form) {
            ("shared", _) => shared = split(text).into_iter().map(column).collect::<Result<_, _>>()?,
            ("rows", Form::Plain) => form = Form::Rows(columns(text)?, Vec::new()),
            ("row", Form::Plain) => form = Form::Row(columns(text)?),
            ("keys", Form::Plain) => {
                let (keys, list) = text.split_once(" in ").ok_or("`-- keys:` needs ` in {…}`")?;
                form = Form::Keys(split(keys).into_iter().map(str::to_owned).collect(), list.trim().to_owned());
            }
            _ => return Err(format!("`-- {name}:` has no place here")),
        }
    }
    match form {
        Form::Rows(columns, _) => Ok(Form::Rows(columns, shared)),
        form if shared.is_empty() => Ok(form),
        _ => Err("`-- shared:` belongs to `-- rows:`".to_owned()),
    }
}

/// `table (column, …)`
fn columns(text: &str) -> Result<Columns, String> {
    let wrong = || format!("`{text}` is not `table (column, …)`");
    let (table, rest) = text.split_once('(').ok_or_else(wrong)?;
    let list = rest.trim().strip_suffix(')').ok_or_else(wrong)?;
    let columns = split(list).into_iter().map(column).collect::<Result<_, _>>()?;
    Ok(Columns { table: table.trim().to_owned(), columns })
}

/// `column` or `column type`
fn column(text: &str) -> Result<ParsedColumn, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        [name] if is_snake_case(name) => Ok(ParsedColumn { name: name.to_owned(), kind: None }),
        [name, kind] if is_snake_case(name) => Ok(ParsedColumn { name: name.to_owned(), kind: Some(kind.to_owned()) }),
        _ => Err(format!("`{text}` is no column")),
    }
}
