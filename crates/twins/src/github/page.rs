//! Pages of a list and their `Link` header («Using pagination in the REST API»).

use super::reply::Reply;
use serde_json::Value;

/// Items of a page unless the request says otherwise.
const SIZE_DEFAULT: usize = 30;
/// Most items of a page; a larger wish gets this many.
const SIZE_MAX: usize = 100;

/// The page that was asked for.
#[derive(Debug, Clone)]
pub(super) struct Page {
    size: usize,
    number: usize,
    /// Base of the links: origin, prefix and path by the repository's id.
    base: String,
    /// The other arguments of the request, which links repeat.
    arguments: Vec<(String, String)>,
}

impl Page {
    pub(super) fn of(arguments: &[(String, String)], base: String) -> Self {
        let number = |name: &str| {
            let (_, value) = arguments.iter().find(|(key, _)| key == name)?;
            value.parse::<usize>().ok().filter(|value| *value > 0)
        };
        let arguments = arguments.iter().filter(|(key, _)| key != "page").cloned().collect();
        Self {
            size: number("per_page").unwrap_or(SIZE_DEFAULT).min(SIZE_MAX),
            number: number("page").unwrap_or(1),
            base,
            arguments,
        }
    }

    /// The items of this page.
    pub(super) fn cut<T: Clone>(&self, all: &[T]) -> Vec<T> {
        let from = (self.number - 1).saturating_mul(self.size).min(all.len());
        all.iter().skip(from).take(self.size).cloned().collect()
    }

    /// An answer with the body and the links of a list of this length.
    pub(super) fn reply(&self, body: Value, total: usize) -> Reply {
        match self.links(total) {
            Some(links) => Reply::ok(body).with("link", links),
            None => Reply::ok(body),
        }
    }

    fn links(&self, total: usize) -> Option<String> {
        let last = total.div_ceil(self.size).max(1);
        let link = |rel: &str, page: usize| format!("<{}>; rel=\"{rel}\"", self.url(page));
        let mut links = Vec::new();
        if self.number > 1 {
            links.push(link("prev", (self.number - 1).min(last)));
        }
        if self.number < last {
            links.push(link("next", self.number + 1));
            links.push(link("last", last));
        }
        if self.number > 1 {
            links.push(link("first", 1));
        }
        (!links.is_empty()).then(|| links.join(", "))
    }

    fn url(&self, page: usize) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(&self.arguments).append_pair("page", &page.to_string());
        format!("{}?{}", self.base, query.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(query: &[(&str, &str)]) -> Page {
        let query: Vec<_> = query.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Page::of(&query, "http://h/x".into())
    }

    #[test]
    fn links_lead_on_and_back_and_end() {
        let first = page(&[("state", "open"), ("per_page", "2")]);
        let expected = "<http://h/x?state=open&per_page=2&page=2>; rel=\"next\", \
                        <http://h/x?state=open&per_page=2&page=3>; rel=\"last\"";
        assert_eq!(first.links(5).unwrap(), expected);
        let last = page(&[("per_page", "2"), ("page", "3")]).links(5).unwrap();
        assert!(last.contains("page=2>; rel=\"prev\"") && last.ends_with("page=1>; rel=\"first\""));
        assert!(!last.contains("next"));
        assert_eq!(page(&[]).links(30), None);
    }

    #[test]
    fn sizes_stay_within_the_limit_and_pages_beyond_the_end_are_empty() {
        let all: Vec<usize> = (0..250).collect();
        assert_eq!(page(&[("per_page", "1000")]).cut(&all).len(), 100);
        assert_eq!(page(&[("per_page", "0"), ("page", "-1")]).cut(&all).len(), 30);
        assert_eq!(page(&[("per_page", "100"), ("page", "3")]).cut(&all).len(), 50);
        assert!(page(&[("page", "99")]).cut(&all).is_empty());
    }
}
