//! Runs the examples as a programmer would, against twins.

#[cfg(test)]
mod examples {
    use std::path::PathBuf;
    use std::process::{Output, Stdio};

    use loom_twins::github::{GithubTwin, Issue, Repo};
    use loom_twins::sec::SecTwin;
    use tokio::process::Command;

    /// The built example; `cargo test -p loopx` builds all of them.
    fn example(name: &str) -> Command {
        let mut folder: PathBuf = std::env::current_exe().unwrap();
        folder.pop();
        folder.pop();
        let program = folder.join("examples").join(name);
        assert!(program.exists(), "the example {name} is not built; run `cargo test -p loopx`");
        let mut command = Command::new(program);
        command.env_clear().stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    async fn said(command: &mut Command) -> String {
        let Output { status, stdout, stderr } = command.output().await.unwrap();
        assert!(status.success(), "{status} {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).unwrap()
    }

    /// CAP-125: without input the Turn needs neither network nor hub.
    #[tokio::test]
    async fn cap_125_the_turn_tells_its_connector() {
        let said = said(&mut example("turn")).await;
        assert_eq!(said.lines().next(), Some("\"github_public_probe\""), "{said}");
    }

    /// With an address it reads the issue.
    #[tokio::test]
    async fn the_turn_reads_an_issue() {
        let repo = Repo::new("acme/tool").issue(Issue::new(7, 0));
        let twin = GithubTwin::builder().repo(repo).start().await.unwrap();
        let mut command = example("turn");
        command.arg("https://github.com/acme/tool/issues/7").env("LOOM_GITHUB_API_URL", twin.base_url());
        let said = said(&mut command).await;
        assert!(said.contains("\"number\":7") && said.contains("The parser fails on input 7"), "{said}");
        assert_eq!(twin.request_count(), 1);
    }

    /// CAP-039: an answer other than 2xx is an error with its code.
    #[tokio::test]
    async fn cap_039_a_refused_post_is_a_coded_error() {
        let twin = GithubTwin::builder().start().await.unwrap();
        let mut command = example("http_post");
        command.arg(format!("{}/nothing/here", twin.base_url())).env("LOOM_LOCAL_ORIGINS", twin.base_url());
        let said = said(&mut command).await;
        assert!(said.starts_with("provider_http_error Some(404)"), "{said}");
    }

    /// The newest filing by its ticker, and a coded error without a contact.
    #[tokio::test]
    async fn the_filing_is_found_by_its_ticker() {
        let twin = SecTwin::builder().start().await.unwrap();
        let newest = twin.company("AAPL").unwrap();
        let mut command = example("filing");
        command.arg("AAPL").env("LOOM_SEC_API_URL", twin.base_url());
        let refused = command.output().await.unwrap();
        assert!(!refused.status.success());
        assert!(String::from_utf8_lossy(&refused.stderr).contains("contact"), "{refused:?}");
        assert_eq!(twin.request_count(), 0);
        let said = said(command.env("LOOM_SEC_CONTACT", "Ana Example ana@example.com")).await;
        assert!(said.starts_with("10-"), "{said}");
        assert!(said.contains(&newest.cik.to_string()), "{said}");
    }
}
