//! Parse, dispatch, exit code. Everything else is in the library.

/// Redaction and extraction allocate many small strings; mimalloc also returns memory after a large batch.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    anamnesis::cli::main(std::env::args_os()).into()
}
