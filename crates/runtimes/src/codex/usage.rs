//! Usage of one Turn from counters of the whole thread. Pure.

use serde_json::Value;

use crate::Usage;

/// Differences cumulative counters.
#[derive(Debug, Clone, Default)]
pub(super) struct Meter {
    base: Option<Usage>,
    total: Option<Usage>,
}

impl Meter {
    /// A Turn begins: what was counted so far is not its own.
    pub(super) fn begin(&mut self) {
        self.base = self.total;
    }

    /// Reads `tokenUsage` and gives the usage of the Turn so far.
    pub(super) fn update(&mut self, token_usage: &Value) -> Usage {
        let total = counters(token_usage.get("total").unwrap_or(&Value::Null));
        let last = counters(token_usage.get("last").unwrap_or(&Value::Null));
        let went_down = self.total.is_some_and(|before| total.input_tokens < before.input_tokens);
        if went_down {
            self.base = Some(Usage::default());
        }
        // The first count after a resume: only its last call is surely of this Turn.
        let base = *self.base.get_or_insert_with(|| minus(total, last));
        self.total = Some(total);
        minus(total, base)
    }

    /// Reads a count of an earlier Turn.
    pub(super) fn note(&mut self, token_usage: &Value) {
        let total = counters(token_usage.get("total").unwrap_or(&Value::Null));
        self.total = Some(total);
        self.base = Some(total);
    }
}

fn counters(value: &Value) -> Usage {
    let of = |key: &str| value.get(key).and_then(Value::as_u64).unwrap_or(0);
    Usage {
        input_tokens: of("inputTokens"),
        cached_input_tokens: of("cachedInputTokens"),
        output_tokens: of("outputTokens"),
        reasoning_output_tokens: of("reasoningOutputTokens"),
    }
}

fn minus(total: Usage, base: Usage) -> Usage {
    Usage {
        input_tokens: total.input_tokens.saturating_sub(base.input_tokens),
        cached_input_tokens: total.cached_input_tokens.saturating_sub(base.cached_input_tokens),
        output_tokens: total.output_tokens.saturating_sub(base.output_tokens),
        reasoning_output_tokens: total.reasoning_output_tokens.saturating_sub(base.reasoning_output_tokens),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn counts(total: u64, last: u64) -> Value {
        json!({"total": {"inputTokens": total}, "last": {"inputTokens": last}})
    }

    #[test]
    fn rt_10_counters_are_differenced_per_turn_and_a_reset_starts_anew() {
        let mut meter = Meter::default();
        assert_eq!(meter.update(&counts(100, 10)).input_tokens, 10);
        assert_eq!(meter.update(&counts(115, 15)).input_tokens, 25);
        meter.begin();
        assert_eq!(meter.update(&counts(120, 5)).input_tokens, 5);
        meter.begin();
        assert_eq!(meter.update(&counts(7, 7)).input_tokens, 7);
        meter.note(&counts(50, 1));
        assert_eq!(meter.update(&counts(60, 1)).input_tokens, 10);
    }
}
