//! Objects with the fields that their owner sets, named by kind and id.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{Code, Error, Result, canonical, words};

/// Fields of an object, sorted by name.
pub type Fields = Map<String, Value>;

/// Longest name of an object.
const ID_BYTES_MAX: usize = 80;

words! {
    /// Kind of an object, in the words of its folder.
    pub enum Kind {
        /// Connections.
        Connections = "connections",
        /// Addresses.
        Addresses = "addresses",
        /// Memberships.
        Memberships = "memberships",
    }
}

impl Kind {
    /// Fields that an object of this kind has.
    pub const fn fields(self) -> &'static [&'static str] {
        match self {
            Kind::Connections => &[
                "accountRef",
                "allowHttp",
                "apiUrl",
                "brand",
                "capabilities",
                "credentialRef",
                "enabled",
                "gatewayMode",
                "provider",
                "proxyUrl",
                "scopeRef",
            ],
            Kind::Addresses => &[
                "agent",
                "allowActors",
                "allowBots",
                "allowConversations",
                "attachmentPolicy",
                "blockActors",
                "blockConversations",
                "connection",
                "displayName",
                "dmPolicy",
                "enabled",
                "externalIdentity",
                "refusalBody",
                "replyPolicy",
                "triggerPolicy",
                "trustDomain",
            ],
            Kind::Memberships => &[
                "actorId",
                "address",
                "conversationId",
                "conversationType",
                "displayName",
                "enabled",
                "guidance",
                "outboundPolicy",
                "proactivePerHour",
                "purpose",
                "quietHours",
                "replyPolicy",
                "role",
                "triggerPolicy",
                "ttlSeconds",
            ],
        }
    }

    /// Fields that are lists, and never absent: without a value they are empty.
    pub const fn lists(self) -> &'static [&'static str] {
        match self {
            Kind::Addresses => {
                &["allowActors", "allowBots", "allowConversations", "blockActors", "blockConversations"]
            }
            Kind::Connections | Kind::Memberships => &[],
        }
    }

    /// Fields that name an object for good: they tell a new file from one of an object that is there.
    pub const fn identity(self) -> &'static [&'static str] {
        match self {
            Kind::Connections => &["provider", "accountRef", "scopeRef"],
            Kind::Addresses => &["connection", "externalIdentity"],
            Kind::Memberships => &["address", "conversationId"],
        }
    }
}

/// The place of an object: its kind, and its id or the name that a new one has in its file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Kind.
    pub kind: Kind,
    /// Id.
    pub id: String,
}

impl Key {
    /// Makes one, checked: the name can stand in a path.
    pub fn new(kind: Kind, id: impl Into<String>) -> Result<Key> {
        let id = id.into();
        let is_name = (1..=ID_BYTES_MAX).contains(&id.len())
            && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-');
        if is_name {
            Ok(Key { kind, id })
        } else {
            Err(Error::new(Code::InvalidId, "an object is named by its id, or by a-z, 0-9, `_` and `-`"))
        }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.kind, self.id)
    }
}

/// An object on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// Kind.
    pub kind: Kind,
    /// Id.
    pub id: String,
    /// Fields.
    pub fields: Fields,
}

/// All objects of a configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tree {
    /// Objects by place.
    pub objects: BTreeMap<Key, Fields>,
}

impl Tree {
    /// Reads objects; unknown fields and doubled places are refused.
    pub fn from_objects(objects: Vec<Object>) -> Result<Tree> {
        let mut tree = Tree::default();
        for Object { kind, id, fields } in objects {
            tree.add(Key::new(kind, id)?, fields)?;
        }
        Ok(tree)
    }

    /// Adds an object, checked.
    pub fn add(&mut self, key: Key, fields: Fields) -> Result<()> {
        if let Some(unknown) = fields.keys().find(|name| !key.kind.fields().contains(&name.as_str())) {
            return Err(Error::new(Code::UnknownField, format!("{key} has no field `{unknown}`")));
        }
        if self.objects.contains_key(&key) {
            return Err(Error::new(Code::InvalidInput, format!("{key} stands twice")));
        }
        self.objects.insert(key, fields);
        Ok(())
    }

    /// The objects for the wire, in order.
    pub fn to_objects(&self) -> Vec<Object> {
        let object = |(key, fields): (&Key, &Fields)| Object {
            kind: key.kind,
            id: key.id.clone(),
            fields: fields.clone(),
        };
        self.objects.iter().map(object).collect()
    }

    /// Digest: equal configurations have equal ones.
    pub fn digest(&self) -> String {
        let objects: Vec<Value> =
            self.objects.iter().map(|(key, fields)| json!([key.to_string(), fields])).collect();
        format!("sha256:{}", canonical::sha256_hex(&Value::Array(objects)))
    }

    /// Gives new files the ids of objects that are there already, and fills fields that they leave out.
    pub fn settled(&self, base: &Tree, hub: &Tree) -> Tree {
        let mut settled = Tree::default();
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        // Each kind names only those before it.
        for kind in Kind::ALL.iter().copied() {
            for (key, fields) in self.objects.iter().filter(|(key, _)| key.kind == kind) {
                let mut fields = fields.clone();
                for reference in ["connection", "address"] {
                    let known =
                        fields.get(reference).and_then(Value::as_str).and_then(|name| names.get(name));
                    if let Some(id) = known {
                        fields.insert(reference.to_owned(), json!(id));
                    }
                }
                let twin = hub.objects.iter().find(|(other, known)| {
                    other.kind == kind
                        && !self.objects.contains_key(other)
                        && !base.objects.contains_key(key)
                        && kind
                            .identity()
                            .iter()
                            .all(|name| known.get(*name) == Some(fields.get(*name).unwrap_or(&Value::Null)))
                });
                let key = twin.map_or(key, |(other, _)| {
                    names.insert(key.id.clone(), other.id.clone());
                    other
                });
                let known = base.objects.get(key).or_else(|| hub.objects.get(key));
                for (name, value) in known.into_iter().flatten() {
                    fields.entry(name.clone()).or_insert_with(|| value.clone());
                }
                for name in kind.lists() {
                    if let Some(field) = fields.get_mut(*name).filter(|field| field.is_null()) {
                        *field = json!([]);
                    }
                }
                settled.objects.insert(key.clone(), fields);
            }
        }
        settled
    }
}
