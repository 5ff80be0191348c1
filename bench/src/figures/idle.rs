//! PB-6: memory of an idle hub with twenty Connections.

use std::time::Duration;

use serde_json::json;

use crate::hub::Hub;
use crate::machine::resident_bytes;
use crate::options::Options;
use crate::report;

const CONNECTIONS: usize = 20;
const RESIDENT_MAX: u64 = 30_000_000;

/// Measures it after `--seconds` of rest.
pub(crate) async fn measure(options: &Options) -> anyhow::Result<()> {
    let mut hub = Hub::new(CONNECTIONS).await?;
    hub.up().await?;
    hub.connect_all().await?;
    tokio::time::sleep(Duration::from_secs(options.seconds)).await;
    let resident = resident_bytes(&hub.process()?.to_string());
    let words = format!(
        "{:.1} MB resident with {CONNECTIONS} idle Slack Connections after {} s (< 30 MB)",
        crate::quantile::count(usize::try_from(resident)?) / 1e6,
        options.seconds
    );
    let values = json!({"connections": CONNECTIONS, "seconds": options.seconds, "rss_bytes": resident});
    report::figure("pb-6", &words, resident > 0 && resident < RESIDENT_MAX, &values, None);
    hub.down()
}
