//! Three-way merge by field: what was changed on one side wins, what was changed differently on both is a conflict.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Fields, Key, Tree};

/// A side of a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// What the hub has.
    Hub,
    /// What the branch has.
    Branch,
}

/// Which side wins, by object and field; `*` is the object itself.
pub type Resolutions = BTreeMap<String, BTreeMap<String, Side>>;

/// The field that stands for the whole object.
const WHOLE: &str = "*";

/// A field that both sides changed differently.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    /// Object.
    pub object: String,
    /// Field, or `*` when one side removed the object and the other changed it.
    pub field: String,
    /// What both started from.
    pub base: Value,
    /// What the hub has.
    pub hub: Value,
    /// What the branch has.
    pub branch: Value,
}

/// The configuration that both sides make, and the conflicts that nobody has resolved.
pub fn merge(base: &Tree, hub: &Tree, branch: &Tree, resolve: &Resolutions) -> (Tree, Vec<Conflict>) {
    let keys: BTreeSet<&Key> =
        base.objects.keys().chain(hub.objects.keys()).chain(branch.objects.keys()).collect();
    let (mut merged, mut conflicts) = (Tree::default(), Vec::new());
    for key in keys {
        let sides = [base, hub, branch].map(|tree| tree.objects.get(key));
        if let Some(fields) = object(key, sides, resolve, &mut conflicts) {
            merged.objects.insert(key.clone(), fields);
        }
    }
    (merged, conflicts)
}

/// What both sides agree on: where they are equal that, elsewhere what they agreed on before.
pub fn agreed(base: &Tree, hub: &Tree, branch: &Tree) -> Tree {
    let keys: BTreeSet<&Key> =
        base.objects.keys().chain(hub.objects.keys()).chain(branch.objects.keys()).collect();
    let mut agreed = Tree::default();
    for key in keys {
        let [before, ours, theirs] = [base, hub, branch].map(|tree| tree.objects.get(key));
        let fields = match (ours, theirs) {
            (ours, theirs) if ours == theirs => ours.cloned(),
            (Some(ours), Some(theirs)) => {
                let mut fields = before.cloned().unwrap_or_default();
                let equal = ours.iter().filter(|(name, value)| theirs.get(*name) == Some(*value));
                fields.extend(equal.map(|(name, value)| (name.clone(), value.clone())));
                Some(fields)
            }
            _ => before.cloned(),
        };
        if let Some(fields) = fields {
            agreed.objects.insert(key.clone(), fields);
        }
    }
    agreed
}

fn object(
    key: &Key,
    [base, hub, branch]: [Option<&Fields>; 3],
    resolve: &Resolutions,
    conflicts: &mut Vec<Conflict>,
) -> Option<Fields> {
    if hub == branch || base == branch {
        return hub.cloned();
    }
    if base == hub {
        return branch.cloned();
    }
    let (Some(ours), Some(theirs)) = (hub, branch) else {
        return pick(key, WHOLE, [base, hub, branch], resolve, conflicts).cloned();
    };
    let none = Fields::new();
    let base = base.unwrap_or(&none);
    let names: BTreeSet<&String> = base.keys().chain(ours.keys()).chain(theirs.keys()).collect();
    let mut fields = Fields::new();
    for name in names {
        let [a, h, b] = [base, ours, theirs].map(|side| side.get(name));
        let value = match () {
            () if h == b || a == b => h,
            () if a == h => b,
            () => pick(key, name, [a, h, b], resolve, conflicts),
        };
        if let Some(value) = value {
            fields.insert(name.clone(), value.clone());
        }
    }
    Some(fields)
}

/// The side that was chosen; without a choice the hub's, and a conflict.
fn pick<'a, T: Serialize>(
    key: &Key,
    field: &str,
    [base, hub, branch]: [Option<&'a T>; 3],
    resolve: &Resolutions,
    conflicts: &mut Vec<Conflict>,
) -> Option<&'a T> {
    let object = key.to_string();
    match resolve.get(&object).and_then(|fields| fields.get(field)) {
        Some(Side::Hub) => hub,
        Some(Side::Branch) => branch,
        None => {
            let value = |side: Option<&T>| serde_json::to_value(side).unwrap_or(Value::Null);
            let (base, ours, theirs) = (value(base), value(hub), value(branch));
            conflicts.push(Conflict { object, field: field.to_owned(), base, hub: ours, branch: theirs });
            hub
        }
    }
}
