use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("folders");
        fs::write(path, content).expect("a file");
    }
    folder
}

/// (file name, line, content) of every record; an over-long line shows as `!`.
fn read(folder: &TempDir, max: usize) -> Vec<(String, u64, String)> {
    let spool = Spool::find(&[folder.path().to_path_buf()], max).expect("found");
    let total = spool.total_bytes().expect("files only");
    let mut records = spool.records();
    let mut seen = Vec::new();
    for record in records.by_ref() {
        let record = record.expect("readable");
        let name = Path::new(&*record.source).file_name().expect("a name").to_string_lossy().into_owned();
        let text = match record.content {
            LineContent::Line(bytes) => String::from_utf8(bytes).expect("utf-8"),
            LineContent::TooLong(_) | LineContent::Beyond => "!".to_string(),
        };
        seen.push((name, record.line, text));
    }
    assert_eq!(records.consumed(), total, "every byte is accounted for");
    seen
}

fn texts(files: &[(&str, &[u8])], max: usize) -> Vec<String> {
    read(&folder(files), max).into_iter().map(|(_, _, text)| text).collect()
}

#[test]
fn a_folder_is_read_in_the_order_of_its_paths_and_only_its_ndjson() {
    let files: &[(&str, &[u8])] = &[
        ("b.ndjson", b"{\"b\":1}\n"),
        ("a/z.JSONL", b"{\"a\":1}\n"),
        ("c.json", b"{\"c\":1}"),
        ("notes.txt", b"{\"no\":1}\n"),
        (".b.ndjson.part", b"{\"no\":2}\n"),
        (".hidden.ndjson", b"{\"no\":3}\n"),
    ];
    assert_eq!(texts(files, 100), ["{\"a\":1}", "{\"b\":1}", "{\"c\":1}"]);
}

#[test]
fn marks_line_ends_and_blank_lines_are_not_content() {
    let seen = read(&folder(&[("a.ndjson", b"\xEF\xBB\xBF{\"a\":1}\r\n\r\n   \n{\"b\":2}\r\n{\"c\":3}")]), 100);
    let lines: Vec<_> = seen.iter().map(|(_, line, text)| (*line, text.as_str())).collect();
    assert_eq!(lines, [(1, "{\"a\":1}"), (4, "{\"b\":2}"), (5, "{\"c\":3}")]);
}

#[test]
fn a_line_beyond_the_limit_is_reported_and_the_next_one_is_read() {
    let long = vec![b'x'; 300_000];
    let content = [b"{\"a\":1}\n".as_slice(), &long, b"\n{\"b\":2}\n"].concat();
    assert_eq!(texts(&[("a.ndjson", &content)], 1000), ["{\"a\":1}", "!", "{\"b\":2}"]);
}

#[test]
fn an_over_long_line_is_whole_up_to_the_limit() {
    let long = |bytes: usize| vec![b'x'; bytes];
    let content = [long(5_000), b"\n".to_vec(), long(KEPT_LINE_BYTES + 5), b"\n{}\n".to_vec()].concat();
    let folder = folder(&[("a.ndjson", &content)]);
    let spool = Spool::find(&[folder.path().join("a.ndjson")], 1_000).expect("found");
    let seen: Vec<LineContent> = spool.records().map(|record| record.expect("read").content).collect();
    assert!(seen == [LineContent::TooLong(long(5_000)), LineContent::Beyond, LineContent::Line(b"{}".to_vec())]);
}

