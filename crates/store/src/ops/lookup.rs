//! Finds what callers name, and turns the filters of lists into conditions.

use loom_domain::{Agent, AgentId, Code, Error, Principal, Result, Timestamp, time::parse_duration_ms};

use crate::{
    docs::{self, Doc},
    page::{Page, PageQuery},
    params,
    tx::{Tx, Value},
};

/// Finds an Agent by name (ignoring case) or id.
pub(crate) fn agent(tx: &mut dyn Tx, name_or_id: &str) -> Result<Agent> {
    if name_or_id.starts_with(AgentId::PREFIX) {
        let id: AgentId = name_or_id.parse()?;
        return docs::require(tx, id.as_str());
    }
    docs::find(tx, "name_key = ?1", &params![name_or_id.to_ascii_lowercase()])?
        .ok_or_else(|| Error::not_found("agent", name_or_id))
}

/// An optional id in a request.
pub(crate) fn id<T: std::str::FromStr<Err = Error>>(text: Option<&str>) -> Result<Option<T>> {
    text.map(str::parse).transpose()
}

/// The time that `since` names: an RFC 3339 time, or a duration back from now.
pub(crate) fn since(now: Timestamp, text: &str) -> Result<Timestamp> {
    match text.parse() {
        Ok(time) => Ok(time),
        Err(_) => Ok(now.plus_ms(-parse_duration_ms(text)?)),
    }
}

/// Conditions joined by AND.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    sql: String,
    values: Vec<Value>,
}

impl Filter {
    /// Adds a condition; `?` in it stands for the value.
    pub(crate) fn and(&mut self, condition: &str, value: impl Into<Value>) {
        self.values.push(value.into());
        let place = format!("?{}", self.values.len());
        self.plain(&condition.replace('?', &place));
    }

    /// Adds a condition without a value.
    pub(crate) fn plain(&mut self, condition: &str) {
        if !self.sql.is_empty() {
            self.sql.push_str(" AND ");
        }
        self.sql.push_str(condition);
    }

    /// Adds `column = value` for a given value.
    pub(crate) fn eq(&mut self, column: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.and(&format!("{column} = ?"), value);
        }
    }

    /// Adds `column IN (values)`; no values means no condition.
    pub(crate) fn any_of(&mut self, column: &str, values: &[String]) {
        if values.is_empty() {
            return;
        }
        let mut places = Vec::with_capacity(values.len());
        for value in values {
            self.values.push(value.as_str().into());
            places.push(format!("?{}", self.values.len()));
        }
        self.plain(&format!("{column} IN ({})", places.join(", ")));
    }

    /// The condition and its values.
    pub(crate) fn parts(self) -> (String, Vec<Value>) {
        let sql = if self.sql.is_empty() { "1 = 1".to_owned() } else { self.sql };
        (sql, self.values)
    }

    /// Keeps a principal to the Agents it may see; gives the Agent that the list is about.
    pub(crate) fn agent_of(
        &mut self,
        tx: &mut dyn Tx,
        principal: &Principal,
        named: Option<&str>,
    ) -> Result<()> {
        let named = named.map(|name| agent(tx, name)).transpose()?.map(|agent| agent.id);
        let chosen = match (principal, named) {
            (Principal::Connector(_), _) => return Err(forbidden()),
            (Principal::Agent(own), Some(named)) if *own != named => return Err(forbidden()),
            (Principal::Agent(own), _) => Some(own.clone()),
            (_, named) => named,
        };
        self.eq("agent_id", chosen.as_ref().map(AgentId::as_str));
        Ok(())
    }

    /// Reads a page of the records that match.
    pub(crate) fn page<D: Doc>(
        self,
        tx: &mut dyn Tx,
        query: &PageQuery,
        seq_of: impl Fn(&D) -> u64,
    ) -> Result<Page<D>> {
        let (sql, values) = self.parts();
        crate::page::page(tx, &sql, values, query, seq_of)
    }

    /// Reads a page of the records that match and that `keep` wants, however many are passed over.
    pub(crate) fn page_where<D: Doc>(
        self,
        tx: &mut dyn Tx,
        query: &PageQuery,
        seq_of: impl Fn(&D) -> u64,
        mut keep: impl FnMut(&mut dyn Tx, &D) -> Result<bool>,
    ) -> Result<Page<D>> {
        let (sql, values) = self.parts();
        let wanted = usize::try_from(query.limit()?).unwrap_or(usize::MAX);
        let mut kept = Vec::new();
        let mut step = PageQuery { limit: Some(crate::page::LIMIT_MAX), cursor: query.cursor.clone() };
        loop {
            let page = crate::page::page(tx, &sql, values.clone(), &step, &seq_of)?;
            for record in page.items {
                if keep(tx, &record)? {
                    kept.push(record);
                }
                if kept.len() > wanted {
                    kept.pop();
                    let next_cursor = kept.last().map(|last| crate::page::cursor(seq_of(last)));
                    return Ok(Page { items: kept, next_cursor });
                }
            }
            match page.next_cursor {
                Some(cursor) => step.cursor = Some(cursor),
                None => return Ok(Page { items: kept, next_cursor: None }),
            }
        }
    }
}

fn forbidden() -> Error {
    Error::new(Code::Forbidden, "this principal does not see that agent")
}

/// Fails unless the principal sees the Agent's objects.
pub(crate) fn check_sees(principal: &Principal, agent: &AgentId) -> Result<()> {
    if principal.sees_agent(agent) { Ok(()) } else { Err(forbidden()) }
}

/// Turns a page of records into a page of the API.
pub(crate) fn map_page<D, T>(page: Page<D>, map: impl FnMut(D) -> Result<T>) -> Result<loom_api::Page<T>> {
    let items = page.items.into_iter().map(map).collect::<Result<_>>()?;
    Ok(loom_api::Page { items, next_cursor: page.next_cursor })
}

/// Checks the form of an id given as text.
pub(crate) fn text_id(prefix: &str, text: &str) -> Result<String> {
    match text.strip_prefix(prefix) {
        Some(ulid) if loom_domain::id::is_ulid(ulid) => Ok(text.to_owned()),
        _ => Err(Error::new(Code::InvalidId, format!("expected an id that starts with {prefix}"))
            .with_detail("expected_prefix", prefix)),
    }
}
