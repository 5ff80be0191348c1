//! `loopx`: the same program under its second name.

fn main() -> std::process::ExitCode {
    loom_cli::run()
}
