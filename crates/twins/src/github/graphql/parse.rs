//! Documents: one operation and its fragments.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::lex::{self, Word};

/// Deepest nesting of a query.
const DEPTH_MAX: usize = 30;

/// A value in a query.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Argument {
    Variable(String),
    Literal(Value),
}

/// What is asked of an object.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Selection {
    Field(Field),
    /// `... on TYPE { … }`
    Inline {
        on: Option<String>,
        selections: Vec<Selection>,
    },
    /// `...name`
    Named(String),
}

/// A field.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) alias: String,
    pub(super) name: String,
    pub(super) arguments: BTreeMap<String, Argument>,
    pub(super) selections: Vec<Selection>,
}

/// A document.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// Declared variables: whether a value is required, and the default.
    pub(super) variables: BTreeMap<String, (bool, Option<Value>)>,
    pub(super) selections: Vec<Selection>,
    /// Type and selections of each named fragment.
    pub(super) fragments: BTreeMap<String, (String, Vec<Selection>)>,
}

/// Reads a document.
pub(super) fn document(query: &str) -> Result<Document, String> {
    let mut reader = Reader { words: lex::words(query)?.into_iter().peekable() };
    let mut document = Document::default();
    while let Some(word) = reader.words.peek().cloned() {
        match word {
            Word::Mark('{') => document.selections = reader.selections(0)?,
            Word::Name(kind) if kind == "query" => {
                reader.words.next();
                reader.name_if_any();
                document.variables = reader.declarations()?;
                document.selections = reader.selections(0)?;
            }
            Word::Name(kind) if kind == "fragment" => {
                reader.words.next();
                let name = reader.name()?;
                reader.keyword("on")?;
                let on = reader.name()?;
                document.fragments.insert(name, (on, reader.selections(0)?));
            }
            Word::Name(kind) if kind == "mutation" => return Err("this server is for reading".into()),
            other => return Err(unexpected(Some(&other))),
        }
    }
    if document.selections.is_empty() { Err("Unexpected end of document".into()) } else { Ok(document) }
}

struct Reader {
    words: std::iter::Peekable<std::vec::IntoIter<Word>>,
}

fn unexpected(word: Option<&Word>) -> String {
    match word {
        Some(word) => format!("Parse error on {word:?}"),
        None => "Unexpected end of document".into(),
    }
}

impl Reader {
    fn name(&mut self) -> Result<String, String> {
        match self.words.next() {
            Some(Word::Name(name)) => Ok(name),
            other => Err(unexpected(other.as_ref())),
        }
    }

    fn name_if_any(&mut self) {
        self.words.next_if(|word| matches!(word, Word::Name(_)));
    }

    fn keyword(&mut self, wanted: &str) -> Result<(), String> {
        let name = self.name()?;
        if name == wanted { Ok(()) } else { Err(format!("Parse error on {name:?}, expected {wanted:?}")) }
    }

    fn takes(&mut self, mark: char) -> bool {
        self.words.next_if_eq(&Word::Mark(mark)).is_some()
    }

    fn expect(&mut self, mark: char) -> Result<(), String> {
        if self.takes(mark) { Ok(()) } else { Err(unexpected(self.words.peek())) }
    }

    /// `($name: Type! = default …)`
    fn declarations(&mut self) -> Result<BTreeMap<String, (bool, Option<Value>)>, String> {
        let mut declared = BTreeMap::new();
        if !self.takes('(') {
            return Ok(declared);
        }
        while !self.takes(')') {
            self.expect('$')?;
            let name = self.name()?;
            self.expect(':')?;
            while self.takes('[') {}
            self.name()?;
            let mut required = self.takes('!');
            while self.takes(']') {
                required = self.takes('!');
            }
            let default = if self.takes('=') { self.value()?.literal() } else { None };
            declared.insert(name, (required && default.is_none(), default));
        }
        Ok(declared)
    }

    fn selections(&mut self, depth: usize) -> Result<Vec<Selection>, String> {
        if depth > DEPTH_MAX {
            return Err("Query has depth which exceeds the limit".into());
        }
        self.expect('{')?;
        let mut selections = Vec::new();
        while !self.takes('}') {
            selections.push(self.selection(depth)?);
        }
        Ok(selections)
    }

    fn selection(&mut self, depth: usize) -> Result<Selection, String> {
        if self.words.next_if_eq(&Word::Spread).is_none() {
            return self.field(depth).map(Selection::Field);
        }
        if self.words.peek() == Some(&Word::Mark('{')) {
            return Ok(Selection::Inline { on: None, selections: self.selections(depth + 1)? });
        }
        let name = self.name()?;
        if name != "on" {
            return Ok(Selection::Named(name));
        }
        let on = Some(self.name()?);
        Ok(Selection::Inline { on, selections: self.selections(depth + 1)? })
    }

    fn field(&mut self, depth: usize) -> Result<Field, String> {
        let alias = self.name()?;
        let name = if self.takes(':') { self.name()? } else { alias.clone() };
        let mut arguments = BTreeMap::new();
        if self.takes('(') {
            while !self.takes(')') {
                let name = self.name()?;
                self.expect(':')?;
                arguments.insert(name, self.value()?);
            }
        }
        let has_more = self.words.peek() == Some(&Word::Mark('{'));
        let selections = if has_more { self.selections(depth + 1)? } else { Vec::new() };
        Ok(Field { alias, name, arguments, selections })
    }

    fn value(&mut self) -> Result<Argument, String> {
        Ok(match self.words.next() {
            Some(Word::Mark('$')) => Argument::Variable(self.name()?),
            Some(Word::Text(text)) => Argument::Literal(json!(text)),
            Some(Word::Number(number)) => Argument::Literal(
                serde_json::from_str(&number).map_err(|_| format!("Parse error on {number:?}"))?,
            ),
            Some(Word::Name(name)) => Argument::Literal(match name.as_str() {
                "true" => json!(true),
                "false" => json!(false),
                "null" => Value::Null,
                word => json!(word),
            }),
            other => return Err(unexpected(other.as_ref())),
        })
    }
}

impl Argument {
    fn literal(self) -> Option<Value> {
        match self {
            Self::Literal(value) => Some(value),
            Self::Variable(_) => None,
        }
    }
}
