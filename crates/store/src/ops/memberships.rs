//! Memberships: what an Address is for in one conversation.

mod read;
mod set;
mod switch;

pub(crate) use set::set as set_conversation;

use loom_api::{
    Mutation,
    request::{Confirm, EnableMembership, SetMembership},
};
use loom_domain::{Address, AddressId, Code, Error, Membership, MembershipId, Result};

use super::{addresses::check_live, change::Edit};
use crate::{Act, Store, Unit, docs};

impl Store {
    /// Creates a Membership (disabled unless said) or changes the named fields of the one there is.
    pub async fn set_membership(
        &self,
        act: Act,
        address: AddressId,
        conversation: String,
        request: SetMembership,
        dry_run: bool,
    ) -> Result<Mutation<Membership>> {
        self.mutate(act, dry_run, move |unit| set::set(unit, &address, &conversation, &request)).await
    }

    /// Changes a Membership named by its id.
    pub async fn update_membership(
        &self,
        act: Act,
        id: MembershipId,
        request: SetMembership,
        dry_run: bool,
    ) -> Result<Mutation<Membership>> {
        self.mutate(act, dry_run, move |unit| {
            let membership = live(unit, &id)?.0;
            set::set(unit, &membership.address_id, &membership.conversation_id, &request)
        })
        .await
    }

    /// Enables a Membership. Pending items of a DM are judged again in the same commit.
    pub async fn enable_membership(
        &self,
        act: Act,
        id: MembershipId,
        request: EnableMembership,
        dry_run: bool,
    ) -> Result<Mutation<Membership>> {
        self.mutate(act, dry_run, move |unit| switch::enable(unit, &id, &request)).await
    }

    /// Switches a Membership off.
    pub async fn disable_membership(
        &self,
        act: Act,
        id: MembershipId,
        expected: Option<u64>,
        dry_run: bool,
    ) -> Result<Mutation<Membership>> {
        self.mutate(act, dry_run, move |unit| switch::disable(unit, &id, expected)).await
    }

    /// Archives a Membership for good; its conversation may get a new one.
    pub async fn archive_membership(
        &self,
        act: Act,
        id: MembershipId,
        request: Confirm,
        dry_run: bool,
    ) -> Result<Mutation<Membership>> {
        self.mutate(act, dry_run, move |unit| switch::archive(unit, &id, &request, dry_run)).await
    }
}

fn edit<'a>(action: &'static str, agent: &'a str, expected: Option<u64>, notes: &'a [String]) -> Edit<'a> {
    Edit { event: "membership.changed", action, agent: Some(agent), expected, notes }
}

/// A Membership that may be changed, with its Address.
fn live(unit: &mut Unit<'_>, id: &MembershipId) -> Result<(Membership, Address)> {
    let membership: Membership = docs::require_locked(unit.tx, id.as_str())?;
    if let Some(canonical) = &membership.superseded_by {
        return Err(Error::new(Code::Superseded, format!("{id} was superseded by {canonical}"))
            .with_detail("id", canonical.as_str()));
    }
    if membership.archived_at.is_some() {
        return Err(Error::new(Code::Archived, format!("{id} is archived")));
    }
    let address: Address = docs::require(unit.tx, membership.address_id.as_str())?;
    check_live(&address)?;
    Ok((membership, address))
}
