//! `loom`.

fn main() -> std::process::ExitCode {
    loom_cli::run()
}
