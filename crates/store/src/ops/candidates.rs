//! Candidates: conversations that the platform shows. They grant nothing.

use std::collections::{HashMap, HashSet};

use loom_api::{query, view::CandidateEntry};
use loom_domain::{
    Address, AddressId, Candidate, CandidateId, Code, ConnectionId, ConversationType, Error, MembershipId,
    Result, text::prefix,
};

use super::lookup::{self, Filter};
use crate::{Act, Store, Unit, docs, page::PageQuery, params};

/// Conversations in one snapshot.
pub const CANDIDATES_MAX: usize = 5_000;
const NAME_BYTES_MAX: usize = 1_000;
const DESCRIPTION_BYTES_MAX: usize = 16_000;
const ID_BYTES_MAX: usize = 256;
/// Changes told one by one; more are told as one change of the Address's Candidates.
const TOLD_MAX: usize = 50;
/// How stale the time of the last sight may get, milliseconds.
const SEEN_STEP_MS: i64 = 3_600_000;

/// One conversation of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Stable provider id.
    pub conversation_id: String,
    /// Kind.
    pub conversation_type: ConversationType,
    /// Name at the provider.
    pub display_name: String,
    /// Topic or description at the provider.
    pub description: String,
    /// Whether the bot is in it.
    pub bot_is_member: bool,
}

impl Store {
    /// Stores a full snapshot for every live Address of a Connection. What it lacks becomes unavailable and stays.
    /// Gives the number of Candidates that changed.
    pub async fn put_candidates(&self, act: Act, connection: ConnectionId, seen: Vec<Seen>) -> Result<u64> {
        if seen.len() > CANDIDATES_MAX {
            return Err(Error::new(
                Code::TooMany,
                format!("at most {CANDIDATES_MAX} conversations in a snapshot"),
            ));
        }
        if seen.iter().any(|s| s.conversation_id.is_empty() || s.conversation_id.len() > ID_BYTES_MAX) {
            return Err(Error::invalid("conversationId", format!("use 1 to {ID_BYTES_MAX} bytes")));
        }
        self.write(act, move |unit| {
            let addresses: Vec<Address> = docs::select(
                unit.tx,
                "connection_id = ?1 AND archived = 0 AND deleted = 0 ORDER BY seq",
                &params![connection.as_str()],
            )?;
            let mut changed = 0;
            for address in addresses {
                changed += snapshot(unit, &address, &seen)?;
            }
            Ok(changed)
        })
        .await
    }

    /// A page of Candidates, newest first; configured and unavailable ones only with `all`.
    pub async fn list_candidates(&self, query: query::Candidates) -> Result<loom_api::Page<CandidateEntry>> {
        self.read(move |tx| {
            let mut filter = Filter::default();
            if let Some(name) = &query.agent {
                let agent = lookup::agent(tx, name)?.id;
                filter.and("address_id IN (SELECT id FROM addresses WHERE agent_id = ?)", agent.as_str());
            }
            let address: Option<AddressId> = lookup::id(query.address.as_deref())?;
            filter.eq("address_id", address.as_ref().map(AddressId::as_str));
            let all = query.all.unwrap_or(false);
            let paging = PageQuery { limit: query.limit, cursor: query.cursor };
            let page = filter.page_where(
                tx,
                &paging,
                |candidate: &Candidate| candidate.seq,
                |tx, candidate| Ok(all || (candidate.available && membership_of(tx, candidate)?.is_none())),
            )?;
            lookup::map_page(page, |candidate| {
                let membership_id = membership_of(tx, &candidate)?;
                Ok(CandidateEntry { candidate, membership_id })
            })
        })
        .await
    }
}

fn membership_of(tx: &mut dyn crate::Tx, candidate: &Candidate) -> Result<Option<MembershipId>> {
    let sql = "SELECT id FROM memberships WHERE address_id = ?1 AND conversation_id = ?2 AND archived = 0";
    let values = params![candidate.address_id.as_str(), candidate.conversation_id.as_str()];
    tx.first(sql, &values)?.map(|row| row.text(0).parse()).transpose()
}

fn snapshot(unit: &mut Unit<'_>, address: &Address, seen: &[Seen]) -> Result<u64> {
    let known: Vec<Candidate> =
        docs::select(unit.tx, "address_id = ?1 ORDER BY seq", &params![address.id.as_str()])?;
    let mut known: HashMap<String, Candidate> =
        known.into_iter().map(|candidate| (candidate.conversation_id.clone(), candidate)).collect();
    let mut changed = Vec::new();
    let mut handled = HashSet::new();
    for conversation in seen {
        if !handled.insert(conversation.conversation_id.as_str()) {
            continue;
        }
        changed.extend(see(unit, address, known.remove(&conversation.conversation_id), conversation)?);
    }
    let mut missing: Vec<Candidate> = known.into_values().filter(|candidate| candidate.available).collect();
    missing.sort_by_key(|candidate| candidate.seq);
    for mut candidate in missing {
        candidate.available = false;
        docs::update(unit.tx, &candidate)?;
        changed.push(candidate.id);
    }
    tell(unit, address, &changed)?;
    Ok(u64::try_from(changed.len()).unwrap_or(u64::MAX))
}

/// Stores one sight; gives the Candidate's id when it tells something new.
fn see(
    unit: &mut Unit<'_>,
    address: &Address,
    known: Option<Candidate>,
    seen: &Seen,
) -> Result<Option<CandidateId>> {
    let is_new = known.is_none();
    let before = match known {
        Some(candidate) => candidate,
        None => Candidate {
            id: CandidateId::new(unit.now.0, unit.random()),
            seq: unit.seq()?,
            address_id: address.id.clone(),
            conversation_id: seen.conversation_id.clone(),
            conversation_type: seen.conversation_type,
            display_name: String::new(),
            description: String::new(),
            bot_is_member: seen.bot_is_member,
            available: true,
            first_seen_at: unit.now,
            last_seen_at: unit.now,
        },
    };
    let mut after = Candidate {
        conversation_type: seen.conversation_type,
        display_name: prefix(&seen.display_name, NAME_BYTES_MAX).to_owned(),
        description: prefix(&seen.description, DESCRIPTION_BYTES_MAX).to_owned(),
        bot_is_member: seen.bot_is_member,
        available: true,
        ..before.clone()
    };
    let tells = is_new || after != before;
    if !tells && unit.now.since_ms(before.last_seen_at) < SEEN_STEP_MS {
        return Ok(None);
    }
    after.last_seen_at = unit.now;
    if is_new {
        docs::insert(unit.tx, &after)?;
    } else {
        docs::update(unit.tx, &after)?;
    }
    Ok(tells.then_some(after.id))
}

fn tell(unit: &mut Unit<'_>, address: &Address, changed: &[CandidateId]) -> Result<()> {
    let agent = Some(address.agent_id.as_str());
    if changed.len() > TOLD_MAX {
        return unit.change("candidate.changed", address.id.as_str(), agent, 0, &[]);
    }
    changed.iter().try_for_each(|id| unit.change("candidate.changed", id.as_str(), agent, 0, &[]))
}
