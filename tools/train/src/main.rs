//! `anamnesis-train redaction|risk|meaning`: trains the models that the program ships, and evaluates them.

fn main() -> std::process::ExitCode {
    anamnesis_train::main()
}
