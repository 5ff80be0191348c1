//! The `Link` header (RFC 8288), as far as the next page is concerned.

use http::HeaderMap;

/// The target of the first link whose relation is `next`.
pub(super) fn next(headers: &HeaderMap) -> Option<&str> {
    headers.get_all(http::header::LINK).iter().filter_map(|value| value.to_str().ok()).find_map(next_of)
}

fn next_of(mut text: &str) -> Option<&str> {
    loop {
        let (_, after) = text.split_once('<')?;
        let (target, after) = after.split_once('>')?;
        let (parameters, rest) = split_link(after);
        if is_next(parameters) {
            return Some(target);
        }
        text = rest;
    }
}

/// Splits at the comma that ends a link; commas inside quotes are part of a parameter.
fn split_link(text: &str) -> (&str, &str) {
    let mut quoted = false;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b',' if !quoted => {
                return (text.get(..index).unwrap_or_default(), text.get(index..).unwrap_or_default());
            }
            _ => {}
        }
    }
    (text, "")
}

fn is_next(parameters: &str) -> bool {
    parameters.split(';').filter_map(|parameter| parameter.split_once('=')).any(|(name, value)| {
        let relations = value.trim().trim_matches('"');
        name.trim().eq_ignore_ascii_case("rel")
            && relations.split_ascii_whitespace().any(|relation| relation.eq_ignore_ascii_case("next"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_link_is_found_among_others() {
        for (text, target) in [
            (
                "<https://h/?page=2>; rel=\"next\", <https://h/?page=9>; rel=\"last\"",
                Some("https://h/?page=2"),
            ),
            ("<https://h/1>; title=\"a, b\"; rel=prev, </2>;REL=\"x Next\"", Some("/2")),
            ("<https://h/1>; rel=\"last\"", None),
            ("<https://h/1", None),
            ("rel=next", None),
            ("", None),
        ] {
            assert_eq!(next_of(text), target, "{text}");
        }
        let mut headers = HeaderMap::new();
        headers.append("link", "</a>; rel=prev".parse().unwrap());
        headers.append("link", "</b>; rel=next".parse().unwrap());
        assert_eq!(next(&headers), Some("/b"));
    }
}
