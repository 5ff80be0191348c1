//! Readers: threads with read-only connections; each read sees one snapshot.

use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

use loom_domain::{Error, Result};
use tokio::sync::oneshot;

use crate::{
    engine::{EngineSend, Opener},
    tx::Tx,
};

type Job = Box<dyn FnOnce(&mut Option<Box<dyn EngineSend>>, &Opener) + Send>;

/// A bounded pool of reading threads.
pub(crate) struct Readers {
    jobs: Option<mpsc::SyncSender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

const QUEUE_MAX: usize = 1_024;

impl Readers {
    /// Starts the threads; connections open at first use.
    pub(crate) fn start(count: usize, opener: Opener) -> Result<Self> {
        let (sender, receiver) = mpsc::sync_channel::<Job>(QUEUE_MAX);
        let (receiver, opener) = (Arc::new(Mutex::new(receiver)), Arc::new(opener));
        let spawn = |n: usize| {
            let (receiver, opener) = (receiver.clone(), opener.clone());
            std::thread::Builder::new()
                .name(format!("loom-reader-{n}"))
                .spawn(move || serve(&receiver, &opener))
                .map_err(Error::internal)
        };
        let threads = (0..count.max(1)).map(spawn).collect::<Result<Vec<_>>>()?;
        Ok(Readers { jobs: Some(sender), threads })
    }

    /// Runs a read in a snapshot.
    pub(crate) async fn read<T, F>(&self, op: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut dyn Tx) -> Result<T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |slot, opener| {
            let _ = reply.send(snapshot(slot, opener, op));
        });
        let sent = self.jobs.as_ref().map(|jobs| jobs.try_send(job));
        match sent {
            Some(Ok(())) => answer.await.map_err(|_| Error::internal("a reader ended"))?,
            _ => Err(Error::new(loom_domain::Code::RateLimited, "too many reads are waiting")),
        }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn serve(receiver: &Mutex<mpsc::Receiver<Job>>, opener: &Opener) {
    let mut slot = None;
    loop {
        let job = match receiver.lock() {
            Ok(queue) => queue.recv(),
            Err(_) => return,
        };
        match job {
            Ok(job) => job(&mut slot, opener),
            Err(_) => return,
        }
    }
}

fn snapshot<T>(
    slot: &mut Option<Box<dyn EngineSend>>,
    opener: &Opener,
    op: impl FnOnce(&mut dyn Tx) -> Result<T>,
) -> Result<T> {
    let mut engine = match slot.take() {
        Some(engine) => engine,
        None => opener()?,
    };
    engine.begin(crate::engine::Purpose::Read)?;
    let result = op(engine.as_tx());
    engine.rollback();
    match &result {
        Err(error) if engine.is_fatal(error) => {}
        _ => *slot = Some(engine),
    }
    result
}
