//! `spool open FILE`: the original that a worker sealed into its archive (`spool.after = "archive"`). Sealed originals are
//! written and read here: chunks in order, each bound to its file and place, the last one marked as such, so that a file
//! that was cut off or put together does not open.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use uuid::Uuid;

use super::app::App;
use super::{CliError, Context, Exit};
use anamnesis_config::Settings;
use anamnesis_core::clock::Entropy;
use anamnesis_core::ids::derive;
use anamnesis_crypto::PlatformKey;

const MAGIC: &[u8; 8] = b"anspool1";
/// Bytes of the original in one chunk.
const CHUNK: usize = 1 << 20;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: SpoolSubcommand,
}

#[derive(Debug, Subcommand)]
enum SpoolSubcommand {
    /// Decrypt an archived original and write it to standard output; it may contain personal data
    Open {
        #[arg(value_name = "FILE")]
        path: PathBuf,
    },
}

/// # Errors
/// When the file is no sealed original of this store's platform key.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let SpoolSubcommand::Open { path } = args.what;
    context.block_on(async {
        let app = App::open(context).await?;
        let mut out = io::stdout().lock();
        let opened = unseal(&path, app.store.keys().platform(), &mut out);
        opened.map_err(|_| CliError::failed("the file is not a whole original that this store's keys sealed"))?;
        out.flush()?;
        Ok(Exit::Done)
    })
}

/// Name of the sealed original of a claim.
pub(crate) fn sealed_name(id: Uuid) -> String {
    format!("{}.sealed", id.simple())
}

/// Seals a file into a folder (made where it is not there), under the name of its claim. Readable by its owner only, and
/// on the disk when this returns. Doing it again changes nothing.
///
/// # Errors
/// Of the file system.
pub(crate) fn seal(
    file: &mut File,
    id: Uuid,
    folder: &Path,
    key: &PlatformKey,
    entropy: &dyn Entropy,
) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).recursive(true).create(folder)?;
    let (hidden, sealed) = (folder.join(format!(".{}", id.simple())), folder.join(sealed_name(id)));
    if sealed.exists() {
        return Ok(());
    }
    let _ = fs::remove_file(&hidden);
    let mut sealing = ChunkSealer::new(&hidden, id, key, entropy)?;
    io::copy(file, &mut sealing)?;
    let out = sealing.end()?;
    out.sync_all()?;
    fs::rename(&hidden, &sealed)?;
    File::open(folder)?.sync_all()
}

/// Writes the chunks of a sealed original.
struct ChunkSealer<'k> {
    out: File,
    id: Uuid,
    index: u64,
    chunk: Vec<u8>,
    key: &'k PlatformKey,
    entropy: &'k dyn Entropy,
}

impl<'k> ChunkSealer<'k> {
    fn new(path: &Path, id: Uuid, key: &'k PlatformKey, entropy: &'k dyn Entropy) -> io::Result<Self> {
        let mut out = File::options().write(true).create_new(true).mode(0o600).open(path)?;
        out.write_all(MAGIC)?;
        out.write_all(id.as_bytes())?;
        Ok(Self { out, id, index: 0, chunk: Vec::with_capacity(CHUNK), key, entropy })
    }

    fn put(&mut self, last: bool) -> io::Result<()> {
        let ciphertext = self.key.seal(place(self.id, self.index, last), &self.chunk, self.entropy);
        self.out.write_all(&u32::try_from(ciphertext.len()).map_err(io::Error::other)?.to_be_bytes())?;
        self.out.write_all(&ciphertext)?;
        self.index += 1;
        self.chunk.clear();
        Ok(())
    }

    /// The last chunk is marked as such: shorter than the others, or empty.
    fn end(mut self) -> io::Result<File> {
        self.put(true)?;
        Ok(self.out)
    }
}

impl Write for ChunkSealer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(CHUNK - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..taken]);
        if self.chunk.len() == CHUNK {
            self.put(false)?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Passes on the lines that do not name the erased subject.
struct LineFilter<'n, W> {
    out: W,
    line: Vec<u8>,
    names: &'n dyn Fn(&[u8]) -> bool,
    gone: u64,
}

impl<W: Write> LineFilter<'_, W> {
    fn end_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        if (self.names)(&line) {
            self.gone += 1;
            return Ok(());
        }
        self.out.write_all(&line)
    }
}

impl<W: Write> Write for LineFilter<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.end_line()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Removes the lines that `names` assigns to the erased subject from every sealed original of a folder; returns how
/// many. An original that does not open is not ours and stays. A crash leaves each file either old or new.
///
/// # Errors
/// Of the file system.
pub(crate) fn erase_lines(
    folder: &Path,
    key: &PlatformKey,
    entropy: &dyn Entropy,
    names: &dyn Fn(&[u8]) -> bool,
) -> io::Result<u64> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut gone = 0;
    for entry in entries {
        let path = entry?.path();
        let id = path.file_stem().and_then(|stem| stem.to_str()?.parse::<Uuid>().ok());
        let Some(id) = id.filter(|_| path.extension().is_some_and(|extension| extension == "sealed")) else { continue };
        let mut found = LineFilter { out: io::sink(), line: Vec::new(), names, gone: 0 };
        if unseal(&path, key, &mut found).and_then(|()| found.end_line()).is_err() || found.gone == 0 {
            continue;
        }
        let hidden = folder.join(format!(".{}", id.simple()));
        let _ = fs::remove_file(&hidden);
        let mut kept =
            LineFilter { out: ChunkSealer::new(&hidden, id, key, entropy)?, line: Vec::new(), names, gone: 0 };
        unseal(&path, key, &mut kept)?;
        kept.end_line()?;
        kept.out.end()?.sync_all()?;
        fs::rename(&hidden, &path)?;
        File::open(folder)?.sync_all()?;
        gone += found.gone;
    }
    Ok(gone)
}

/// Where a worker keeps sealed originals.
pub(crate) fn archive_folder(settings: &Settings) -> PathBuf {
    if settings.spool.archive.as_os_str().is_empty() {
        return settings.worker.spool.join(".archive");
    }
    settings.spool.archive.clone()
}

fn unseal(path: &Path, key: &PlatformKey, out: &mut impl Write) -> io::Result<()> {
    let defect = || io::Error::from(io::ErrorKind::InvalidData);
    let mut file = io::BufReader::new(File::open(path)?);
    let (mut magic, mut id) = ([0; 8], [0; 16]);
    file.read_exact(&mut magic)?;
    file.read_exact(&mut id)?;
    let id = Uuid::from_bytes(id);
    for index in 0.. {
        let mut size = [0; 4];
        file.read_exact(&mut size)?;
        let size = u64::from(u32::from_be_bytes(size));
        let mut sealed = Vec::new();
        if &magic != MAGIC || size > 2 * CHUNK as u64 || (&mut file).take(size).read_to_end(&mut sealed)? as u64 != size
        {
            return Err(defect());
        }
        if let Ok(plain) = key.open(place(id, index, true), &sealed) {
            out.write_all(&plain)?;
            return Ok(());
        }
        out.write_all(&key.open(place(id, index, false), &sealed).map_err(|_| defect())?)?;
    }
    Ok(())
}

/// The id for which a chunk is sealed.
fn place(id: Uuid, index: u64, last: bool) -> Uuid {
    derive("spool.original", &[id.as_bytes(), &index.to_be_bytes(), &[u8::from(last)]])
}
