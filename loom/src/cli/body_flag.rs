//! `loom http post … --json FILE`: there `--json` names the body, everywhere else the form of the output.

/// The arguments with `--json FILE` of `http post` written as `--json-file FILE`. A bare `--json` stays: it stands at the
/// end, or before another flag or a URL.
pub(crate) fn rewritten(arguments: &[String]) -> Vec<String> {
    let mut words = arguments.to_vec();
    let Some(at) =
        words.windows(2).position(|pair| matches!(pair, [noun, verb] if noun == "http" && verb == "post"))
    else {
        return words;
    };
    for index in at + 2..words.len() {
        let next = words.get(index + 1).cloned();
        let Some(word) = words.get_mut(index) else { break };
        if word == "--" {
            break;
        }
        if let Some(file) = word.strip_prefix("--json=") {
            *word = format!("--json-file={file}");
        } else if word == "--json"
            && next.is_some_and(|next| next == "-" || !(next.starts_with('-') || next.contains("://")))
        {
            "--json-file".clone_into(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_body_of_http_post_is_rewritten() {
        for (line, meant) in [
            ("loom http post https://h/ --json a.json", "loom http post https://h/ --json-file a.json"),
            ("loom http post --json - https://h/ --json", "loom http post --json-file - https://h/ --json"),
            ("loom http post --json=a https://h/", "loom http post --json-file=a https://h/"),
            ("loom http post --json https://h/ --form a=b", "loom http post --json https://h/ --form a=b"),
            ("loom http post https://h/ --json --form a=b", "loom http post https://h/ --json --form a=b"),
            ("loom --json http post https://h/ --json b", "loom --json http post https://h/ --json-file b"),
            ("loom http get https://h/ --json x", "loom http get https://h/ --json x"),
            ("loom status --json", "loom status --json"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(rewritten(&words).join(" "), meant);
        }
    }
}
