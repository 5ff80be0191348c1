//! The Turns below a home: a journal each, found by id or by key, and the mark that stops one.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use loom_domain::{Code, Error, Result, Timestamp, TurnId};
use loom_secrets::private_file::{create_private, ensure_private_dir};
use nix::fcntl::OFlag;

use super::order::TurnOrder;
use super::plan::TurnPlan;
use super::row::{JournalRow, TurnEvent};
use super::view::TurnView;
use crate::chain::{self, Chain};
use crate::{PayloadStore, World, blocking, sha256_of_bytes};

/// Most Turns of one list.
pub const TURNS_LISTED_MAX: usize = 1_000;
/// Longest id in the file of a key.
const ID_BYTES_MAX: u64 = 64;

/// A journal that this process writes.
pub type Journal = Chain<TurnEvent>;

/// The Turns below a home.
#[derive(Debug, Clone)]
pub struct TurnRoom {
    root: PathBuf,
    payloads: PayloadStore,
}

/// A Turn that was asked for.
#[derive(Debug)]
pub enum Begun {
    /// A new one, with its journal in hand.
    New(TurnId, Box<Journal>),
    /// The one that has the key already.
    Known(TurnId),
}

impl TurnRoom {
    /// Names the folder; makes nothing.
    pub fn new(home: &Path, payloads: PayloadStore) -> Self {
        TurnRoom { root: home.join("turns"), payloads }
    }

    /// Where payloads of Turns are kept.
    pub fn payloads(&self) -> &PayloadStore {
        &self.payloads
    }

