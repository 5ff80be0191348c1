//! A page of a run's rows.

use serde_json::{Value, json};

use super::row::Row;

/// Rows of one answer.
const ROWS_MAX: usize = 1_000;

/// Rows from a place on, of one lane if wanted. The cursor is the place of the first one that was left out.
pub(super) fn page(rows: &[Row], since: u64, lane: Option<&str>) -> Value {
    let from = usize::try_from(since).unwrap_or(usize::MAX);
    let mut wanted = rows.iter().skip(from).filter(|row| lane.is_none() || row.body.lane() == lane);
    let items: Vec<&Row> = wanted.by_ref().take(ROWS_MAX).collect();
    let next = wanted.next().map(|row| row.seq.to_string());
    json!({"schema_version": "loom.multi_agent_log/v1", "items": items, "nextCursor": next})
}

#[cfg(test)]
mod tests {
    use loom_domain::Timestamp;

    use super::super::row::{LaneRound, RunEvent};
    use super::*;

    /// CAP-136: whoever follows the cursor sees each row once, whatever the lane.
    #[test]
    fn cap_136_a_long_log_is_read_page_by_page() {
        let row = |seq: u64| {
            let lane = ["scout", "reviewer"][usize::from(seq % 2 == 1)].to_owned();
            let body = RunEvent::LaneStarted { of: LaneRound { lane, round: 1, attempt: 0 }, seen: 0 };
            Row { seq, at: Timestamp(0), fence: 1, body, prev: String::new(), digest: String::new() }
        };
        let rows: Vec<Row> = (0..2_500).map(row).collect();
        for (lane, count) in [(None, 2_500), (Some("reviewer"), 1_250), (Some("nobody"), 0)] {
            let (mut since, mut seen) = (Some(0), Vec::new());
            while let Some(from) = since {
                let page = page(&rows, from, lane);
                seen.extend(page["items"].as_array().unwrap().iter().map(|row| row["seq"].as_u64().unwrap()));
                since = page["nextCursor"].as_str().map(|next| next.parse().unwrap());
            }
            assert_eq!(seen.len(), count, "{lane:?}");
            assert!(seen.is_sorted_by(|a, b| a < b));
        }
    }
}
