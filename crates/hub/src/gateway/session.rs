//! One gateway: takes the lease, reads the credential, checks who it is, then serves sessions and sends.

use std::sync::Arc;
use std::time::Duration;

use loom_channels::{Channel, Fault, FaultClass, Identity, Session, SessionEnd};
use loom_domain::{Code, Connection, Error, Principal, Result};
use loom_secrets::{CredentialRef, Kind};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{backoff::Backoff, catchup, ingress::HubIngress, monitor::HubMonitor, probe};
use crate::{courier, hub::Hub};

/// Wait before asking for a lease that another owner holds.
const LEASE_WAIT: Duration = Duration::from_secs(2);

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
pub(crate) fn credential_kind(provider: &str) -> Kind {
    match provider {
        "slack" => Kind::Slack,
        "feishu" => Kind::Feishu,
        "parall" => Kind::Parall,
        "webhook" => Kind::Webhook,
        _ => Kind::Plain,
    }
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
        let held = stop.child_token();
        let wait = {
            let renew = renew(&hub, &name, fence, ttl_ms, &held);
            let work = sessions(&hub, &connection, fence, &held, &mut backoff);
            tokio::select! {
                wait = work => wait,
                () = renew => LEASE_WAIT,
            }
        };
        held.cancel();
        hub.set_channel(&connection.id, None);
        hub.inner.board.unleased(&connection.id);
        let _ = hub.store().release_lease(hub.act(Principal::Hub), name.clone(), fence).await;
        pause(&stop, wait).await;
    }
}

async fn pause(stop: &CancellationToken, wait: Duration) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(wait) => {}
    }
}

/// Renews the lease until it is lost. Time is counted from before each renewal was sent.
async fn renew(hub: &Hub, name: &str, fence: u64, ttl_ms: i64, held: &CancellationToken) {
    let ttl = Duration::from_millis(u64::try_from(ttl_ms).unwrap_or(15_000));
    let margin =
        Duration::from_millis(u64::try_from(hub.config().lease.margin_ms).unwrap_or(3_000)).min(ttl / 3);
    let mut good_until = tokio::time::Instant::now() + ttl - margin;
    loop {
        tokio::time::sleep(ttl / 3).await;
        let sent = tokio::time::Instant::now();
        let renewal = hub.store().lease(hub.act(Principal::Hub), name.to_owned(), ttl_ms, Some(fence));
        match tokio::time::timeout_at(good_until, renewal).await {
            Ok(Ok(lease)) if lease.fence == fence => good_until = sent + ttl - margin,
            Ok(Err(error)) if error.code != Code::Locked && sent < good_until => continue,
            _ => break,
        }
    }
    tracing::warn!("the lease {name} was lost");
    held.cancel();
}

/// Connects and serves again and again while the lease is held. Gives the wait before the next attempt.
async fn sessions(
    hub: &Hub,
    connection: &Arc<Connection>,
    fence: u64,
    held: &CancellationToken,
    backoff: &mut Backoff,
) -> Duration {
    loop {
        hub.inner.board.connecting(&connection.id, backoff.attempt());
        let holder = match open(hub, connection, fence).await {
            Ok(holder) => holder,
            Err(fault) => {
                hub.inner.board.fault(&connection.id, &fault);
                let wait = wait_after(&fault, backoff, hub);
                hub.inner.board.waiting(&connection.id, wait);
                tokio::select! {
                    () = held.cancelled() => return LEASE_WAIT,
                    () = tokio::time::sleep(wait) => continue,
                }
            }
        };
        let end = serve(&holder, held, backoff).await;
        hub.inner.board.session_ended(&connection.id);
        let wait = match &end {
            SessionEnd::Stopped | SessionEnd::LeaseLost => return LEASE_WAIT,
            SessionEnd::Reconnect => Duration::ZERO,
            SessionEnd::Failed(fault) => {
                hub.inner.board.fault(&connection.id, fault);
                wait_after(fault, backoff, hub)
            }
        };
        hub.inner.board.waiting(&connection.id, wait);
        tokio::select! {
            () = held.cancelled() => return LEASE_WAIT,
            () = tokio::time::sleep(wait) => {}
        }
    }
}

fn wait_after(fault: &Fault, backoff: &mut Backoff, hub: &Hub) -> Duration {
    let random = u64::try_from((hub.inner.parts.entropy)() & u128::from(u64::MAX)).unwrap_or(0);
    match fault.class {
        FaultClass::Auth | FaultClass::Config => backoff.settings(),
        FaultClass::RateLimited => {
            backoff.next(random).max(Duration::from_millis(fault.retry_after_ms.unwrap_or(30_000)))
        }
        _ => backoff.next(random),
    }
}

/// Reads the credential again, makes the channel, and checks that it is the account of the Connection.
async fn open(hub: &Hub, connection: &Arc<Connection>, fence: u64) -> Result<Holder, Fault> {
    let fields = resolve(hub, connection).await.map_err(|e| local(&e))?;
    let channel = (hub.inner.parts.make_channel)(connection, &fields).map_err(|e| local(&e))?;
    let identity = channel.verify().await?;
    check_account(connection, &identity)?;
    hub.inner.board.identified(&connection.id, &identity);
    if let Err(error) =
        hub.store().connection_identified(hub.act(Principal::Hub), connection.id.clone()).await
    {
        return Err(Fault::new(FaultClass::Retryable, error.code.as_str(), error.message));
    }
    hub.set_channel(&connection.id, Some(channel.clone()));
    Ok(Holder {
        hub: hub.clone(),
        connection: connection.clone(),
        fence,
        channel,
        identity: Arc::new(identity),
    })
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

/// Serves one session with its courier, probe and catch-up beside it.
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
    let recovered =
        holder.hub.store().recover_parts(holder.hub.act(Principal::Hub), holder.connection.id.clone()).await;
    if let Err(error) = recovered {
        return SessionEnd::Failed(Fault::new(FaultClass::Retryable, error.code.as_str(), error.message));
    }
    let beside = async {
        tokio::join!(
            courier::run(holder.clone(), stop.clone()),
            probe::run(holder.clone(), stop.clone(), reconnect.clone()),
            catchup::run(holder.clone(), monitor.clone(), stop.clone()),
            probe::snapshots(holder.clone(), monitor.clone(), stop.clone()),
        )
    };
    let served = async {
        let end = holder.channel.serve(session).await;
        stop.cancel();
        end
    };
    let (end, _) = tokio::join!(served, beside);
    if monitor.was_registered() {
        backoff.connected();
    }
    end
}
