//! Words of the query language (GraphQL specification, October 2021, section 2.1).

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    Name(String),
    Number(String),
    Text(String),
    Mark(char),
    Spread,
}

/// Splits a query into words; commas and comments are nothing.
pub(super) fn words(query: &str) -> Result<Vec<Word>, String> {
    let (mut words, mut rest) = (Vec::new(), query);
    while let Some(first) = rest.chars().next() {
        let after = rest.get(first.len_utf8()..).unwrap_or_default();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if first.is_whitespace() || first == ',' || first == '\u{feff}' {
            rest = after;
        } else if first == '#' {
            rest = after.split_once('\n').map_or("", |(_, next)| next);
        } else if let Some(next) = rest.strip_prefix("...") {
            words.push(Word::Spread);
            rest = next;
        } else if first == '"' {
            let (text, next) = text(after)?;
            words.push(Word::Text(text));
            rest = next;
        } else if first == '-' || first.is_ascii_digit() {
            let end = after.find(|c: char| !is_word(c) && c != '.').unwrap_or(after.len());
            let (number, next) = rest.split_at(first.len_utf8() + end);
            words.push(Word::Number(number.to_owned()));
            rest = next;
        } else if is_word(first) {
            let (name, next) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
            words.push(Word::Name(name.to_owned()));
            rest = next;
        } else if "{}()[]:$!=@|&".contains(first) {
            words.push(Word::Mark(first));
            rest = after;
        } else {
            return Err(format!("Parse error on {first:?} (error)"));
        }
    }
    Ok(words)
}

/// A string after its opening quote, and what follows it.
fn text(rest: &str) -> Result<(String, &str), String> {
    let (mut text, mut chars) = (String::new(), rest.char_indices());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((text, rest.get(at + 1..).unwrap_or_default())),
            '\\' => match chars.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, escaped)) => text.push(escaped),
                None => break,
            },
            '\n' => break,
            _ => text.push(c),
        }
    }
    Err("Parse error on bad Unicode escape sequence or unterminated string".into())
}
