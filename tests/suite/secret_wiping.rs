//! Secrets of the settings are in memory once while they are stored, and nowhere once they are dropped: code that read,
//! merged or passed them on has wiped its copy.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;

use anamnesis_config::secrets::PassedSecrets;
use anamnesis_config::{load, load_with};
use zeroize::{Zeroize as _, Zeroizing};

/// Writes a configuration with fresh secrets, which this process never holds: `needles` has one of them a line.
const WRITE: &str = r#"
fresh() { od -An -N20 -tx1 /dev/urandom | tr -d ' \n'; }
cd "$1"
umask 077
for name in master hook api proxy model file broker store handed; do
    eval "$name=$(fresh)"
    eval "printf '%s\n' \"\$$name\"" >>needles
done
printf 'http://u:%s@127.0.0.1:9' "$file" >management
cat >settings.toml <<END
[store]
master_key = "$master"
url = 'postgres://u:$store@127.0.0.1/db'
[broker]
url = 'amqp://u:$broker@127.0.0.1/%2f'
management_url_file = '$1/management'
[[broker.webhooks]]
url = 'https://clinic.example/hook'
secret = "$hook"
[embedding]
api_key = '$api'
proxy = "http://u:$proxy@127.0.0.1:9"
[extraction.llm]
api_key = "$model"
END
printf '{"ANAMNESIS__STORE__KEYS_URL":"postgres://k:%s@127.0.0.1/keys"}' "$handed" >handed
"#;

/// A secret with every bit turned over, so that it is not its own occurrence.
struct Needle(Vec<u8>);

impl Needle {
    fn is_at(&self, bytes: &[u8]) -> bool {
        bytes.len() >= self.0.len() && self.0.iter().zip(bytes).all(|(turned, byte)| *turned == !*byte)
    }
}

fn needles(file: &Path) -> Vec<Needle> {
    let mut bytes = Zeroizing::new(vec![0; 4_096]);
    let length = File::open(file).unwrap().read(&mut bytes).unwrap();
    let lines = bytes[..length].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| Needle(line.iter().map(|byte| !byte).collect())).collect()
}

/// How often each occurs in the writable memory of this process.
fn occurrences(needles: &[Needle]) -> Vec<usize> {
    let mut found = vec![0; needles.len()];
    let memory = File::open("/proc/self/mem").unwrap();
    let mut buffer = vec![0u8; 1 << 20];
    let own = buffer.as_ptr() as u64..buffer.as_ptr() as u64 + buffer.len() as u64;
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    for line in maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|rights| rights.starts_with("rw"))) {
        let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let [mut at, to] = [from, to].map(|address| u64::from_str_radix(address, 16).unwrap());
        while at < to {
            let wanted = buffer.len().min(usize::try_from(to - at).unwrap());
            let Ok(read) = memory.read_at(&mut buffer[..wanted], at) else { break };
            for start in 0..read {
                // A match across the end is found with the next piece.
                let piece = &buffer[start..read];
                let here = at + start as u64;
                for (n, needle) in needles.iter().enumerate().filter(|_| !own.contains(&here)) {
                    found[n] += usize::from(piece[0] == !needle.0[0] && needle.is_at(piece));
                }
            }
            let longest = needles.iter().map(|needle| needle.0.len()).max().unwrap();
            at += if read < wanted || read <= longest {
                (to - at).min(read.max(1) as u64)
            } else {
                (read - longest) as u64
            };
            if at + longest as u64 >= to {
                break;
            }
        }
    }
    buffer.zeroize();
    found
}

#[test]
fn secrets_of_the_settings_lie_in_memory_once_and_nowhere_when_they_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display().to_string();
    assert!(Command::new("sh").args(["-c", WRITE, "sh", &place]).status().unwrap().success());
    let needles = needles(&folder.path().join("needles"));
    assert_eq!(needles.len(), 9);
    assert_eq!(occurrences(&needles), [0; 9], "this process does not know them");
    let input = anamnesis_config::secrets::read_wiping(File::open(folder.path().join("handed")).unwrap()).unwrap();
    let handed: PassedSecrets = serde_json::from_slice(&input).unwrap();
    drop(input);
    let settings = load_with(Some(&folder.path().join("settings.toml")), &handed).unwrap();
    drop(handed);
    assert_eq!(occurrences(&needles), [1; 9], "each where it is kept, and nowhere else");
    let copy = settings.clone();
    assert_eq!(occurrences(&needles), [2; 9], "a copy is seen");
    drop((settings, copy));
    assert_eq!(occurrences(&needles), [0; 9], "what was dropped was wiped");
}

#[test]
fn a_configuration_that_is_refused_leaves_no_secret_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display().to_string();
    let wrong = [WRITE, "printf '[log]\\nfilter = 7\\nno_such_key = 1\\n' >>settings.toml\n"].concat();
    assert!(Command::new("sh").args(["-c", &wrong, "sh", &place]).status().unwrap().success());
    let needles = needles(&folder.path().join("needles"));
    assert!(load(Some(&folder.path().join("settings.toml"))).is_err());
    assert_eq!(occurrences(&needles), [0; 9]);
}
