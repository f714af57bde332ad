//! `spool open FILE`: the original that a worker sealed into its archive (`spool.after = "archive"`). Sealed originals are
//! written and read here: chunks in order, each bound to its file and place, the last one marked as such, so that a file
//! that was cut off or put together does not open.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use uuid::Uuid;

use super::world::World;
use super::{Context, Exit, Failure};
use anamnesis_core::clock::Entropy;
use anamnesis_core::ids::derive;
use anamnesis_crypto::PlatformKey;

const MAGIC: &[u8; 8] = b"anspool1";
/// Bytes of the original in one chunk.
const CHUNK: usize = 1 << 20;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Write a sealed original to standard output as it came: it may hold what a patient said
    Open {
        #[arg(value_name = "FILE")]
        path: PathBuf,
    },
}

/// # Errors
/// When the file is no sealed original of this store's platform key.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let What::Open { path } = args.what;
    context.block_on(async {
        let world = World::open(context).await?;
        let mut out = io::stdout().lock();
        let opened = unseal(&path, world.store.keys().platform(), &mut out);
        world.store.close().await;
        opened.map_err(|_| Failure::failed("the file is not a whole original that this store's keys sealed"))?;
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
    let mut out = File::options().write(true).create_new(true).mode(0o600).open(&hidden)?;
    out.write_all(MAGIC)?;
    out.write_all(id.as_bytes())?;
    let mut index = 0;
    loop {
        let mut chunk = Vec::with_capacity(CHUNK);
        file.take(CHUNK as u64).read_to_end(&mut chunk)?;
        let last = chunk.len() < CHUNK;
        let ciphertext = key.seal(place(id, index, last), &chunk, entropy);
        out.write_all(&u32::try_from(ciphertext.len()).map_err(io::Error::other)?.to_be_bytes())?;
        out.write_all(&ciphertext)?;
        index += 1;
        if last {
            break;
        }
    }
    out.sync_all()?;
    fs::rename(&hidden, &sealed)?;
    File::open(folder)?.sync_all()
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

/// What a chunk is sealed for.
fn place(id: Uuid, index: u64, last: bool) -> Uuid {
    derive("spool.original", &[id.as_bytes(), &index.to_be_bytes(), &[u8::from(last)]])
}
