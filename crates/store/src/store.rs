//! The handle of the store: opens it, queues writes, runs reads.

use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use loom_domain::{Code, Error, Result, Timestamp};
use tokio::sync::{oneshot, watch};

use crate::{
    act::Act,
    audit,
    config::{StoreConfig, StoreUrl},
    engine::{EngineSend, Opener, postgres::Postgres, sqlite::Sqlite},
    listen::Listener,
    migrate,
    readers::Readers,
    tx::Tx,
    unit::Unit,
    wake::{Topic, Wake},
    writer::{BoxedJob, Grouping, StoreHealth, TypedJob, Writer},
};

const WRITE_QUEUE_MAX: usize = 4_096;

/// The store of one hub node. Cheap to clone; the last handle closes it.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    config: StoreConfig,
    jobs: Option<mpsc::SyncSender<BoxedJob>>,
    writer: Option<JoinHandle<()>>,
    readers: Readers,
    wake: Arc<Wake>,
    health: watch::Receiver<StoreHealth>,
    _listener: Option<Listener>,
}

impl Store {
    /// Opens the store and brings its schema up to date. Blocks; call it before serving.
    pub fn open(config: StoreConfig, now: Timestamp) -> Result<Store> {
        let mut engine = writer_opener(&config)?()?;
        migrate::migrate(engine.as_mut(), now)?;
        let wake = Arc::new(Wake::new());
        let (health_in, health) = watch::channel(StoreHealth::default());
        let writer = Writer {
            opener: writer_opener(&config)?,
            engine: Some(engine),
            node: config.node.clone(),
            grouping: Grouping { delay: config.commit_delay, max: config.commit_max.max(1) },
            head: None,
            wake: wake.clone(),
            health: health_in,
        };
        let (jobs, queue) = mpsc::sync_channel(WRITE_QUEUE_MAX);
        let thread = std::thread::Builder::new()
            .name("loom-writer".to_owned())
            .spawn(move || writer.run(&queue))
            .map_err(Error::internal)?;
        let listener = match &config.url {
            StoreUrl::Sqlite => None,
            StoreUrl::Postgres(url) => Some(Listener::start(url, wake.clone())?),
        };
        let readers = Readers::start(config.reader_threads, reader_opener(&config)?)?;
        let inner = Inner {
            config,
            jobs: Some(jobs),
            writer: Some(thread),
            readers,
            wake,
            health,
            _listener: listener,
        };
        Ok(Store { inner: Arc::new(inner) })
    }

    /// Opens a store that exists for reading alone: nothing is made or brought up to date, and writes are refused.
    pub fn open_reader(config: StoreConfig) -> Result<Store> {
        if matches!(config.url, StoreUrl::Sqlite) && !database_file(&config).is_file() {
            return Err(Error::new(Code::NotFound, "this home has no store yet").with_hint("Run `loom up`."));
        }
        let readers = Readers::start(config.reader_threads, reader_opener(&config)?)?;
        let (_, health) = watch::channel(StoreHealth::default());
        let wake = Arc::new(Wake::new());
        let inner = Inner { config, jobs: None, writer: None, readers, wake, health, _listener: None };
        Ok(Store { inner: Arc::new(inner) })
    }

    /// Settings the store was opened with.
    pub fn config(&self) -> &StoreConfig {
        &self.inner.config
    }

    /// Whether the store takes writes.
    pub fn health(&self) -> watch::Receiver<StoreHealth> {
        self.inner.health.clone()
    }

    /// Wakes after each commit that touched the topic.
    pub fn watch(&self, topic: Topic) -> watch::Receiver<u64> {
        self.inner.wake.subscribe(topic)
    }

    /// Runs one operation in the next group commit and answers after the commit. The operation may run again
    /// after a rollback, so it must not act outside the unit.
    pub(crate) async fn write<T, F>(&self, act: Act, op: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Unit<'_>) -> Result<T> + Send + 'static,
    {
        self.queue(act, true, op).await
    }

    /// Like [`Store::write`], without waiting for the disk: for what a loss of power may undo, because nothing
    /// outside is done before a later synced commit, which takes this one to disk with it.
    pub(crate) async fn write_unsynced<T, F>(&self, act: Act, op: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Unit<'_>) -> Result<T> + Send + 'static,
    {
        self.queue(act, false, op).await
    }

    async fn queue<T, F>(&self, act: Act, is_synced: bool, op: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Unit<'_>) -> Result<T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job: BoxedJob = Box::new(TypedJob { act, op, is_synced, out: None, reply });
        match self.inner.jobs.as_ref().map(|jobs| jobs.try_send(job)) {
            Some(Ok(())) => answer.await.map_err(|_| Error::internal("the writer ended"))?,
            Some(Err(_)) => {
                Err(Error::new(Code::HubReadOnly, "too many operations are waiting for the store"))
            }
            None => Err(Error::new(Code::HubReadOnly, "the store is open for reading alone")),
        }
    }

    /// Runs a read in one snapshot.
    pub(crate) async fn read<T, F>(&self, op: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut dyn Tx) -> Result<T> + Send + 'static,
    {
        self.inner.readers.read(op).await
    }

    /// Recomputes every audit chain; a break is `audit_broken`.
    pub async fn verify_audit(&self) -> Result<audit::Verified> {
        self.read(audit::verify).await
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn writer_opener(config: &StoreConfig) -> Result<Opener> {
    match &config.url {
        StoreUrl::Sqlite => {
            let (path, limit) = (database_path(config)?, config.wal_limit_bytes);
            Ok(Box::new(move || Ok(Box::new(Sqlite::open_writer(&path, limit)?) as Box<dyn EngineSend>)))
        }
        StoreUrl::Postgres(url) => postgres_opener(url),
    }
}

fn reader_opener(config: &StoreConfig) -> Result<Opener> {
    match &config.url {
        StoreUrl::Sqlite => {
            let path = database_path(config)?;
            Ok(Box::new(move || Ok(Box::new(Sqlite::open_reader(&path)?) as Box<dyn EngineSend>)))
        }
        StoreUrl::Postgres(url) => postgres_opener(url),
    }
}

fn postgres_opener(url: &str) -> Result<Opener> {
    let config: postgres::Config = url
        .parse()
        .map_err(|_| Error::new(Code::InvalidUrl, "store.url is not a PostgreSQL connection string"))?;
    Ok(Box::new(move || Ok(Box::new(Postgres::connect(&config)?) as Box<dyn EngineSend>)))
}

fn database_path(config: &StoreConfig) -> Result<std::path::PathBuf> {
    use std::os::unix::fs::DirBuilderExt as _;
    let folder = config.home.join("db");
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(|cause| {
        Error::new(Code::HubReadOnly, format!("the data directory cannot be made: {cause}"))
    })?;
    Ok(database_file(config))
}

fn database_file(config: &StoreConfig) -> std::path::PathBuf {
    config.home.join("db").join("loom.db")
}
