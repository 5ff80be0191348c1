//! One open socket: reads, pings, writes acknowledgements, notices its death.

use std::time::Duration;

use futures_util::{Sink, SinkExt, Stream, StreamExt};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout};
use tokio_tungstenite::tungstenite::{self, Message};

use super::super::wire::Frame;
use super::connect::retryable;
use crate::Fault;

/// Pause between our pings.
const PING_EVERY: Duration = Duration::from_secs(10);
/// Silence after which the socket is dead.
const DEAD_AFTER: Duration = Duration::from_secs(30);
/// Limit of one write.
const WRITE_LIMIT: Duration = Duration::from_secs(5);
/// Wait for the peer's close frame; Slack does not close the connection by itself.
const CLOSE_WAIT: Duration = Duration::from_secs(1);

/// What a socket tells its session.
#[derive(Debug)]
pub(super) enum News {
    Frame(Frame),
    /// A control frame arrived.
    Alive,
    /// The last news of this socket.
    Closed(Fault),
}

/// What a session tells a socket.
#[derive(Debug)]
pub(super) enum Order {
    Write(String),
    Close,
}

/// Runs a socket until it closes. Always ends with [`News::Closed`].
pub(super) async fn run<S>(
    id: u64,
    mut socket: S,
    news: mpsc::Sender<(u64, News)>,
    mut orders: mpsc::Receiver<Order>,
) where
    S: Stream<Item = Result<Message, tungstenite::Error>> + Sink<Message, Error = tungstenite::Error> + Unpin,
{
    let fault = serve(id, &mut socket, &news, &mut orders).await;
    let _ = timeout(CLOSE_WAIT, close(&mut socket)).await;
    drop(socket);
    let _ = news.send((id, News::Closed(fault))).await;
}

async fn serve<S>(
    id: u64,
    socket: &mut S,
    news: &mpsc::Sender<(u64, News)>,
    orders: &mut mpsc::Receiver<Order>,
) -> Fault
where
    S: Stream<Item = Result<Message, tungstenite::Error>> + Sink<Message, Error = tungstenite::Error> + Unpin,
{
    let mut ping = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut dead_at = Instant::now() + DEAD_AFTER;
    loop {
        let write = tokio::select! {
            message = socket.next() => match message {
                Some(Ok(Message::Close(_))) | None => return retryable("socket_closed", "slack closed the socket"),
                Some(Err(_)) => return retryable("socket_failed", "the socket failed"),
                Some(Ok(message)) => {
                    dead_at = Instant::now() + DEAD_AFTER;
                    let told = match message {
                        Message::Text(frame) => News::Frame(Frame::parse(frame.as_str())),
                        _ => News::Alive,
                    };
                    if news.send((id, told)).await.is_err() {
                        return retryable("session_ended", "the session ended");
                    }
                    continue;
                }
            },
            order = orders.recv() => match order {
                Some(Order::Write(frame)) => Message::text(frame),
                Some(Order::Close) | None => return retryable("session_ended", "the socket was closed by us"),
            },
            _ = ping.tick() => Message::Ping(Vec::new().into()),
            () = sleep_until(dead_at) => return retryable("socket_dead", "no frame came for 30 s"),
        };
        if !matches!(timeout(WRITE_LIMIT, socket.send(write)).await, Ok(Ok(()))) {
            return retryable("socket_failed", "the socket could not be written to");
        }
    }
}

/// Says goodbye and reads on until the peer answers.
async fn close<S>(socket: &mut S)
where
    S: Stream<Item = Result<Message, tungstenite::Error>> + Sink<Message, Error = tungstenite::Error> + Unpin,
{
    if socket.send(Message::Close(None)).await.is_ok() {
        while let Some(Ok(_)) = socket.next().await {}
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::DuplexStream;
    use tokio_tungstenite::WebSocketStream;
    use tokio_tungstenite::tungstenite::protocol::Role;

    use super::*;

    async fn pair() -> (WebSocketStream<DuplexStream>, WebSocketStream<DuplexStream>) {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let client = WebSocketStream::from_raw_socket(ours, Role::Client, None).await;
        (client, WebSocketStream::from_raw_socket(theirs, Role::Server, None).await)
    }

    /// MSG-217: a socket that swallows everything is dead after 30 s without a frame.
    #[tokio::test(start_paused = true)]
    async fn msg_217_a_blackholed_socket_is_found_within_its_window() {
        let (ours, _theirs) = pair().await;
        let (news, mut heard) = mpsc::channel(8);
        let (_orders, inbox) = mpsc::channel(8);
        let start = Instant::now();
        let task = tokio::spawn(run(1, ours, news, inbox));
        let (_, told) = heard.recv().await.unwrap();
        let News::Closed(fault) = told else { panic!("{told:?}") };
        assert_eq!(fault.code, "socket_dead");
        assert!((30..=32).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
        task.await.unwrap();
    }

    /// MSG-214: a quiet socket whose peer pongs lives on, and is pinged every 10 s.
    #[tokio::test(start_paused = true)]
    async fn msg_214_a_quiet_socket_that_pongs_lives_on() {
        let (ours, mut theirs) = pair().await;
        let (news, mut heard) = mpsc::channel(8);
        let (orders, inbox) = mpsc::channel(8);
        let task = tokio::spawn(run(1, ours, news, inbox));
        let start = Instant::now();
        let peer = tokio::spawn(async move {
            let mut pings = 0;
            while let Some(Ok(message)) = theirs.next().await {
                pings += u32::from(message.is_ping());
                let _ = theirs.flush().await;
            }
            pings
        });
        while start.elapsed() < Duration::from_hours(24) {
            let (_, told) = heard.recv().await.unwrap();
            assert!(matches!(told, News::Alive), "{told:?}");
        }
        orders.send(Order::Close).await.unwrap();
        drop(orders);
        while let Some((_, told)) = heard.recv().await {
            if let News::Closed(fault) = told {
                assert_eq!(fault.code, "session_ended");
            }
        }
        task.await.unwrap();
        assert!(peer.await.unwrap() >= 8_639);
    }
}
