//! Moves the write-ahead log into the database file beside the writer, so that a commit seldom waits for it.

use std::path::{Path, PathBuf};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};
use std::thread::JoinHandle;

use loom_domain::{Error, Result};
use rusqlite::{Connection, OpenFlags, hooks::Wal};

/// Pages of the log after which it is moved, and again after each so many. A small step is a short write: the sync of
/// a commit that meets it waits behind it.
const STEP_PAGES: i32 = 100;
/// Pages after which the writer moves the rest itself: a log begins anew only when nothing of it is left to move,
/// and beside commits that never pause something always is.
const REST_PAGES: i32 = 8_000;
/// Pages to the next try of the writer, when a reader held the log.
const AGAIN_PAGES: i32 = 100;

/// The thread that moves; ends with its writer.
pub(super) struct Checkpointer {
    thread: Option<JoinHandle<()>>,
    signal: Arc<Signal>,
}

#[derive(Default)]
struct Signal {
    is_due: AtomicBool,
    is_over: AtomicBool,
    /// Held by the one that moves: SQLite turns a second one away, and a log that is let grow would find no end.
    moving: Mutex<()>,
}

impl Checkpointer {
    /// Takes the place of the checkpoint that SQLite makes inside a commit.
    pub(super) fn attach(writer: &mut Connection, path: &Path) -> Result<Self> {
        let signal = Arc::new(Signal::default());
        let (told, path) = (signal.clone(), path.to_owned());
        let thread = std::thread::Builder::new()
            .name("loom-checkpoint".to_owned())
            .spawn(move || serve(&told, &path))
            .map_err(Error::internal)?;
        let (telling, waiting) = (signal.clone(), thread.thread().clone());
        let mut next = STEP_PAGES;
        let hook = move |wal: &mut Wal, pages: i32| {
            next = next.min(pages + STEP_PAGES);
            if pages >= next && pages >= REST_PAGES {
                next = pages + AGAIN_PAGES;
                let _moving = telling.moving.lock();
                let _ = wal.checkpoint();
            } else if pages >= next {
                next = pages + STEP_PAGES;
                telling.is_due.store(true, Ordering::Release);
                waiting.unpark();
            }
            Ok(())
        };
        writer.wal_hook(Some(hook)).map_err(|e| super::translate(&e))?;
        Ok(Checkpointer { thread: Some(thread), signal })
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.signal.is_over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

fn serve(signal: &Signal, path: &PathBuf) {
    let mut connection = None;
    while !signal.is_over.load(Ordering::Acquire) {
        if signal.is_due.swap(false, Ordering::AcqRel) {
            if connection.is_none() {
                let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                connection = Connection::open_with_flags(path, flags).ok();
            }
            let _moving = signal.moving.lock();
            if let Some(connection) = &connection
                && let Err(cause) = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
            {
                tracing::debug!("the log was not moved into the database file: {cause}");
            }
        } else {
            std::thread::park();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Value,
        engine::{Engine as _, Purpose, sqlite::Sqlite},
        tx::Tx as _,
    };

    const WAL_LIMIT: u64 = 67_108_864;
    const PAGES_A_COMMIT: u64 = 100;

    #[test]
    fn pb_7_the_log_begins_anew_beside_commits_that_never_pause() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loom.db");
        let log = folder.path().join("loom.db-wal");
        let mut writer = Sqlite::open_writer(&path, WAL_LIMIT).unwrap();
        writer.control("CREATE TABLE t (id BIGINT PRIMARY KEY, body TEXT NOT NULL)").unwrap();
        let mut largest = 0;
        for commit in 0..400 {
            let body = format!("{commit:03}").repeat(1_300);
            writer.begin(Purpose::WriteUnsynced).unwrap();
            for n in 0..PAGES_A_COMMIT {
                let id = i64::try_from((commit * 7 + n) % 500).unwrap();
                let sql = "INSERT INTO t VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET body = excluded.body";
                writer.execute(sql, &[Value::Int(id), Value::Text(body.clone())]).unwrap();
            }
            writer.commit().unwrap();
            largest = largest.max(std::fs::metadata(&log).unwrap().len());
        }
        assert!(largest <= WAL_LIMIT, "{largest} bytes of log");
        let moved = std::fs::metadata(&path).unwrap().len();
        assert!(moved >= 400 * 4_096, "{moved} bytes are in the database file; the log had {largest}");
        drop(writer);
        assert!(!log.exists(), "the last to leave moves what is left");
    }
}
