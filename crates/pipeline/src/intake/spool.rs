//! NDJSON from files, folders and standard input, in bounded memory: one line at a time, and of a line beyond the limit
//! no more than [`KEPT_LINE_BYTES`]. No links are followed, neither as an argument nor below a folder.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::spool_folder::{folder, regular};

/// Extensions that a folder is searched for.
const EXTENSIONS: [&str; 3] = ["ndjson", "jsonl", "json"];
/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// Stored bytes of an over-long line, for quarantine: also the largest message that RabbitMQ accepts.
pub(crate) const KEPT_LINE_BYTES: usize = 16 << 20;

/// Why a file or folder cannot be read. Names the path as the person gave it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {}", .kind.map_or_else(|| "is a link; name what it leads to".to_owned(), |kind| kind.to_string()))]
pub struct SpoolError {
    pub(crate) path: String,
    /// `None` for a link.
    pub(crate) kind: Option<io::ErrorKind>,
}

impl SpoolError {
    fn new(path: &Path, error: &io::Error) -> Self {
        let link = path.symlink_metadata().is_ok_and(|about| about.is_symlink());
        Self { path: path.display().to_string(), kind: (!link).then(|| error.kind()) }
    }
}

/// One place to read from.
#[derive(Debug)]
enum SpoolInput {
    Stdin,
    /// A file that a person named.
    File {
        path: PathBuf,
        bytes: u64,
    },
    /// A file below a folder: reached from the folder's handle, step by step.
    Below {
        root: Arc<OwnedFd>,
        top: PathBuf,
        path: PathBuf,
        bytes: u64,
    },
    /// A file that is open already.
    Open {
        file: File,
        name: String,
        bytes: u64,
    },
}

/// The inputs, in order.
#[derive(Debug)]
pub struct Spool {
    inputs: Vec<SpoolInput>,
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
                inputs.push(SpoolInput::Stdin);
                continue;
            }
            let failed = |error: &io::Error| SpoolError::new(path, error);
            // Devices that a shell passes (`<(…)`, /dev/stdin) are always links.
            let device = path.starts_with("/dev");
            let about = if device { path.metadata() } else { path.symlink_metadata() };
            let about = about.map_err(|error| failed(&error))?;
            if about.is_symlink() {
                return Err(SpoolError { path: path.display().to_string(), kind: None });
            }
            if about.is_dir() {
                let root = Arc::new(folder(rustix::fs::CWD, path).map_err(|error| failed(&error))?);
                collect(&root, path, Path::new(""), &mut inputs)?;
            } else {
                inputs.push(SpoolInput::File { path: path.clone(), bytes: about.len() });
            }
        }
        Ok(Self { inputs, max_line_bytes })
    }

    /// One file that is open already, by the name that decides how it is read.
    pub fn from_file(file: File, name: &str, max_line_bytes: usize) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Self { inputs: vec![SpoolInput::Open { file, name: name.to_owned(), bytes }], max_line_bytes })
    }

    /// Bytes to read in all, for progress; unknown as soon as standard input is among them.
    pub fn total_bytes(&self) -> Option<u64> {
        let size = |input: &SpoolInput| match input {
            SpoolInput::Stdin => None,
            SpoolInput::File { bytes, .. } | SpoolInput::Below { bytes, .. } | SpoolInput::Open { bytes, .. } => {
                Some(*bytes)
            }
        };
        self.inputs.iter().map(size).sum()
    }

    /// The lines of all inputs, one after the other.
    pub fn records(self) -> SpoolRecords {
        SpoolRecords {
            waiting: self.inputs.into_iter(),
            current: None,
            max_line_bytes: self.max_line_bytes,
            consumed: 0,
        }
    }
}

/// Files below a folder that was opened as `root` and named `top`; `path` is relative to it.
fn collect(root: &Arc<OwnedFd>, top: &Path, path: &Path, inputs: &mut Vec<SpoolInput>) -> Result<(), SpoolError> {
    let here = top.join(path);
    let failed = |error: &io::Error| SpoolError::new(&here, error);
    let mut entries = Vec::new();
    for entry in here.read_dir().map_err(|error| failed(&error))? {
        entries.push(entry.map_err(|error| failed(&error))?);
    }
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let below = path.join(&name);
        let kind = entry.file_type().map_err(|error| failed(&error))?;
        if kind.is_dir() {
            collect(root, top, &below, inputs)?;
        } else if kind.is_file() && has_extension(&below) {
            // A producer may have moved it since the listing.
            let Ok(about) = entry.metadata() else { continue };
            let (root, top) = (Arc::clone(root), top.to_owned());
            inputs.push(SpoolInput::Below { root, top, path: below, bytes: about.len() });
        }
    }
    Ok(())
}

/// Opens a file below a folder: every step by the handle of the last, so that none of them can be a link.
fn open_below(root: &OwnedFd, path: &Path) -> io::Result<File> {
    let mut here: Option<OwnedFd> = None;
    for step in path.parent().into_iter().flat_map(Path::components) {
        let at = here.as_ref().map_or(root.as_fd(), |fd| fd.as_fd());
        here = Some(folder(at, Path::new(step.as_os_str()))?);
    }
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    regular(here.as_ref().map_or(root.as_fd(), |fd| fd.as_fd()), Path::new(name))
}

