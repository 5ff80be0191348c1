//! One gateway: takes the lease, reads the credential, checks who it is, then serves sessions and sends.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use loom_channels::{Channel, Fault, FaultClass, Identity, Session, SessionEnd};
use loom_domain::{Code, Connection, Error, Principal, Result};
use loom_secrets::{CredentialRef, Kind};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::{backoff::Backoff, catchup, ingress::HubIngress, monitor::HubMonitor, probe};
use crate::{courier, hub::Hub, lease};

/// Wait before asking for a lease that another owner holds.
const LEASE_WAIT: Duration = Duration::from_secs(2);
/// Time a session has to close after a stop.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// What a gateway works with while it holds the lease.
#[derive(Clone)]
pub(crate) struct Holder {
    pub(crate) hub: Hub,
    pub(crate) connection: Arc<Connection>,
    pub(crate) fence: u64,
    pub(crate) channel: Arc<dyn Channel>,
    pub(crate) identity: Arc<Identity>,
}

/// Kind of credential of a provider.
fn credential_kind(provider: &str) -> Kind {
    match provider {
        "slack" => Kind::Slack,
        "feishu" => Kind::Feishu,
        "parall" => Kind::Parall,
        "webhook" => Kind::Webhook,
        _ => Kind::Plain,
    }
}

/// A lease that is held, and what is done under it.
struct Grant<'a> {
    hub: &'a Hub,
    connection: &'a Arc<Connection>,
    name: &'a str,
    fence: u64,
    /// Cancelled when the lease is lost or the gateway stops.
    held: CancellationToken,
    /// The channel that the courier sends through.
    current: watch::Sender<Option<Holder>>,
}

/// Serves a Connection until it is stopped.
pub(super) async fn run(hub: Hub, connection: Arc<Connection>, stop: CancellationToken) {
    let name = format!("connection:{}", connection.id);
    let ttl_ms = hub.config().lease.connection_ttl_ms;
    let mut backoff = Backoff::default();
    while !stop.is_cancelled() {
        let fence = match hub.store().lease(hub.act(Principal::Hub), name.clone(), ttl_ms, None).await {
            Ok(lease) => lease.fence,
            Err(error) => {
                hub.inner.board.lease_refused(&connection.id, &error);
                pause(&stop, LEASE_WAIT).await;
                continue;
            }
        };
        hub.inner.board.leased(&connection.id, fence);
        let current = watch::Sender::new(None);
        let grant = Grant {
            hub: &hub,
            connection: &connection,
            name: &name,
            fence,
            held: stop.child_token(),
            current,
        };
        let wait = hold(&grant, &mut backoff).await;
        grant.held.cancel();
        hub.set_channel(&connection.id, None);
        hub.inner.board.unleased(&connection.id);
        let _ = hub.store().release_lease(hub.act(Principal::Hub), name.clone(), fence).await;
        pause(&stop, wait).await;
    }
}

/// Works under the lease: Parts that an earlier holder left are judged first, then sessions come and go while one
/// courier sends through the newest channel. Gives the wait before the lease is asked for again.
async fn hold(grant: &Grant<'_>, backoff: &mut Backoff) -> Duration {
    let (hub, connection) = (grant.hub, grant.connection);
    let recovered = hub.store().recover_parts(hub.act(Principal::Hub), connection.id.clone()).await;
    if let Err(error) = recovered {
        hub.inner.board.lease_refused(&connection.id, &error);
        return LEASE_WAIT;
    }
    let sessions = async {
        let wait = sessions(grant, backoff).await;
        grant.held.cancel();
        wait
    };
    let courier = courier::run(hub, connection, grant.fence, grant.current.subscribe(), &grant.held);
    let work = async { tokio::join!(sessions, courier).0 };
    tokio::select! {
        wait = work => wait,
        () = lease::keep(hub, grant.name, grant.fence, hub.config().lease.connection_ttl_ms) => {
            tracing::warn!("the lease {} was lost", grant.name);
            LEASE_WAIT
        }
    }
}

async fn pause(stop: &CancellationToken, wait: Duration) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(wait) => {}
    }
}

/// Connects and serves again and again while the lease is held. Gives the wait before the lease is asked for again.
async fn sessions(grant: &Grant<'_>, backoff: &mut Backoff) -> Duration {
    let (board, id) = (&grant.hub.inner.board, &grant.connection.id);
    loop {
        board.connecting(id, backoff.attempt());
        let opened = tokio::select! {
            () = grant.held.cancelled() => return LEASE_WAIT,
            opened = open(grant) => opened,
        };
        let wait = match opened {
            Ok(holder) => {
                let end = serve(&holder, &grant.held, backoff).await;
                board.session_ended(id);
                match end {
                    SessionEnd::Stopped | SessionEnd::LeaseLost => return LEASE_WAIT,
                    SessionEnd::Reconnect => Duration::ZERO,
                    SessionEnd::Failed(fault) => {
                        board.fault(id, &fault);
                        wait_after(&fault, backoff, grant.hub)
                    }
                }
            }
            Err(fault) => {
                board.fault(id, &fault);
                if matches!(fault.class, FaultClass::Auth | FaultClass::Config) {
                    grant.hub.set_channel(id, None);
                    grant.current.send_replace(None);
                }
                wait_after(&fault, backoff, grant.hub)
            }
        };
        board.waiting(id, wait);
        tokio::select! {
            () = grant.held.cancelled() => return LEASE_WAIT,
            () = tokio::time::sleep(wait) => {}
        }
    }
}