    /// Does something with the files of the room beside the tasks that serve.
    pub async fn beside<T: Send + 'static>(
        &self,
        act: impl FnOnce(&TurnRoom) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let room = self.clone();
        blocking(move || act(&room)).await
    }

    /// Writes the first row of a Turn, or finds the one that has its key.
    pub fn begin(&self, world: &World, order: &TurnOrder, plan: &TurnPlan) -> Result<Begun> {
        plan.require_reads()?;
        if let Some(home) = self.root.parent() {
            ensure_private_dir(home)?;
        }
        ensure_private_dir(&self.root)?;
        let id = TurnId::new(world.clock.now().0, world.entropy.bits());
        let Some(key) = &order.turn_key else { return self.create(world, id, order, plan) };
        let mut named = self.key_file(key)?;
        let mut text = String::new();
        (&mut named).take(ID_BYTES_MAX).read_to_string(&mut text).map_err(Error::internal)?;
        let known = text.trim().parse::<TurnId>().ok();
        match known {
            Some(known) if self.path(&known).exists() => self.same(world, known, order, plan),
            // The id was written, and the process died before the journal was.
            Some(known) => self.create(world, known, order, plan),
            None => {
                let cleared = named.set_len(0).and_then(|()| named.rewind());
                let written = cleared.and_then(|()| named.write_all(format!("{id}\n").as_bytes()));
                written.and_then(|()| named.sync_all()).map_err(Error::internal)?;
                self.create(world, id, order, plan)
            }
        }
    }

    fn create(&self, world: &World, id: TurnId, order: &TurnOrder, plan: &TurnPlan) -> Result<Begun> {
        let journal = Chain::create(&self.path(&id))?;
        Self::first_row(world, id, order, plan, journal)
    }

    fn first_row(
        world: &World,
        id: TurnId,
        order: &TurnOrder,
        plan: &TurnPlan,
        mut journal: Journal,
    ) -> Result<Begun> {
        let planned = planned(world, &id, order, plan);
        journal.append(world.clock.now(), planned)?;
        Ok(Begun::New(id, Box::new(journal)))
    }

    fn same(&self, world: &World, id: TurnId, order: &TurnOrder, plan: &TurnPlan) -> Result<Begun> {
        let digest = order.inputs_digest();
        match self.rows(&id)?.first().map(|row| &row.body) {
            // The process died between making the journal and its first row.
            None => Self::first_row(world, id.clone(), order, plan, self.take(&id)?),
            Some(TurnEvent::Planned { inputs_digest, .. }) if *inputs_digest != digest => {
                let why = format!("the key belongs to {id}, which has other inputs");
                Err(Error::new(Code::InvalidInput, why).with_detail("pointer", "/turn_key"))
            }
            _ => Ok(Begun::Known(id)),
        }
    }

    /// The file that names the Turn of a key, with nobody else reading or writing it.
    fn key_file(&self, key: &str) -> Result<File> {
        let folder = self.root.join("keys");
        ensure_private_dir(&folder)?;
        let digest = sha256_of_bytes(key);
        let name = digest.strip_prefix("sha256:").unwrap_or(&digest);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.custom_flags(OFlag::O_NOFOLLOW.bits()).open(folder.join(name));
        let file = file.map_err(Error::internal)?;
        file.lock().map_err(Error::internal)?;
        Ok(file)
    }

    /// Takes the journal of a Turn for writing; an old wish to stop it ends with that.
    pub fn take(&self, id: &TurnId) -> Result<Journal> {
        let journal = Chain::open(&self.path(id)).map_err(|error| hinted(error, id))?;
        // A mark that is not there is as good as one that was removed.
        let _ = std::fs::remove_file(self.stop_path(id));
        Ok(journal)
    }

    /// The rows of a Turn, checked.
    pub fn rows(&self, id: &TurnId) -> Result<Vec<JournalRow>> {
        chain::read_chain(&self.path(id)).map_err(|error| hinted(error, id))
    }

    /// What is known of a Turn.
    pub fn view(&self, id: &TurnId) -> Result<TurnView> {
        // Who holds it is asked first: a Turn that ends in between has its last row then.
        let is_held = chain::is_chain_held(&self.path(id));
        TurnView::of(&self.rows(id)?, is_held)
    }

    /// The newest Turns, at most as many. What cannot be read is left out here and told by `view`.
    pub fn list(&self, most: usize) -> Vec<TurnView> {
        self.newest().take(most.min(TURNS_LISTED_MAX)).collect()
    }

    /// Turns, the newest first, each read when it is asked for.
    pub fn newest(&self) -> impl Iterator<Item = TurnView> {
        let mut ids = self.ids();
        ids.sort_unstable_by(|a, b| b.cmp(a));
        ids.into_iter().filter_map(|id| self.view(&id).ok())
    }

    fn ids(&self) -> Vec<TurnId> {
        let entries = std::fs::read_dir(&self.root).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter_map(|name| name.strip_suffix(".ndjson")?.parse().ok()).collect()
    }

    /// Payloads of Turns that are not over: they stay.
    pub fn held_payloads(&self) -> std::collections::BTreeSet<String> {
        let turns = self.ids().into_iter().filter_map(|id| self.view(&id).ok());
        let open = turns.filter(|turn| !turn.state.is_final());
        open.flat_map(|turn| turn.connectors).filter_map(|connector| connector.payload_id).collect()
    }

    /// Removes Turns that were over before a time, and the names of their keys. Gives how many.
    pub fn prune(&self, before: Timestamp) -> usize {
        let old = self.ids().into_iter().filter(|id| chain::is_unwritten_since(&self.path(id), before));
        let over = old.filter(|id| self.view(id).is_ok_and(|turn| turn.state.is_final()));
        let removed = over.filter(|id| std::fs::remove_file(self.path(id)).is_ok()).count();
        let keys = std::fs::read_dir(self.root.join("keys")).into_iter().flatten().flatten();
        for key in keys.map(|entry| entry.path()).filter(|key| chain::is_unwritten_since(key, before)) {
            let named = std::fs::read_to_string(&key).ok().and_then(|id| id.trim().parse::<TurnId>().ok());
            if named.is_some_and(|id| !self.path(&id).exists()) {
                let _ = std::fs::remove_file(key);
            }
        }
        removed
    }

    /// Asks whoever works on a Turn to stop. Nothing is there to stop when it is over.
    pub fn stop(&self, id: &TurnId) -> Result<TurnView> {
        let view = self.view(id)?;
        if view.state.is_final() {
            return Ok(view);
        }
        let mark = self.stop_path(id);
        if !mark.exists() {
            create_private(&mark, b"")?;
        }
        Ok(view)
    }

    /// The file whose presence asks to stop.
    pub(super) fn stop_path(&self, id: &TurnId) -> PathBuf {
        self.root.join(format!("{id}.stop"))
    }

    fn path(&self, id: &TurnId) -> PathBuf {
        chain::chain_file(&self.root, id.as_str())
    }
}

/// The first row.
pub(super) fn planned(world: &World, id: &TurnId, order: &TurnOrder, plan: &TurnPlan) -> TurnEvent {
    TurnEvent::Planned {
        turn_id: id.to_string(),
        principal: world.principal.to_string(),
        order: Box::new(order.clone()),
        plan_digest: plan.plan_digest.clone(),
        inputs_digest: order.inputs_digest(),
    }
}

fn hinted(error: Error, id: &TurnId) -> Error {
    match error.code {
        Code::NotFound => Error::new(Code::NotFound, format!("no Turn {id}")).with_hint("loom turn list"),
        Code::Locked => error.with_hint(format!("loom turn show {id}, or loom turn cancel {id}")),
        _ => error,
    }
}
