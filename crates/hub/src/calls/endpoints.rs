//! Endpoints in calls: whoever is not the owner names one, and never gives a URL.

use loom_capabilities::fold_id;
use loom_domain::connector_plan::CallOrder;
use loom_domain::{Code, Error, Principal, Result};
use serde_json::Value;

use crate::hub::Hub;

/// The connector whose input names endpoints.
const CONNECTOR: &str = "http_webhook";

impl Hub {
    /// The order with the URL of the endpoint that it names.
    pub(super) async fn with_endpoint(&self, who: &Principal, order: &CallOrder) -> Result<CallOrder> {
        let mut order = order.clone();
        if fold_id(&order.connector)? != CONNECTOR {
            return Ok(order);
        }
        let Some(input) = order.input.as_object_mut() else { return Ok(order) };
        if *who != Principal::Owner && input.contains_key("url") {
            return Err(Error::new(Code::Forbidden, "an Agent names an endpoint, never a URL")
                .with_hint("give --endpoint NAME"));
        }
        let Some(name) = input.get("endpoint").and_then(Value::as_str) else { return Ok(order) };
        let endpoint = self.store().endpoint(name.to_owned()).await?;
        if !endpoint.enabled {
            return Err(Error::new(Code::Disabled, format!("the endpoint {name} is switched off")));
        }
        input.insert("url".to_owned(), endpoint.url.into());
        Ok(order)
    }
}
