//! Principals as extractors: a handler names who may call it, and cannot be registered without.

use axum::extract::FromRequestParts;
use http::request::Parts;
use loom_domain::{AgentId, Code, ConnectionId, Principal};

use crate::Problem;

/// What guard 6 found out; only the gate writes it into a request.
#[derive(Debug, Clone)]
pub(crate) struct Authenticated(pub(crate) Principal);

/// A principal extractor. Sealed: the kinds of the rights table are all there are.
pub(crate) trait Who: Sized {
    fn admit(principal: Principal) -> Option<Self>;
}

/// Marks the argument lists of handlers whose first argument is a principal extractor.
pub(crate) trait TakesPrincipal {}

macro_rules! takes_principal {
    ($($argument:ident)*) => {
        impl<M, P: Who, $($argument,)*> TakesPrincipal for (M, P, $($argument,)*) {}
    };
}
takes_principal!();
takes_principal!(A);
takes_principal!(A B);
takes_principal!(A B C);
takes_principal!(A B C D);
takes_principal!(A B C D E);

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident($field:ty) $pattern:pat => $value:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name(pub $field);

        impl Who for $name {
            fn admit(principal: Principal) -> Option<Self> {
                match principal {
                    $pattern => Some($name($value(principal)?)),
                    _ => None,
                }
            }
        }

        impl<S: Sync> FromRequestParts<S> for $name {
            type Rejection = Problem;
            async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
                extract(parts)
            }
        }
    )*};
}

kinds! {
    /// The owner.
    Owner(Principal) Principal::Owner => Some;
    /// The owner or a viewer.
    OwnerOrViewer(Principal) Principal::Owner | Principal::Viewer => Some;
    /// Whoever may read: owner, viewer, or an Agent its own.
    AnyReader(Principal) Principal::Owner | Principal::Viewer | Principal::Agent(_) => Some;
    /// The owner, or an Agent acting as itself.
    AgentOrOwner(Principal) Principal::Owner | Principal::Agent(_) => Some;
    /// The connector of one Connection.
    Connector(ConnectionId) Principal::Connector(_) => connection_of;
}

fn connection_of(principal: Principal) -> Option<ConnectionId> {
    match principal {
        Principal::Connector(id) => Some(id),
        _ => None,
    }
}

impl AnyReader {
    /// The Agent whose objects alone are visible, if the reader is one.
    pub fn confined_to(&self) -> Option<&AgentId> {
        match &self.0 {
            Principal::Agent(id) => Some(id),
            _ => None,
        }
    }
}

fn extract<W: Who>(parts: &Parts) -> Result<W, Problem> {
    let Authenticated(principal) = parts
        .extensions
        .get::<Authenticated>()
        .cloned()
        .ok_or_else(|| Problem::new(Code::Unauthenticated, "no principal"))?;
    let kind = principal.to_string();
    W::admit(principal).ok_or_else(|| Problem::new(Code::Forbidden, format!("not open to {kind}")))
}