#[test]
fn links_are_not_followed_neither_named_nor_below_a_folder_nor_put_in_a_files_place() {
    use std::os::unix::fs::symlink;
    let outside = folder(&[("secret.ndjson", b"{\"secret\":1}\n"), ("deep/secret.ndjson", b"{\"secret\":2}\n")]);
    let inside = folder(&[("a.ndjson", b"{\"a\":1}\n"), ("sub/b.ndjson", b"{\"b\":1}\n")]);
    symlink(outside.path().join("secret.ndjson"), inside.path().join("link.ndjson")).expect("a link");
    symlink(outside.path().join("deep"), inside.path().join("linked")).expect("a link");
    assert_eq!(read(&inside, 100).len(), 2);
    for name in ["link.ndjson", "linked"] {
        let error = Spool::find(&[inside.path().join(name)], 100).expect_err("a link");
        assert_eq!(error.kind, None);
        assert!(error.to_string().contains("is a link"), "{error}");
    }
    let spool = Spool::find(&[inside.path().to_path_buf()], 100).expect("found");
    for (place, target) in [("a.ndjson", "secret.ndjson"), ("sub", "deep")] {
        let place = inside.path().join(place);
        fs::rename(&place, place.with_extension("old")).expect("moved");
        symlink(outside.path().join(target), &place).expect("a link");
    }
    assert!(spool.records().all(|record| record.is_err()), "what was swapped after the listing is not read");
}

#[test]
fn a_json_file_may_hold_one_message_over_several_lines() {
    let files: &[(&str, &[u8])] = &[("a.json", b"{\n  \"a\": 1\n}\n"), ("b.json", b"{\"b\":1}\n{\"b\":2}\n")];
    assert_eq!(texts(files, 100), ["{\n  \"a\": 1\n}", "{\"b\":1}", "{\"b\":2}"]);
    assert_eq!(texts(&[("a.json", b"{\n  \"a\": 1\n}\n")], 6), ["!"]);
}

#[test]
fn offsets_lead_back_to_the_line() {
    let content = b"{\"a\":1}\n\n{\"b\":22}\n";
    let folder = folder(&[("a.ndjson", content)]);
    let spool = Spool::find(&[folder.path().join("a.ndjson")], 100).expect("found");
    let places: Vec<_> = spool.records().map(|record| record.expect("read")).map(|r| (r.start, r.end)).collect();
    assert_eq!(places, [(0, 8), (9, 18)]);
    assert_eq!(&content[9..17], b"{\"b\":22}");
}

#[test]
fn a_missing_path_is_named_with_its_kind() {
    let error = Spool::find(&[PathBuf::from("/does/not/exist")], 100).expect_err("not there");
    assert_eq!(error.kind, Some(io::ErrorKind::NotFound));
    assert!(error.to_string().starts_with("/does/not/exist: "));
}

#[test]
fn a_file_that_vanished_is_reported_and_the_others_are_read() {
    let folder = folder(&[("a.ndjson", b"{\"a\":1}\n"), ("b.ndjson", b"{\"b\":1}\n")]);
    let spool = Spool::find(&[folder.path().to_path_buf()], 100).expect("found");
    fs::remove_file(folder.path().join("a.ndjson")).expect("removed");
    let kinds: Vec<bool> = spool.records().map(|record| record.is_ok()).collect();
    assert_eq!(kinds, [false, true]);
}

#[test]
fn a_record_does_not_show_its_line() {
    let content = LineContent::Line(b"me llamo Luc".to_vec());
    let record = SpoolRecord { source: "a".into(), line: 3, start: 0, end: 9, content };
    assert_eq!(format!("{record:?}"), "Record(line 3, bytes 0..9)");
}

proptest! {
    #[test]
    fn every_line_within_the_limit_comes_out_once_and_in_order(lines in prop::collection::vec("[a-z ]{0,40}", 0..30), ends in prop::bool::ANY) {
        let separator = if ends { "\r\n" } else { "\n" };
        let content = lines.join(separator);
        let expected: Vec<String> = lines.iter().filter(|line| !line.trim().is_empty())
            .map(|line| if line.len() > 24 { "!".to_string() } else { line.clone() }).collect();
        // 20 bytes are promised, 24 may pass: the decoder has the last word on the exact size.
        let seen = texts(&[("a.ndjson", content.as_bytes())], 20);
        prop_assert_eq!(seen.len(), expected.len());
        for (seen, expected) in seen.iter().zip(&expected) {
            prop_assert!(seen == expected || expected.len() > 20 && seen == "!", "{seen} for {expected}");
        }
    }
}
