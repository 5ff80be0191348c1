//! LISTEN on PostgreSQL: commits of other nodes wake this one. A slow poll stands behind it.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use loom_domain::{Code, Error, Result};
use tokio::sync::oneshot;
use tokio_postgres::{AsyncMessage, Config, NoTls, config::SslMode};

use crate::wake::{Wake, WakeSet};

const POLL: Duration = Duration::from_secs(2);
const ALL_TOPICS: u8 = 0b1111;

/// A thread with its own connection that turns notifications into wake-ups.
pub(crate) struct Listener {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    pub(crate) fn start(url: &str, wake: Arc<Wake>) -> Result<Self> {
        let config: Config = url
            .parse()
            .map_err(|_| Error::new(Code::InvalidUrl, "store.url is not a PostgreSQL connection string"))?;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::internal)?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("loom-listener".to_owned())
            .spawn(move || runtime.block_on(serve(config, &wake, stopped)))
            .map_err(Error::internal)?;
        Ok(Listener { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn serve(config: Config, wake: &Wake, mut stopped: oneshot::Receiver<()>) {
    loop {
        tokio::select! {
            _ = &mut stopped => return,
            () = session(&config, wake) => {}
        }
        wake.fire(WakeSet::from_bits(ALL_TOPICS));
        tokio::select! {
            _ = &mut stopped => return,
            () = tokio::time::sleep(POLL) => {}
        }
    }
}

/// Listens until the connection ends.
async fn session(config: &Config, wake: &Wake) {
    let listened = if config.get_ssl_mode() == SslMode::Disable {
        match config.connect(NoTls).await {
            Ok((client, connection)) => listen(client, connection, wake).await,
            Err(error) => Err(error),
        }
    } else {
        let Ok(tls) = crate::pg_tls::connector() else { return };
        match config.connect(tls).await {
            Ok((client, connection)) => listen(client, connection, wake).await,
            Err(error) => Err(error),
        }
    };
    if let Err(error) = listened {
        tracing::warn!("listening to the database ended: {error}");
    }
}

async fn listen<S, T>(
    client: tokio_postgres::Client,
    mut connection: tokio_postgres::Connection<S, T>,
    wake: &Wake,
) -> Result<(), tokio_postgres::Error>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let mut messages = stream::poll_fn(|context| connection.poll_message(context));
    let subscribe = client.batch_execute("LISTEN loom_wake");
    tokio::pin!(subscribe);
    let mut subscribed = false;
    let mut poll = tokio::time::interval(POLL);
    loop {
        tokio::select! {
            done = &mut subscribe, if !subscribed => { done?; subscribed = true; }
            message = messages.next() => match message {
                Some(Ok(AsyncMessage::Notification(note))) => {
                    wake.fire(WakeSet::from_bits(note.payload().parse().unwrap_or(ALL_TOPICS)));
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error),
                None => return Ok(()),
            },
            _ = poll.tick() => wake.fire(WakeSet::from_bits(ALL_TOPICS)),
        }
    }
}
