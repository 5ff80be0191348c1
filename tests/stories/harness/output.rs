//! What a command line left behind.

use serde_json::Value;

/// Exit status and both streams of one command.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    pub(crate) line: String,
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    /// The command must have ended well.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{self}");
        self
    }

    /// The one JSON document on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    /// One JSON object a line.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self}"));
        self.stdout.lines().map(read).collect()
    }

    /// The id of the object that a mutation gives.
    #[track_caller]
    pub(crate) fn id(&self) -> String {
        self.json()["object"]["id"].as_str().unwrap_or_else(|| panic!("no object: {self}")).to_owned()
    }

    /// The command must have failed with this code and exit status, told in JSON on stdout and a sentence on stderr.
    #[track_caller]
    pub(crate) fn fails(&self, code: &str, exit: i32) -> Value {
        assert_eq!(self.code, exit, "{self}");
        let error = self.json()["error"].clone();
        assert_eq!(error["code"], code, "{self}");
        assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{self}");
        assert!(!self.stderr.trim().is_empty(), "{self}");
        error
    }
}

impl std::fmt::Display for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Output { line, code, stdout, stderr } = self;
        write!(f, "`loom {line}` ended with {code}\nstdout: {stdout}\nstderr: {stderr}")
    }
}
