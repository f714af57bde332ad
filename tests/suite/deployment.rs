//! Shipped files agree with the program: image, chart, make targets.

use std::path::{Path, PathBuf};

use regex::Regex;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn rust_files(directory: &Path, found: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            // Files that only tests include are in no image.
            && !path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("tests.rs"))
        {
            found.push(path);
        }
    }
}

#[test]
fn the_image_is_built_from_everything_that_the_sources_include() {
    let admitted: Vec<String> =
        read(".dockerignore").lines().filter_map(|l| l.strip_prefix('!')).map(str::to_owned).collect();
    let include = Regex::new(r#"(?s)(?:include_str|include_bytes|include|migrate)!\((?:concat!\(env!\("CARGO_MANIFEST_DIR"\),\s*)?"([^"]+)""#).unwrap();
    let mut files = Vec::new();
    for folder in ["src", "crates"] {
        rust_files(&root().join(folder), &mut files);
    }
    let mut included = 0;
    // Files that tests include are not part of the image.
    files.retain(|file| !file.to_string_lossy().contains("tests"));
    for file in files {
        for found in include.captures_iter(&std::fs::read_to_string(&file).unwrap()) {
            let relative = found[1].trim_start_matches('/');
            let base = if found[0].contains("migrate!") {
                root().join("crates/sql")
            } else {
                file.parent().unwrap().to_owned()
            };
            let Ok(path) = base.join(relative).canonicalize() else { continue };
            let inside = path.strip_prefix(root().canonicalize().unwrap()).unwrap().to_owned();
            let top = inside.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
            assert!(
                admitted.contains(&top),
                "{} includes {}, which .dockerignore keeps out",
                file.display(),
                inside.display()
            );
            included += 1;
        }
    }
    assert!(included > 5, "the pattern still finds what is included");
}

#[test]
fn the_image_sets_configuration_keys_that_exist() {
    let keys: toml::Table = toml::from_str(anamnesis_config::REFERENCE).unwrap();
    let variable = Regex::new(r"ANAMNESIS__([A-Z]+)__([A-Z_]+)=").unwrap();
    let dockerfile = read("Dockerfile");
    let set: Vec<_> = variable.captures_iter(&dockerfile).collect();
    assert!(set.len() >= 4);
    for found in set {
        let (section, key) = (found[1].to_lowercase(), found[2].to_lowercase());
        assert!(keys[&section].as_table().unwrap().contains_key(&key), "{section}.{key}");
    }
}

#[test]
fn neither_image_nor_chart_keeps_the_root_key_next_to_what_it_opens() {
    let value = |text: &str, name: &str| {
        let line = Regex::new(&format!(r#"(?m){name}(?:=|\n\s*value: )"?([^"\s\\]+)"#)).unwrap();
        line.captures_iter(text).map(|found| found[1].to_owned()).collect::<Vec<_>>()
    };
    let parent = |path: &str| Path::new(path).parent().unwrap().to_owned();
    for file in ["Dockerfile", "helm/anamnesis/templates/_helpers.tpl"] {
        let text = read(file);
        let roots = value(&text, "ANAMNESIS__STORE__MASTER_KEY_FILE");
        assert!(!roots.is_empty(), "{file}");
        for place in ["ANAMNESIS__STORE__PATH", "ANAMNESIS__STORE__KEYS"] {
            let place = parent(&value(&text, place)[0]);
            for root in &roots {
                assert!(!Path::new(root).starts_with(&place), "{file}: {root} is below {}", place.display());
            }
        }
        assert!(!text.contains("ANAMNESIS__STORE__MASTER_KEY\n"), "{file}: the root key in the environment");
    }
}

#[test]
fn image_and_chart_run_as_the_same_user() {
    assert!(read("Dockerfile").contains("\nUSER 65532:65532\n"));
    assert!(read("helm/anamnesis/values.yaml").contains("runAsUser: 65532"));
}

#[test]
fn the_chart_is_of_the_version_of_the_program() {
    let chart = read("helm/anamnesis/Chart.yaml");
    assert!(chart.contains(&format!("\nappVersion: {}\n", env!("CARGO_PKG_VERSION"))), "{chart}");
}

#[test]
fn the_schema_of_the_charts_values_knows_every_job_and_refuses_every_other() {
    let schema: serde_json::Value = serde_json::from_str(&read("helm/anamnesis/values.schema.json")).unwrap();
    let jobs = &schema["properties"]["jobs"];
    let known: Vec<&String> = jobs["properties"].as_object().unwrap().keys().collect();
    let mut registered: Vec<&str> = anamnesis_jobs::JobName::ALL.iter().map(|job| job.code()).collect();
    registered.sort_unstable();
    assert_eq!(known, registered);
    assert_eq!(jobs["additionalProperties"], false);
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn the_set_up_builds_with_the_toolchain_that_the_package_asks_for() {
    let wanted = env!("CARGO_PKG_RUST_VERSION");
    assert!(read("Dockerfile").contains(&format!("FROM rust:{wanted}-")), "the image builds with Rust {wanted}");
}

#[test]
fn the_promised_make_targets_exist() {
    let makefile = read("Makefile");
    for target in ["demo", "test", "bench", "lint", "docs", "help"] {
        assert!(makefile.contains(&format!("\n{target}:")), "make {target}");
    }
}
