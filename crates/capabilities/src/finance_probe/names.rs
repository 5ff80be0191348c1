//! Names of EDGAR as people write them: tickers, CIKs, forms, accession numbers, concepts and days.

use jiff::civil::Date;
use loom_domain::{Code, Error, Result};

/// Characters of a ticker.
const TICKER_CHARS_MAX: usize = 12;
/// Digits of a CIK.
const CIK_DIGITS: usize = 10;
/// Characters of a form.
const FORM_CHARS_MAX: usize = 20;
/// Characters of a unit.
const UNIT_CHARS_MAX: usize = 60;
/// Characters of a taxonomy and of a tag in it.
const CONCEPT_CHARS_MAX: (usize, usize) = (40, 240);

/// An input that breaks a rule, with its place.
pub(super) fn wrong(pointer: &str, message: impl Into<String>) -> Error {
    Error::new(Code::InvalidInput, message).with_detail("pointer", pointer)
}

/// A ticker as the SEC spells it: upper case, with `-` where others write `.` or `/`.
pub(super) fn ticker(text: &str) -> Result<String> {
    let ticker: String = text.trim().to_uppercase().replace(['.', '/'], "-");
    let is_ticker = (1..=TICKER_CHARS_MAX).contains(&ticker.len())
        && ticker.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-')
        && !ticker.starts_with('-');
    if is_ticker { Ok(ticker) } else { Err(wrong("/ticker", "a ticker has 1 to 12 letters, digits and -")) }
}

/// A Central Index Key: 1 to 10 digits.
pub(super) fn cik(text: &str) -> Result<u64> {
    let text = text.trim();
    let is_cik = (1..=CIK_DIGITS).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    let number = text.parse::<u64>().ok().filter(|number| is_cik && *number > 0);
    number.ok_or_else(|| wrong("/cik", "a CIK has 1 to 10 digits"))
}

/// A CIK with its ten digits.
pub(super) fn padded(cik: u64) -> String {
    format!("{cik:010}")
}

/// The forms of a list whose entries may hold several, with commas.
pub(super) fn forms(texts: &[String]) -> Result<Vec<String>> {
    let words = texts.iter().flat_map(|text| text.split(',')).map(|form| form.trim().to_ascii_uppercase());
    words.map(form).collect()
}

fn form(form: String) -> Result<String> {
    let is_form = (1..=FORM_CHARS_MAX).contains(&form.len())
        && form
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || matches!(b, b' ' | b'/' | b'.' | b'-'));
    if is_form { Ok(form) } else { Err(wrong("/form", "a form has 1 to 20 of A-Z, 0-9, blank, / . and -")) }
}

/// Whether the text is an accession number, `0000320193-24-000123`.
pub(super) fn is_accession(text: &str) -> bool {
    text.len() == 20
        && text.bytes().enumerate().all(|(at, b)| match at {
            10 | 13 => b == b'-',
            _ => b.is_ascii_digit(),
        })
}

/// An accession number, also without its dashes.
pub(super) fn accession(text: &str) -> Result<String> {
    let text = text.trim();
    let dashed = match (text.get(..10), text.get(10..12), text.get(12..)) {
        (Some(filer), Some(year), Some(number)) if text.len() == 18 => format!("{filer}-{year}-{number}"),
        _ => text.to_owned(),
    };
    let error = || wrong("/accession", "an accession number looks like 0000320193-24-000123");
    if is_accession(&dashed) { Ok(dashed) } else { Err(error()) }
}

/// `TAXONOMY:TAG`.
pub(super) fn concept(text: &str) -> Result<(String, String)> {
    let is_name = |name: &str, most: usize| {
        (1..=most).contains(&name.len())
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    let (taxonomy_max, tag_max) = CONCEPT_CHARS_MAX;
    let parts = text.trim().split_once(':');
    let parts = parts.filter(|(taxonomy, tag)| is_name(taxonomy, taxonomy_max) && is_name(tag, tag_max));
    let (taxonomy, tag) =
        parts.ok_or_else(|| wrong("/concept", "a concept looks like us-gaap:NetIncomeLoss"))?;
    Ok((taxonomy.to_owned(), tag.to_owned()))
}

/// A unit of facts, such as `USD` or `USD/shares`.
pub(super) fn unit(text: &str) -> Result<String> {
    let text = text.trim();
    let is_unit = (1..=UNIT_CHARS_MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
    if is_unit { Ok(text.to_owned()) } else { Err(wrong("/unit", "a unit looks like USD or USD/shares")) }
}

/// A day, `YYYY-MM-DD`.
pub(super) fn day(text: &str) -> Option<Date> {
    // The parser takes other spellings too.
    let is_day = text.len() == 10
        && text.bytes().enumerate().all(|(at, b)| match at {
            4 | 7 => b == b'-',
            _ => b.is_ascii_digit(),
        });
    text.parse().ok().filter(|_| is_day)
}

/// A day of the input.
pub(super) fn given_day(name: &str, text: Option<&str>) -> Result<Option<Date>> {
    let read = |text: &str| {
        day(text.trim())
            .ok_or_else(|| wrong(&format!("/{name}"), format!("{name}: a day looks like 2024-12-31")))
    };
    text.map(read).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAP-101: both spellings of a class of shares are one ticker.
    #[test]
    fn cap_101_tickers_have_one_spelling() {
        for text in ["BRK.B", "brk-b", " Brk/B "] {
            assert_eq!(ticker(text).unwrap(), "BRK-B");
        }
        for text in ["", "-A", "A B", "TOOLONGTICKER", "ÄB", "A?", "../X"] {
            assert_eq!(ticker(text).unwrap_err().detail["pointer"], "/ticker", "{text}");
        }
    }

    #[test]
    fn other_names_have_their_grammar() {
        assert_eq!((cik("320193").unwrap(), padded(320_193)), (320_193, "0000320193".to_owned()));
        for text in ["", "0", "12345678901", "-1", "+1", "1e3"] {
            assert!(cik(text).is_err(), "{text}");
        }
        assert_eq!(forms(&["10-k,10-q".into(), "DEF 14A".into()]).unwrap(), ["10-K", "10-Q", "DEF 14A"]);
        for text in ["", "10-K,,8-K", "10_K", "A&B", "123456789012345678901"] {
            assert!(forms(&[text.to_owned()]).is_err(), "{text}");
        }
        for text in ["0000320193-24-000123", "000032019324000123"] {
            assert_eq!(accession(text).unwrap(), "0000320193-24-000123");
        }
        assert!(
            ["", "0000320193-24-00012", "0000320193/24/000123", "00003201932400012é"]
                .iter()
                .all(|text| accession(text).is_err())
        );
        assert_eq!(concept("us-gaap:Assets").unwrap(), ("us-gaap".to_owned(), "Assets".to_owned()));
        assert!(
            ["Assets", ":", "a:b/c", "us gaap:X", "a:..", "1:a"].iter().all(|text| concept(text).is_err())
        );
        assert!(unit("USD/shares").is_ok() && unit("").is_err() && unit("US D").is_err());
        assert!(day("2024-02-29").is_some());
        assert!(
            ["2023-02-29", "20240101", "2024-1-1", "2024-01-01T00", ""]
                .iter()
                .all(|text| day(text).is_none())
        );
    }
}