fn wait_after(fault: &Fault, backoff: &mut Backoff, hub: &Hub) -> Duration {
    match fault.class {
        FaultClass::Auth | FaultClass::Config => Backoff::settings(),
        FaultClass::RateLimited => backoff
            .next(super::random(hub))
            .max(Duration::from_millis(fault.retry_after_ms.unwrap_or(30_000))),
        _ => backoff.next(super::random(hub)),
    }
}

/// Reads the credential again, makes the channel, and checks that it is the account of the Connection.
async fn open(grant: &Grant<'_>) -> Result<Holder, Fault> {
    let (hub, connection) = (grant.hub, grant.connection);
    let fields = resolve(hub, connection).await.map_err(|e| local(&e))?;
    let channel = (hub.inner.parts.make_channel)(connection, &fields).map_err(|e| local(&e))?;
    let identity = channel.verify().await?;
    check_account(connection, &identity)?;
    hub.inner.board.identified(&connection.id, &identity);
    let identified = hub.store().connection_identified(hub.act(Principal::Hub), connection.id.clone()).await;
    identified.map_err(|error| Fault::new(FaultClass::Retryable, error.code.as_str(), error.message))?;
    hub.set_channel(&connection.id, Some(channel.clone()));
    let holder = Holder {
        hub: hub.clone(),
        connection: connection.clone(),
        fence: grant.fence,
        channel,
        identity: Arc::new(identity),
    };
    grant.current.send_replace(Some(holder.clone()));
    Ok(holder)
}

async fn resolve(hub: &Hub, connection: &Connection) -> Result<loom_secrets::Fields> {
    let reference: CredentialRef = connection.credential_ref.parse()?;
    hub.inner.parts.resolver.resolve(&reference, credential_kind(&connection.provider)).await
}

fn local(error: &Error) -> Fault {
    let class = match error.code {
        Code::CredentialUnavailable | Code::CredentialMissing | Code::CredentialFileRefused => {
            FaultClass::Auth
        }
        _ => FaultClass::Config,
    };
    Fault::new(class, error.code.as_str(), error.message.clone())
}

/// A credential of another account never serves a Connection.
fn check_account(connection: &Connection, identity: &Identity) -> Result<(), Fault> {
    let is_account = identity.account.is_empty() || identity.account == connection.account_ref;
    let is_scope = match (&connection.scope_ref, &identity.scope) {
        (Some(wanted), Some(found)) => wanted == found,
        _ => true,
    };
    if is_account && is_scope {
        return Ok(());
    }
    Err(Fault::new(
        FaultClass::Config,
        Code::CredentialMismatch.as_str(),
        format!("the credential is of {}/{}", identity.account, identity.scope.as_deref().unwrap_or("-")),
    ))
}

/// Serves one session with its probe and catch-up beside it; they end with it.
async fn serve(holder: &Holder, held: &CancellationToken, backoff: &mut Backoff) -> SessionEnd {
    let stop = held.child_token();
    let reconnect = Arc::new(Notify::new());
    let monitor = Arc::new(HubMonitor::new(holder.hub.clone(), holder.connection.id.clone()));
    let session = Session {
        ingress: Arc::new(HubIngress::new(holder.clone())),
        monitor: monitor.clone(),
        stop: stop.clone(),
        reconnect: reconnect.clone(),
    };
    // Where nothing comes in, nothing was missed.
    let incoming = Box::pin(async {
        if holder.channel.receives() {
            tokio::join!(
                probe::run(holder.clone(), stop.clone(), reconnect.clone()),
                catchup::run(holder.clone(), monitor.clone(), stop.clone()),
            );
        }
    });
    let beside = async {
        tokio::join!(incoming, probe::snapshots(holder.clone(), monitor.clone(), stop.clone()));
        std::future::pending::<std::convert::Infallible>().await
    };
    let end = tokio::select! {
        end = serve_channel(holder, session, held) => end,
        never = beside => match never {},
    };
    stop.cancel();
    if monitor.was_registered() {
        backoff.connected();
    }
    end
}

/// Serves the platform's session. A panic in it is a failed session and touches nothing else; after a stop it has
/// a short time to close.
async fn serve_channel(holder: &Holder, session: Session, held: &CancellationToken) -> SessionEnd {
    let closing = async {
        held.cancelled().await;
        tokio::time::sleep(CLOSE_LIMIT).await;
    };
    let served = tokio::select! {
        served = AssertUnwindSafe(holder.channel.serve(session)).catch_unwind() => served,
        () = closing => Ok(SessionEnd::Stopped),
    };
    served.unwrap_or_else(|panic| {
        holder.hub.inner.metrics.task_died("gateway");
        let why = crate::supervise::panic_text(panic.as_ref());
        tracing::error!("the session of {} panicked: {why}", holder.connection.id);
        let message = format!("the gateway panicked: {why}");
        SessionEnd::Failed(Fault::new(FaultClass::Retryable, Code::Internal.as_str(), message))
    })
}
