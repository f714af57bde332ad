//! NDJSON from files, folders and standard input, in bounded memory: one line at a time, and of a line beyond the limit
//! no more than the limit.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Extensions that a folder is searched for.
const EXTENSIONS: [&str; 3] = ["ndjson", "jsonl", "json"];
/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// Why a file or folder cannot be read. Names the path as the person gave it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {kind}")]
pub struct SpoolError {
    pub path: String,
    pub kind: io::ErrorKind,
}

impl SpoolError {
    fn new(path: &Path, error: &io::Error) -> Self {
        Self { path: path.display().to_string(), kind: error.kind() }
    }
}

/// One place to read from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Input {
    Stdin,
    File { path: PathBuf, bytes: u64 },
}

/// What is to be read, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spool {
    inputs: Vec<Input>,
    max_line_bytes: usize,
}

impl Spool {
    /// Looks up files: a file as it is, a folder with everything below it that ends in `.ndjson`, `.jsonl` or `.json`
    /// in the order of its paths, `-` for standard input. Names that begin with a dot are left out, so that a producer
    /// can write under such a name and rename when done.
    ///
    /// # Errors
    /// When a path does not exist or a folder cannot be listed.
    pub fn find(paths: &[PathBuf], max_line_bytes: usize) -> Result<Self, SpoolError> {
        let mut inputs = Vec::new();
        for path in paths {
            if path.as_os_str() == "-" {
                inputs.push(Input::Stdin);
                continue;
            }
            let about = path.metadata().map_err(|error| SpoolError::new(path, &error))?;
            if about.is_dir() {
                collect(path, &mut inputs)?;
            } else {
                inputs.push(Input::File { path: path.clone(), bytes: about.len() });
            }
        }
        Ok(Self { inputs, max_line_bytes })
    }

    /// Bytes to read in all, for progress; unknown as soon as standard input is among them.
    pub fn total_bytes(&self) -> Option<u64> {
        self.inputs.iter().map(|input| if let Input::File { bytes, .. } = input { Some(*bytes) } else { None }).sum()
    }

    /// Number of files (standard input counts as one).
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// The lines of all inputs, one after the other.
    pub fn records(self) -> Records {
        Records { waiting: self.inputs.into_iter(), current: None, max_line_bytes: self.max_line_bytes, consumed: 0 }
    }
}

fn collect(folder: &Path, inputs: &mut Vec<Input>) -> Result<(), SpoolError> {
    let failed = |error: &io::Error| SpoolError::new(folder, error);
    let mut entries = Vec::new();
    for entry in folder.read_dir().map_err(|error| failed(&error))? {
        entries.push(entry.map_err(|error| failed(&error))?);
    }
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        // A linked folder may lead back to where we are; a linked file is read.
        if entry.file_type().map_err(|error| failed(&error))?.is_dir() {
            collect(&path, inputs)?;
        } else if has_extension(&path) {
            match path.metadata() {
                Ok(about) if about.is_file() => inputs.push(Input::File { path, bytes: about.len() }),
                // A producer may have moved it since the listing.
                _ => {}
            }
        }
    }
    Ok(())
}

fn has_extension(path: &Path) -> bool {
    path.extension().is_some_and(|extension| EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

/// One line and where it stands.
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    /// The file's path, or `-`.
    pub source: Arc<str>,
    /// From 1.
    pub line: u64,
    /// Byte offsets of the line in its source, the line feed included.
    pub start: u64,
    pub end: u64,
    pub content: Content,
}

/// The bytes of a line.
#[derive(Clone, PartialEq, Eq)]
pub enum Content {
    /// Without byte order mark and line end; never blank.
    Line(Vec<u8>),
    /// Longer than the limit: passed over, not held.
    TooLong,
}

impl std::fmt::Debug for Record {
    /// A line is what a patient said: only its place shows.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Record(line {}, bytes {}..{})", self.line, self.start, self.end)
    }
}

/// Reads lines one by one. After an error of one file the next file follows.
pub struct Records {
    waiting: std::vec::IntoIter<Input>,
    current: Option<Lines>,
    max_line_bytes: usize,
    consumed: u64,
}

impl Records {
    /// Bytes read so far in all inputs, blank lines and line ends included.
    pub fn consumed(&self) -> u64 {
        self.consumed
    }
}

