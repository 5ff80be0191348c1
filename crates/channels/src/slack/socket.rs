//! A Socket Mode session: one socket, two for a moment when Slack recycles it.

mod connect;
mod lanes;
mod link;
mod serving;

use std::sync::Arc;

use super::Inner;
use crate::{Fault, FaultClass, Session, SessionEnd};
use serving::Serving;

/// Serves until the session ends. The caller reconnects.
pub(super) async fn serve(inner: Arc<Inner>, session: Session) -> SessionEnd {
    session.monitor.connecting();
    let opened = tokio::select! {
        () = session.stop.cancelled() => return SessionEnd::Stopped,
        opened = start(&inner) => opened,
    };
    match opened {
        Ok(opened) => Serving::new(inner, session, opened).run().await,
        Err(fault) => SessionEnd::Failed(fault),
    }
}

/// Asks anew who the tokens are, then opens the first socket.
async fn start(inner: &Arc<Inner>) -> Result<connect::Opened, Fault> {
    if inner.api.http().app_token().is_none() {
        return Err(Fault::new(FaultClass::Auth, "credential_missing", "the credential has no app_token"));
    }
    inner.identify().await?;
    connect::connect(inner).await
}
