//! Endpoints and deliveries, as the owner orders them.

use loom_api::{Page, query, request, view};
use loom_capabilities::http_webhook::deliver::message;
use loom_capabilities::http_webhook::signature::{Scheme, is_id};
use loom_capabilities::sha256_of;
use loom_domain::webhook::{BODY_BYTES_USUAL, Delivery, Endpoint, Envelope};
use loom_domain::{Code, Error, PartId, Principal, Result};
use loom_secrets::CredentialRef;
use loom_store::ops::webhooks::{EndpointChange, NewDelivery};

use crate::hub::Hub;

/// Characters of a URL.
const URL_CHARS_MAX: usize = 2_000;

impl Hub {
    /// Adds an endpoint, or changes the one of its name.
    pub async fn put_endpoint(&self, who: Principal, request: request::PutEndpoint) -> Result<Endpoint> {
        who.require_owner()?;
        check_url(&request.url)?;
        CredentialRef::parse(&request.secret_ref)?;
        let scheme = request.scheme.unwrap_or_else(|| "standard".to_owned());
        if !matches!(Scheme::parse(&scheme), Some(Scheme::Standard | Scheme::Github | Scheme::Slack)) {
            return Err(Error::invalid("scheme", "expected standard, github or slack"));
        }
        let envelope = request.envelope.map_or(Ok(Envelope::Standard), |word| word.parse())?;
        let change = EndpointChange {
            name: request.name,
            url: request.url,
            secret_ref: request.secret_ref,
            event_types: request.event_types,
            envelope,
            scheme,
        };
        self.store().put_endpoint(self.act(who), change).await
    }

    /// Stores a delivery; it is made as soon as it can be, and again as the schedule says.
    pub async fn add_delivery(
        &self,
        who: Principal,
        request: request::Deliver,
    ) -> Result<view::DeliveryEntry> {
        who.require_owner()?;
        self.takes_work()?;
        let endpoint = self.store().endpoint(request.endpoint).await?;
        let act = self.act(who);
        let id = request.id.unwrap_or_else(|| PartId::new(act.now.0, (act.entropy)()).to_string());
        if !is_id(&id) {
            return Err(Error::new(Code::InvalidInput, "a webhook id has 1 to 64 of A-Z, a-z, 0-9, _ and -")
                .with_detail("pointer", "/id"));
        }
        let message = message(&endpoint, &id, &request.r#type, &request.data, act.now)?;
        let is_large = message.body.len() > BODY_BYTES_USUAL;
        let new = NewDelivery {
            id,
            endpoint: endpoint.name,
            event_type: request.r#type,
            body: message.body,
            data_sha256: sha256_of(&request.data),
            headers: message.headers,
        };
        let delivery = self.store().add_delivery(act, new).await?;
        let warnings = is_large.then(|| "the body is over 20 KiB, which some receivers refuse".to_owned());
        Ok(view::DeliveryEntry { delivery, warnings: warnings.into_iter().collect() })
    }

    /// Deliveries, newest first.
    pub async fn deliveries(&self, query: query::Deliveries) -> Result<Page<Delivery>> {
        let paging = query::Paging { limit: query.limit, cursor: query.cursor };
        self.store().deliveries(query.endpoint, paging).await
    }
}

fn check_url(url: &str) -> Result<()> {
    let has_scheme = url.starts_with("https://") || url.starts_with("http://");
    let fits = has_scheme
        && url.len() <= URL_CHARS_MAX
        && !url.contains(|c: char| c.is_whitespace() || c.is_control());
    match fits && !url.contains('@') {
        true => Ok(()),
        false => {
            Err(Error::new(Code::InvalidUrl, "an endpoint is an http or https URL without user information")
                .with_detail("rule", "scheme"))
        }
    }
}