/// Whether a name says that the file is NDJSON or one JSON value.
pub(super) fn has_extension(path: &Path) -> bool {
    path.extension().is_some_and(|extension| EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

/// One line and its position.
#[derive(Clone, PartialEq, Eq)]
pub struct SpoolRecord {
    /// The file's path, or `-`.
    pub source: Arc<str>,
    /// From 1.
    pub line: u64,
    /// Byte offsets of the line in its source, the line feed included.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub content: LineContent,
}

/// The bytes of a line.
#[derive(Clone, PartialEq, Eq)]
pub enum LineContent {
    /// Without byte order mark and line end; never blank.
    Line(Vec<u8>),
    /// Longer than the limit of a message, whole.
    TooLong(Vec<u8>),
    /// Longer than [`KEPT_LINE_BYTES`]: passed over, not held.
    Beyond,
}

impl std::fmt::Debug for SpoolRecord {
    /// A line contains a patient's words, so only its position is printed.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Record(line {}, bytes {}..{})", self.line, self.start, self.end)
    }
}

/// Reads lines one by one. After an error of one file the next file follows.
pub struct SpoolRecords {
    waiting: std::vec::IntoIter<SpoolInput>,
    current: Option<LineReader>,
    max_line_bytes: usize,
    consumed: u64,
}

impl SpoolRecords {
    /// Bytes read so far in all inputs, blank lines and line ends included.
    pub fn consumed(&self) -> u64 {
        self.consumed
    }
}

impl Iterator for SpoolRecords {
    type Item = Result<SpoolRecord, SpoolError>;

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
                        return Some(Err(SpoolError { path, kind: Some(error.kind()) }));
                    }
                }
            }
            match LineReader::open(self.waiting.next()?) {
                Ok(lines) => self.current = Some(lines),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// The lines of one input.
struct LineReader {
    source: Arc<str>,
    reader: Box<dyn BufRead + Send>,
    line: u64,
    position: u64,
    /// A `.json` file may hold one message over several lines.
    may_be_whole: bool,
}

/// The stored part of a line that was read to its end.
#[derive(Default)]
struct LineBuffer {
    bytes: Vec<u8>,
    /// Longer than a message may be.
    too_long: bool,
    /// Longer than the stored part.
    beyond: bool,
}

impl LineBuffer {
    /// Adds bytes of the line while they may be held.
    fn add(&mut self, part: &[u8], max: usize) {
        let length = self.bytes.len() + part.len();
        // Three bytes of a mark and one carriage return do not count against the message.
        self.too_long |= length > max + 4;
        self.beyond |= length > KEPT_LINE_BYTES.max(max) + 4;
        if self.beyond {
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(part);
        }
    }

    fn content(self) -> LineContent {
        match self {
            Self { beyond: true, .. } => LineContent::Beyond,
            Self { too_long: true, bytes, .. } => LineContent::TooLong(bytes),
            Self { bytes, .. } => LineContent::Line(bytes),
        }
    }
}

impl LineReader {
    fn open(input: SpoolInput) -> Result<Self, SpoolError> {
        let of = |file: File, name: &Path| {
            let whole = name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
            (Box::new(BufReader::with_capacity(CHUNK, file)) as Box<dyn BufRead + Send>, whole)
        };
        let (source, (reader, whole)) = match input {
            SpoolInput::Stdin => {
                let reader: Box<dyn BufRead + Send> = Box::new(BufReader::with_capacity(CHUNK, io::stdin()));
                ("-".to_owned(), (reader, false))
            }
            SpoolInput::File { path, .. } => {
                // A link that replaced the file since it was listed is refused here.
                let file = if path.starts_with("/dev") { File::open(&path) } else { regular_or_pipe(&path) };
                let file = file.map_err(|error| SpoolError::new(&path, &error))?;
                (path.display().to_string(), of(file, &path))
            }
            SpoolInput::Below { root, top, path, .. } => {
                let whole = top.join(&path);
                let file = open_below(&root, &path).map_err(|error| SpoolError::new(&whole, &error))?;
                (whole.display().to_string(), of(file, &path))
            }
            SpoolInput::Open { file, name, .. } => {
                let read = of(file, Path::new(&name));
                (name, read)
            }
        };
        Ok(Self { source: source.into(), reader, line: 0, position: 0, may_be_whole: whole })
    }

    fn next_record(&mut self, max: usize) -> io::Result<Option<SpoolRecord>> {
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
            let (source, content) = (Arc::clone(&self.source), taken.content());
            return Ok(Some(SpoolRecord { source, line, start, end: self.position, content }));
        }
    }

    /// Reads to the next line feed or the end. Holds at most `max` bytes of it.
    fn take_line(&mut self, max: usize) -> io::Result<Option<LineBuffer>> {
        let mut taken = LineBuffer::default();
        let mut read = 0;
        loop {
            let chunk = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            let step = end.map_or(chunk.len(), |end| end + 1);
            taken.add(part, max);
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
    fn take_rest_if_open(&mut self, taken: &mut LineBuffer, max: usize) -> io::Result<()> {
        let finished = serde_json::from_slice::<serde::de::IgnoredAny>(&taken.bytes);
        if taken.too_long || !finished.is_err_and(|error| error.is_eof()) {
            return Ok(());
        }
        while let Some(next) = self.take_line(max)? {
            // The line feed between them belongs to the message.
            taken.add(b"\n", max.saturating_sub(4));
            taken.add(&next.bytes, max.saturating_sub(4));
            taken.beyond |= next.beyond;
            taken.too_long |= next.too_long;
        }
        Ok(())
    }
}

/// A file that a person named: anything but a link. A pipe is read as a person means it.
fn regular_or_pipe(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let nofollow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).map_err(io::Error::other)?;
    File::options().read(true).custom_flags(nofollow).open(path)
}

#[cfg(test)]
#[path = "spool_tests.rs"]
mod tests;
