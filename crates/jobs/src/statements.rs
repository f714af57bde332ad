//! The statements of the jobs: those of the folder `sql`, which is their registry.

use anamnesis_store::NamedStatement;

include!(concat!(env!("OUT_DIR"), "/statements.rs"));
