//! What is read from and written to a repository: files of a revision, commits through a private index.

use std::fs::File;
use std::path::{Path, PathBuf};

use loom_domain::{Code, Error, Result};

use crate::files::{FILE_BYTES_MAX, Files};
use crate::git::{Git, failed};

const NO_OBJECT: &str = "0000000000000000000000000000000000000000";
const FILE_MODE: &str = "100644";

/// A repository and the directory in it.
#[derive(Debug, Clone)]
pub struct Repo {
    git: Git,
    dir: String,
}

/// Held while a repository is changed; released when dropped.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "dropping it ends the lock")] File);

impl Repo {
    /// Names the directory of a repository.
    pub fn new(git: Git, dir: &str) -> Self {
        Repo { git, dir: dir.to_owned() }
    }

    /// The same repository, whose remotes are reached with the key in this file alone.
    pub fn with_key(&self, file: &Path) -> Self {
        Repo { git: self.git.clone().ssh_key(file), dir: self.dir.clone() }
    }

    /// Refuses what is no repository.
    pub async fn check(&self) -> Result<()> {
        let known = self.git.text(&["rev-parse", "--git-dir"]).await.map(drop);
        known.map_err(|error| error.with_hint("Run it in a git repository, or name one with --repo DIR."))
    }

    /// Takes the lock of the repository.
    pub async fn lock(&self) -> Result<Lock> {
        let folder = self.git.text(&["rev-parse", "--path-format=absolute", "--git-common-dir"]).await?;
        let path = PathBuf::from(folder).join("loom-integration.lock");
        let file = File::options().create(true).truncate(false).write(true).open(path);
        let file =
            file.map_err(|cause| failed(format!("the repository cannot be locked: {}", cause.kind())))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(_) => Err(Error::new(Code::Locked, "another command works on this repository")),
        }
    }

    /// The commit of a revision; none when there is no such revision.
    pub async fn commit_of(&self, revision: &str) -> Result<Option<String>> {
        if revision.starts_with('-') || revision.bytes().any(|b| b.is_ascii_control() || b == b' ') {
            return Err(Error::invalid("rev", "expected a revision"));
        }
        let name = format!("{revision}^{{commit}}");
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &name];
        match self.git.holds(&words).await? {
            true => self.git.text(&words).await.map(Some),
            false => Ok(None),
        }
    }

    /// The commit of a branch.
    pub async fn branch(&self, branch: &str) -> Result<Option<String>> {
        self.commit_of(&format!("refs/heads/{branch}")).await
    }

    /// Gets what a remote has of a branch; nothing local moves.
    pub async fn fetch(&self, remote: &str, branch: &str) -> Result<()> {
        self.git
            .text(&["fetch", "--no-tags", "--no-recurse-submodules", "--", remote, branch])
            .await
            .map(drop)
    }

    /// Whether somebody works on a branch in a working tree.
    pub async fn is_checked_out(&self, branch: &str) -> Result<bool> {
        let told = self.git.text(&["worktree", "list", "--porcelain"]).await?;
        Ok(told.lines().any(|line| line == format!("branch refs/heads/{branch}")))
    }

    /// The files below the directory at a commit. Links, submodules and large files are refused.
    pub async fn files(&self, commit: &str) -> Result<Files> {
        let words = ["ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--", &self.dir];
        let listed = String::from_utf8(self.git.run(&words, Vec::new()).await?)
            .map_err(|_| failed("a path is not UTF-8"))?;
        let mut places = Vec::new();
        for entry in listed.split_terminator('\0') {
            places.push(self.place(entry)?);
        }
        let mut wanted = String::new();
        for (object, _) in &places {
            wanted.push_str(object);
            wanted.push('\n');
        }
        if places.is_empty() {
            return Ok(Files::new());
        }
        let bytes = self.git.run(&["cat-file", "--batch"], wanted.into_bytes()).await?;
        texts(&bytes, places)
    }

    /// Reads `MODE TYPE OBJECT SIZE\tPATH`.
    fn place(&self, entry: &str) -> Result<(String, String)> {
        let strange = || failed("git listed what is not understood");
        let (facts, path) = entry.split_once('\t').ok_or_else(strange)?;
        let facts: Vec<&str> = facts.split_whitespace().collect();
        let [mode, kind, object, size] = facts.as_slice() else { return Err(strange()) };
        let refused = |why: &str| {
            let path: String = path.chars().take(200).collect();
            Error::new(Code::InvalidInput, why).with_detail("file", path)
        };
        if *kind != "blob" || !mode.starts_with("100") {
            return Err(refused("links and submodules are not taken"));
        }
        if size.parse::<u64>().map_err(|_| strange())? > FILE_BYTES_MAX {
            return Err(refused("the file is over 256 KiB"));
        }
        let below =
            path.strip_prefix(&self.dir).and_then(|path| path.strip_prefix('/')).ok_or_else(strange)?;
        Ok(((*object).to_owned(), below.to_owned()))
    }

    /// Makes one commit on a branch: below the directory exactly these files, elsewhere what the parent has.
    /// Nothing changed makes none. The branch moves only if it is still where it was.
    pub async fn commit(
        &self,
        branch: &str,
        parent: Option<&str>,
        files: &Files,
        message: &str,
    ) -> Result<Option<String>> {
        let present = match parent {
            Some(parent) => self.files(parent).await?,
            None => Files::new(),
        };
        let before = self.branch(branch).await?;
        if before.is_some() && before.as_deref() != parent {
            return Err(Error::new(Code::VersionConflict, format!("{branch} moved meanwhile"))
                .with_hint("run it again: it begins with what is there now"));
        }
        if before.is_some() && present == *files {
            return Ok(None);
        }
        let room =
            tempfile::tempdir().map_err(|cause| failed(format!("no private place: {}", cause.kind())))?;
        let git = self.git.clone().variable("GIT_INDEX_FILE", &room.path().join("index"));
        if let Some(parent) = parent {
            git.text(&["read-tree", parent]).await?;
        }
        let objects = self.store(&git, room.path(), files).await?;
        let gone = present.keys().filter(|path| !files.contains_key(*path));
        let mut index = String::new();
        for path in gone {
            index.push_str(&format!("0 {NO_OBJECT}\t{}/{path}\0", self.dir));
        }
        for (path, object) in files.keys().zip(&objects) {
            index.push_str(&format!("{FILE_MODE} {object}\t{}/{path}\0", self.dir));
        }
        git.run(&["update-index", "-z", "--index-info"], index.into_bytes()).await?;
        let tree = git.text(&["write-tree"]).await?;
        let mut words = vec!["commit-tree", &tree, "-F", "-"];
        if let Some(parent) = parent {
            words.extend(["-p", parent]);
        }
        let commit = git.run(&words, message.as_bytes().to_vec()).await?;
        let commit = String::from_utf8_lossy(&commit).trim().to_owned();
        let name = format!("refs/heads/{branch}");
        let old = before.as_deref().unwrap_or(NO_OBJECT);
        self.git.text(&["update-ref", "-m", "loom integration-branch", &name, &commit, old]).await?;
        Ok(Some(commit))
    }

    /// Stores files as objects, through private copies; gives their names in order.
    async fn store(&self, git: &Git, room: &Path, files: &Files) -> Result<Vec<String>> {
        let mut paths = String::new();
        for (n, text) in files.values().enumerate() {
            let path = room.join(n.to_string());
            std::fs::write(&path, text)
                .map_err(|cause| failed(format!("no private place: {}", cause.kind())))?;
            paths.push_str(&format!("{}\n", path.display()));
        }
        let told =
            git.run(&["hash-object", "-w", "--no-filters", "--stdin-paths"], paths.into_bytes()).await?;
        let objects: Vec<String> = String::from_utf8_lossy(&told).lines().map(str::to_owned).collect();
        if objects.len() == files.len() {
            Ok(objects)
        } else {
            Err(failed("git stored fewer files than it was given"))
        }
    }

    /// Sends a branch to a remote; a branch that is there and went another way is never overwritten.
    pub async fn push(&self, remote: &str, branch: &str) -> Result<()> {
        let refs = format!("refs/heads/{branch}:refs/heads/{branch}");
        let words = ["push", "--porcelain", "--no-verify", "--recurse-submodules=no", "--", remote, &refs];
        let output = self.git.output(&words, Vec::new()).await?;
        if output.status.success() {
            return Ok(());
        }
        let told = String::from_utf8_lossy(&output.stdout);
        let refused = told.lines().find_map(|line| line.strip_prefix("!\t")?.rsplit('\t').next());
        Err(match refused {
            Some(why) => failed(format!("the remote refused {branch}: {why}"))
                .with_hint("fetch what the remote has and look why it refuses; nothing is ever forced"),
            None => self
                .git
                .complaint("push", &output.stderr)
                .with_hint("is the remote there, and may it be written to?"),
        })
    }

    /// Takes a branch back that stands at this commit.
    pub async fn take_back(&self, branch: &str, commit: &str) -> Result<()> {
        let name = format!("refs/heads/{branch}");
        self.git.text(&["update-ref", "-d", &name, commit]).await.map(drop)
    }
}

/// Reads the answers of `cat-file --batch`: `OBJECT TYPE SIZE\n`, the bytes, and a line end.
fn texts(mut bytes: &[u8], places: Vec<(String, String)>) -> Result<Files> {
    let strange = || failed("git gave other bytes than it announced");
    let mut files = Files::new();
    for (_, path) in places {
        let end = bytes.iter().position(|b| *b == b'\n').ok_or_else(strange)?;
        let head = std::str::from_utf8(bytes.get(..end).unwrap_or_default()).map_err(|_| strange())?;
        let size: usize = head.rsplit(' ').next().and_then(|size| size.parse().ok()).ok_or_else(strange)?;
        let body = bytes.get(end + 1..end + 1 + size).ok_or_else(strange)?;
        bytes = bytes.get(end + 2 + size..).ok_or_else(strange)?;
        let text = std::str::from_utf8(body).map_err(|_| {
            Error::new(Code::InvalidInput, "the file is not UTF-8").with_detail("file", path.clone())
        })?;
        files.insert(path, text.to_owned());
    }
    Ok(files)
}
