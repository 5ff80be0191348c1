//! One item, or all in a state: the choice that `retry` and `cancel` offer.

use loom_api::{Client, LIMIT_MAX, query, routes};
use loom_domain::{Code, Error, inbox, outbox};
use serde_json::Value;

use crate::cli::parsers;
use crate::commands::common::ids;
use crate::context::Context;
use crate::failure::Outcome;
use crate::output::{items, pick};

/// Most items one command works on.
const BULK_ITEMS_MAX: usize = 10_000;

/// Which of the two stores of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selection {
    /// The Inbox.
    Inbox,
    /// The Outbox.
    Outbox,
}

/// Flags of a command on many items.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Bulk {
    /// All items in a state instead of one; needs --yes
    #[arg(long)]
    all: bool,
    /// State of the items, with --all
    #[arg(long, value_name = "S", requires = "all")]
    state: Option<String>,
    /// Address of the items, with --all
    #[arg(long, value_name = "ADR", requires = "all", value_parser = parsers::address)]
    address: Option<String>,
}

impl Bulk {
    /// The ids that are meant: the one given, or all that the filters find, counted and confirmed.
    pub(crate) async fn ids(
        &self,
        one: Option<&String>,
        selection: Selection,
        verb: &str,
        cx: &mut Context<'_, '_>,
    ) -> Outcome<Vec<String>> {
        match (one, self.all) {
            (Some(id), false) => return Ok(vec![id.clone()]),
            (Some(_), true) => {
                return Err(Error::new(Code::MutuallyExclusive, "an id and --all exclude each other").into());
            }
            (None, false) => {
                return Err(Error::new(Code::MissingField, "give an id, or --all with --state").into());
            }
            (None, true) => {}
        }
        let Some(state) = self.state.as_deref() else {
            return Err(Error::new(Code::MissingField, "--all needs --state").into());
        };
        check_state(selection, state)?;
        let found = self.find(selection, state, &cx.hub()?).await?;
        cx.confirmed(&format!("{verb} {} items in state {state}", found.len()))?;
        Ok(found)
    }

    async fn find(&self, selection: Selection, state: &str, hub: &Client) -> Outcome<Vec<String>> {
        let mut found: Vec<String> = Vec::new();
        let mut cursor = None;
        loop {
            let page: Value = self.page(selection, state, cursor, hub).await?;
            found.extend(ids(items(&page), if selection == Selection::Inbox { "item.id" } else { "id" }));
            cursor = Some(pick::text(&page, "nextCursor")).filter(|cursor| !cursor.is_empty());
            if cursor.is_none() || found.len() >= BULK_ITEMS_MAX {
                found.truncate(BULK_ITEMS_MAX);
                return Ok(found);
            }
        }
    }

    async fn page(
        &self,
        selection: Selection,
        state: &str,
        cursor: Option<String>,
        hub: &Client,
    ) -> Outcome<Value> {
        let (state, address, limit) = (Some(state.to_owned()), self.address.clone(), Some(LIMIT_MAX));
        let call = match selection {
            Selection::Inbox => hub.get(routes::inbox()).query(&query::Inbox {
                state,
                address,
                limit,
                cursor,
                ..query::Inbox::default()
            })?,
            Selection::Outbox => hub.get(routes::outbox()).query(&query::Outbox {
                state,
                address,
                limit,
                cursor,
                ..query::Outbox::default()
            })?,
        };
        Ok(call.run().await?)
    }
}

fn check_state(selection: Selection, state: &str) -> Outcome {
    match selection {
        Selection::Inbox => drop(state.parse::<inbox::State>()?),
        Selection::Outbox => drop(state.parse::<outbox::State>()?),
    }
    Ok(())
}
