//! Operations: what they take, what they give, and what they do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::Schema;

/// What an operation does to the outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

/// What a repeat does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Idempotency {
    /// Nothing more.
    Safe,
    /// Nothing more, with the same key.
    ProviderKey,
    /// It may act twice.
    None,
}

/// One operation of a capability.
#[derive(Debug, Clone)]
pub struct Operation {
    /// Id.
    pub id: String,
    /// One line for people.
    pub about: String,
    /// What it does.
    pub effect: Effect,
    /// Schema of its input.
    pub input: Schema,
    /// Name of its output schema, `loom.NAME/vN`.
    pub output_schema: String,
    /// Schema of `fields`, when it gives any.
    pub fields: Option<Schema>,
    /// Schema of each item, when it gives any.
    pub item: Option<Schema>,
    /// Whether it reads pages.
    pub paged: bool,
    /// Resource keys that grants bind.
    pub resource_keys: Vec<String>,
    /// What a repeat does.
    pub idempotency: Idempotency,
    /// Limiter scope.
    pub rate_scope: Option<String>,
    /// Most items, when there is a limit.
    pub max_items: Option<u64>,
}

impl Operation {
    /// An operation that reads one record into `fields`.
    pub fn record<I: JsonSchema, F: JsonSchema>(id: &str, output_schema: &str) -> Self {
        Operation {
            fields: Some(Schema::of::<F>()),
            max_items: Some(1),
            ..Operation::bare::<I>(id, output_schema)
        }
    }

    /// An operation that reads a list of items.
    pub fn list<I: JsonSchema, T: JsonSchema>(id: &str, output_schema: &str) -> Self {
        Operation { item: Some(Schema::of::<T>()), ..Operation::bare::<I>(id, output_schema) }
    }

    /// An operation with schemas that are data: a source map's.
    pub fn given(id: &str, output_schema: &str, input: Schema, item: Schema) -> Self {
        Operation { item: Some(item), input, ..Operation::bare::<()>(id, output_schema) }
    }

    fn bare<I: JsonSchema>(id: &str, output_schema: &str) -> Self {
        Operation {
            id: id.to_owned(),
            about: String::new(),
            effect: Effect::Read,
            input: Schema::input::<I>(),
            output_schema: output_schema.to_owned(),
            fields: None,
            item: None,
            paged: false,
            resource_keys: Vec::new(),
            idempotency: Idempotency::Safe,
            rate_scope: None,
            max_items: None,
        }
    }

    /// Says in one line what it does.
    pub fn about(mut self, about: &str) -> Self {
        about.clone_into(&mut self.about);
        self
    }

    /// Adds `fields` to an operation with items.
    pub fn with_fields<F: JsonSchema>(mut self) -> Self {
        self.fields = Some(Schema::of::<F>());
        self
    }

    /// Makes it a write.
    pub fn writes(mut self, idempotency: Idempotency) -> Self {
        self.effect = Effect::Write;
        self.idempotency = idempotency;
        self
    }

    /// Makes it read pages.
    pub fn paged(mut self) -> Self {
        self.paged = true;
        self
    }

    /// Adds a resource key.
    pub fn resource(mut self, key: &str) -> Self {
        self.resource_keys.push(key.to_owned());
        self
    }

    /// Names the limiter scope.
    pub fn rate_scope(mut self, scope: &str) -> Self {
        self.rate_scope = Some(scope.to_owned());
        self
    }

    /// The digest of everything that its results may hold.
    pub fn projection_digest(&self) -> String {
        let of = |schema: &Option<Schema>| schema.as_ref().map(|schema| schema.value().into_owned());
        crate::sha256_of(&serde_json::json!({
            "output_schema": self.output_schema, "fields": of(&self.fields), "item": of(&self.item),
        }))
    }
}

/// An operation as the catalog shows it.
#[derive(Serialize, JsonSchema)]
pub(super) struct Shown {
    id: String,
    effect: Effect,
    input_schema: serde_json::Value,
    output_schema: String,
    paged: bool,
    resource_keys: Vec<String>,
    idempotency: Idempotency,
    rate_scope: Option<String>,
    max_items: Option<u64>,
}

impl Serialize for Operation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shown = Shown {
            id: self.id.clone(),
            effect: self.effect,
            input_schema: serde_json::json!({"$ref": format!("#/schemas/{}_input", self.id)}),
            output_schema: self.output_schema.clone(),
            paged: self.paged,
            resource_keys: self.resource_keys.clone(),
            idempotency: self.idempotency,
            rate_scope: self.rate_scope.clone(),
            max_items: self.max_items,
        };
        shown.serialize(serializer)
    }
}