impl Iterator for Records {
    type Item = Result<Record, SpoolError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(lines) = &mut self.current {
                let before = lines.position;
                let record = lines.next_record(self.max_line_bytes);
                self.consumed += lines.position - before;
                match record {
                    Ok(Some(record)) => return Some(Ok(record)),
                    Ok(None) => self.current = None,
                    Err(error) => {
                        let path = lines.source.to_string();
                        self.current = None;
                        return Some(Err(SpoolError { path, kind: error.kind() }));
                    }
                }
            }
            match Lines::open(self.waiting.next()?) {
                Ok(lines) => self.current = Some(lines),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// The lines of one input.
struct Lines {
    source: Arc<str>,
    reader: Box<dyn BufRead + Send>,
    line: u64,
    position: u64,
    /// A `.json` file may hold one message over several lines.
    may_be_whole: bool,
}

/// What was kept of a line that was read to its end.
struct Taken {
    bytes: Vec<u8>,
    too_long: bool,
}

impl Lines {
    fn open(input: Input) -> Result<Self, SpoolError> {
        let (source, reader, whole): (String, Box<dyn BufRead + Send>, bool) = match input {
            Input::Stdin => ("-".to_string(), Box::new(BufReader::with_capacity(CHUNK, io::stdin())), false),
            Input::File { path, .. } => {
                let file = File::open(&path).map_err(|error| SpoolError::new(&path, &error))?;
                let whole = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
                (path.display().to_string(), Box::new(BufReader::with_capacity(CHUNK, file)), whole)
            }
        };
        Ok(Self { source: source.into(), reader, line: 0, position: 0, may_be_whole: whole })
    }

    fn next_record(&mut self, max: usize) -> io::Result<Option<Record>> {
        loop {
            let start = self.position;
            let Some(mut taken) = self.take_line(max)? else { return Ok(None) };
            if self.line == 1 && taken.bytes.starts_with(b"\xEF\xBB\xBF") {
                taken.bytes.drain(..3);
            }
            if !taken.too_long && taken.bytes.trim_ascii().is_empty() {
                continue;
            }
            let line = self.line;
            if self.may_be_whole {
                self.may_be_whole = false;
                self.take_rest_if_open(&mut taken, max)?;
            }
            let content = if taken.too_long { Content::TooLong } else { Content::Line(taken.bytes) };
            return Ok(Some(Record { source: Arc::clone(&self.source), line, start, end: self.position, content }));
        }
    }

    /// Reads to the next line feed or the end. Holds at most `max` bytes of it.
    fn take_line(&mut self, max: usize) -> io::Result<Option<Taken>> {
        let mut taken = Taken { bytes: Vec::new(), too_long: false };
        let mut read = 0;
        loop {
            let chunk = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            let step = end.map_or(chunk.len(), |end| end + 1);
            // Three bytes of a mark and one carriage return do not count against the message.
            if !taken.too_long && taken.bytes.len() + part.len() <= max + 4 {
                taken.bytes.extend_from_slice(part);
            } else if !part.is_empty() {
                taken = Taken { bytes: Vec::new(), too_long: true };
            }
            self.reader.consume(step);
            self.position += step as u64;
            read += step;
            if end.is_some() || step == 0 {
                break;
            }
        }
        if read == 0 {
            return Ok(None);
        }
        self.line += 1;
        if taken.bytes.last() == Some(&b'\r') {
            taken.bytes.pop();
        }
        Ok(Some(taken))
    }

    /// When the first line of a `.json` file is an unfinished value, the whole file is one message.
    fn take_rest_if_open(&mut self, taken: &mut Taken, max: usize) -> io::Result<()> {
        let finished = serde_json::from_slice::<serde::de::IgnoredAny>(&taken.bytes);
        if taken.too_long || !finished.is_err_and(|error| error.is_eof()) {
            return Ok(());
        }
        while let Some(next) = self.take_line(max)? {
            if next.too_long || taken.bytes.len() + next.bytes.len() > max {
                *taken = Taken { bytes: Vec::new(), too_long: true };
            }
            if !taken.too_long {
                taken.bytes.push(b'\n');
                taken.bytes.extend_from_slice(&next.bytes);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "spool_tests.rs"]
mod tests;
