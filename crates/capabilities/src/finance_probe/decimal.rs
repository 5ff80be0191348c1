//! Figures as exact decimal strings: JSON's doubles would not keep them.

/// Largest exponent that is written out.
const EXPONENT_MAX: i32 = 400;
/// Most digits of a figure.
const DIGITS_MAX: usize = 400;

/// The decimal string of a JSON number, or of a JSON string that holds one; no digit is lost and none is added.
pub(super) fn exact(raw: &str) -> Option<String> {
    let raw = raw.trim();
    let raw = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(raw);
    let (sign, digits) = match raw.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", raw),
    };
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let (whole, part) = match mantissa.split_once('.') {
        Some((whole, part)) => (whole, Some(part)),
        None => (mantissa, None),
    };
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let fits = are_digits(whole) && part.is_none_or(are_digits) && mantissa.len() <= DIGITS_MAX;
    if !fits || exponent.abs() > EXPONENT_MAX {
        return None;
    }
    if exponent == 0 {
        return Some(format!("{sign}{mantissa}"));
    }
    Some(format!("{sign}{}", shifted(whole, part.unwrap_or_default(), exponent)))
}

/// The digits with their point moved.
fn shifted(whole: &str, part: &str, exponent: i32) -> String {
    let digits = format!("{whole}{part}");
    let by = usize::try_from(exponent.unsigned_abs()).unwrap_or(0);
    let point = if exponent > 0 { whole.len().saturating_add(by) } else { whole.len().saturating_sub(by) };
    let missing = if exponent > 0 { 0 } else { by.saturating_sub(whole.len()) };
    let digits = format!("{}{digits}", "0".repeat(missing));
    let digits = format!("{digits}{}", "0".repeat(point.saturating_sub(digits.len())));
    let (whole, part) = digits.split_at_checked(point).unwrap_or((&digits, ""));
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAP-102: a figure keeps each of its digits.
    #[test]
    fn cap_102_figures_keep_their_digits() {
        for (raw, figure) in [
            ("9007199254740993.10", "9007199254740993.10"),
            ("-1.50", "-1.50"),
            ("0", "0"),
            ("\"12.5\"", "12.5"),
            ("1.5E9", "1500000000"),
            ("1.25e1", "12.5"),
            ("12e-3", "0.012"),
            ("-2.5E-1", "-0.25"),
            ("1250e-2", "12.50"),
        ] {
            assert_eq!(exact(raw).as_deref(), Some(figure), "{raw}");
        }
        for raw in ["", "-", "null", "1e999999999999", "1e401", ".5", "1.", "\"x\"", "NaN", "--1", "true"] {
            assert_eq!(exact(raw), None, "{raw}");
        }
    }
}
