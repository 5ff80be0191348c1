//! The twin through real sockets, as a client sees it.

mod errors;
mod graphql;
mod limits;
mod lists;
mod pulls;

use super::{Builder, Discussion, GithubTwin, Issue, Repo};
use crate::front::client::Client;

const TOKEN: &str = "ghp_twin_0000000000000000000000000000";

fn builder() -> Builder {
    let tool = Repo::new("acme/tool").open_pulls(250).closed_pulls(50);
    let tool =
        tool.issue(Issue::new(1001, 1_000)).issue(Issue::new(1002, 0)).discussion(Discussion::new(1003));
    let vault = Repo::new("acme/vault").private().open_pulls(3);
    GithubTwin::builder().seed(7).repo(tool).repo(vault).token(TOKEN, "ana")
}

async fn twin() -> GithubTwin {
    builder().start().await.unwrap()
}

fn anonymous(twin: &GithubTwin) -> Client {
    Client::new(twin.address()).with("user-agent", "plain-client")
}

fn client(twin: &GithubTwin) -> Client {
    anonymous(twin).with("authorization", &format!("Bearer {TOKEN}"))
}
