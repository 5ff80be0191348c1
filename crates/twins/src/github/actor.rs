//! Who writes: accounts and what they are to a repository.

use serde::Serialize;

use crate::front::Dice;

/// Kind of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum ActorKind {
    /// A person.
    User,
    /// An app.
    Bot,
}

/// What an account is to the repository (`author_association`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Association {
    /// Owns the repository.
    Owner,
    /// Belongs to the organisation.
    Member,
    /// Was invited.
    Collaborator,
    /// Has committed before.
    Contributor,
    /// Has not committed to this repository before.
    FirstTimeContributor,
    /// Has not committed to any repository before.
    FirstTimer,
    /// A placeholder of an import.
    Mannequin,
    /// Nothing.
    None,
}

/// An account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// Login.
    pub login: String,
    /// Id.
    pub id: u64,
    /// Kind.
    pub kind: ActorKind,
    /// What it is to the repository.
    pub association: Association,
}

const MEMBERS: &[&str] = &["ana", "ben", "cleo"];
const COLLABORATORS: &[&str] = &["dag", "eve"];
const CONTRIBUTORS: &[&str] = &["kim", "lars", "mo", "nia", "omar", "pia", "quinn", "rosa", "sven", "tara"];
const BOTS: &[&str] = &["dependabot[bot]", "renovate[bot]"];

impl Actor {
    /// An account by its login; the id is a function of it.
    pub fn new(login: &str, kind: ActorKind, association: Association) -> Self {
        // Logins are the same account in any letter case.
        let id = 1_000 + Dice::new(0).of(&login.to_ascii_lowercase()).below(90_000_000);
        Self { login: login.to_owned(), id, kind, association }
    }

    /// A member of the organisation.
    pub fn member(login: &str) -> Self {
        Self::new(login, ActorKind::User, Association::Member)
    }

    /// Somebody who has nothing to do with the repository.
    pub fn stranger(login: &str) -> Self {
        Self::new(login, ActorKind::User, Association::None)
    }

    /// An author as they come: mostly contributors, some newcomers, some bots.
    pub(super) fn author(dice: Dice, owner: &str) -> Self {
        let (who, roll) = (dice.of("who"), dice.of("role").below(100));
        let user = |login: &str, association| Self::new(login, ActorKind::User, association);
        match roll {
            0..2 => user(owner, Association::Owner),
            2..22 => user(who.pick(MEMBERS), Association::Member),
            22..32 => user(who.pick(COLLABORATORS), Association::Collaborator),
            32..72 => user(who.pick(CONTRIBUTORS), Association::Contributor),
            72..80 => user(&newcomer(who), Association::FirstTimeContributor),
            80..84 => user(&newcomer(who), Association::FirstTimer),
            84..86 => user(&format!("imported-{}", who.below(50)), Association::Mannequin),
            86..92 => user(&newcomer(who), Association::None),
            _ => Self::new(who.pick(BOTS), ActorKind::Bot, Association::None),
        }
    }

    /// Somebody who reads: mostly people of the project.
    pub(super) fn reviewer(dice: Dice) -> Self {
        let (who, roll) = (dice.of("who"), dice.of("role").below(10));
        match roll {
            0..6 => Self::member(who.pick(MEMBERS)),
            6..8 => Self::new(who.pick(COLLABORATORS), ActorKind::User, Association::Collaborator),
            _ => Self::new(who.pick(CONTRIBUTORS), ActorKind::User, Association::Contributor),
        }
    }
}

fn newcomer(dice: Dice) -> String {
    format!("newcomer-{}", dice.below(100_000))
}
