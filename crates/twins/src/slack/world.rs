//! The simulated team: people, conversations, messages, files and tokens.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::config::{ChannelKind, Config};
use super::delivery::Delivery;
use super::files::FileRecord;
use super::ids::Ids;
use super::knobs::{Fault, Knobs};
use super::ledger::SeenOrder;
use super::limits::Limiter;
use super::message::Message;
use super::requests::Request;
use super::share::PendingShare;

/// Requests kept in the log.
const REQUESTS_MAX: usize = 50_000;

#[derive(Debug, Clone)]
pub(super) struct User {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) is_bot: bool,
    pub(super) deleted: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Channel {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) kind: ChannelKind,
    pub(super) members: BTreeSet<String>,
    pub(super) archived: bool,
    pub(super) ext_shared: bool,
    pub(super) messages: Vec<Message>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Bot,
    App,
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) scopes: BTreeSet<String>,
    /// The error code it answers with, once it no longer works.
    pub(super) refused: Option<String>,
}

/// Everything the twin knows, behind one lock.
#[derive(Debug)]
pub(super) struct World {
    pub(super) cfg: Config,
    /// `http://127.0.0.1:PORT`.
    pub(super) origin: String,
    pub(super) ids: Ids,
    pub(super) users: BTreeMap<String, User>,
    pub(super) channels: BTreeMap<String, Channel>,
    pub(super) tokens: BTreeMap<String, Token>,
    pub(super) files: BTreeMap<String, FileRecord>,
    pub(super) shares: VecDeque<PendingShare>,
    pub(super) tickets: BTreeSet<String>,
    pub(super) faults: Vec<Fault>,
    pub(super) knobs: Knobs,
    pub(super) limiter: Limiter,
    pub(super) delivery: Delivery,
    pub(super) requests: VecDeque<Request>,
    pub(super) request_count: u64,
    pub(super) calls: BTreeMap<String, u64>,
    pub(super) order: SeenOrder,
}

impl World {
    pub(super) fn new(cfg: Config, origin: String) -> Self {
        let knobs = Knobs { rate_limits: cfg.rate_limits, ..Knobs::default() };
        let mut world = Self {
            origin,
            ids: Ids::new(cfg.seed),
            users: BTreeMap::new(),
            channels: BTreeMap::new(),
            tokens: BTreeMap::new(),
            files: BTreeMap::new(),
            shares: VecDeque::new(),
            tickets: BTreeSet::new(),
            faults: Vec::new(),
            knobs,
            limiter: Limiter::default(),
            delivery: Delivery::new(cfg.time_scale, cfg.ack_window),
            requests: VecDeque::new(),
            request_count: 0,
            calls: BTreeMap::new(),
            order: SeenOrder::default(),
            cfg,
        };
        world.populate();
        world
    }

    fn populate(&mut self) {
        for (id, name) in self.cfg.users.clone() {
            self.add_user(&id, &name, false);
        }
        self.add_user(&self.cfg.bot_user.clone(), "loom", true);
        for spec in self.cfg.channels.clone() {
            self.add_channel(spec);
        }
        let scopes: BTreeSet<String> = self.cfg.scopes.iter().cloned().collect();
        for token in self.cfg.bot_tokens.clone() {
            self.tokens.insert(token, Token { kind: TokenKind::Bot, scopes: scopes.clone(), refused: None });
        }
        for token in self.cfg.app_tokens.clone() {
            let scopes = BTreeSet::from(["connections:write".to_owned()]);
            self.tokens.insert(token, Token { kind: TokenKind::App, scopes, refused: None });
        }
    }

    pub(super) fn add_user(&mut self, id: &str, name: &str, is_bot: bool) {
        let user = User { id: id.into(), name: name.into(), is_bot, deleted: false };
        self.users.insert(id.into(), user);
    }

    pub(super) fn add_channel(&mut self, spec: super::ChannelSpec) {
        let channel = Channel {
            id: spec.id.clone(),
            name: spec.name,
            kind: spec.kind,
            members: spec.members.into_iter().collect(),
            archived: false,
            ext_shared: spec.ext_shared,
            messages: Vec::new(),
        };
        self.channels.insert(spec.id, channel);
    }

    /// Whether the app's bot sits in the conversation.
    pub(super) fn bot_is_in(&self, channel: &str) -> bool {
        self.channels.get(channel).is_some_and(|c| c.members.contains(&self.cfg.bot_user))
    }

    pub(super) fn message(&self, channel: &str, ts: &str) -> Option<&Message> {
        let messages = &self.channels.get(channel)?.messages;
        messages.iter().rev().find(|m| m.ts == ts && m.ephemeral_to.is_none())
    }

    pub(super) fn message_mut(&mut self, channel: &str, ts: &str) -> Option<&mut Message> {
        let messages = &mut self.channels.get_mut(channel)?.messages;
        messages.iter_mut().rev().find(|m| m.ts == ts && m.ephemeral_to.is_none())
    }

    /// Timestamps of the visible replies to a root, oldest first.
    pub(super) fn replies(&self, channel: &str, root: &str) -> Vec<String> {
        let Some(channel) = self.channels.get(channel) else { return Vec::new() };
        let replies = channel.messages.iter().filter(|m| m.is_visible() && m.is_reply() && m.root() == root);
        replies.map(|m| m.ts.clone()).collect()
    }

    /// Stores a message and gives it its place in the order people saw.
    pub(super) fn store(&mut self, channel: &str, message: Message) {
        self.order.push(channel, &message.ts);
        if let Some(channel) = self.channels.get_mut(channel) {
            channel.messages.push(message);
        }
    }

    pub(super) fn log(&mut self, request: Request) {
        self.request_count += 1;
        *self.calls.entry(request.method.clone()).or_default() += 1;
        if self.requests.len() >= REQUESTS_MAX {
            self.requests.pop_front();
        }
        self.requests.push_back(request);
    }
}

/// Tokens over time.
impl World {
    /// Makes one token, or all bot tokens, answer with an error code.
    pub(super) fn refuse_tokens(&mut self, token: Option<&str>, code: &str) {
        for (word, known) in &mut self.tokens {
            if token.map_or(known.kind == TokenKind::Bot, |t| t == word) {
                known.refused = Some(code.to_owned());
            }
        }
    }

    pub(super) fn restore_tokens(&mut self) {
        for token in self.tokens.values_mut() {
            token.refused = None;
        }
    }

    pub(super) fn take_scope(&mut self, scope: &str) {
        for token in self.tokens.values_mut() {
            token.scopes.remove(scope);
        }
    }

    pub(super) fn add_bot_token(&mut self, token: String) {
        let scopes = self.cfg.scopes.iter().cloned().collect();
        self.tokens.insert(token, Token { kind: TokenKind::Bot, scopes, refused: None });
    }

    pub(super) fn give_scope(&mut self, scope: &str) {
        for token in self.tokens.values_mut().filter(|t| t.kind == TokenKind::Bot) {
            token.scopes.insert(scope.to_owned());
        }
    }

    pub(super) fn counters(&self) -> super::Counters {
        let delivery = &self.delivery;
        super::Counters {
            calls: self.calls.clone(),
            sockets_open: delivery.sockets.len(),
            sockets_max: delivery.sockets_max_seen,
            sockets_total: delivery.sockets_total,
            envelopes_sent: delivery.sent,
            events_suppressed: delivery.suppressed,
            acks_total: delivery.acked,
            acks: delivery.acks.iter().cloned().collect(),
            unacked: delivery.unacked(),
            given_up: delivery.given_up.iter().cloned().collect(),
        }
    }
}
