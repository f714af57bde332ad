//! `anamnesis-bench audit|ingest|messages|extract|recall|restore|growth|jobs|peers|redact|storage`: what this machine does, in stores that are made for
//! it and removed again.

/// The allocator of the program: what is measured is what runs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    anamnesis_bench::main()
}
