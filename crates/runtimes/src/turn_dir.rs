//! The directory of one Turn: attachments in, files out, and marks that outlive the process.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, open, openat};

use crate::process::make_private_dir;
use crate::{ArtifactRef, ErrClass, HostCtx, Input, OutFile, RuntimeError, TurnKey};

/// Longest kept part of an attachment's name in bytes.
const NAME_BYTES_MAX: usize = 100;

/// The directory of a Turn below the instance's private directory.
#[derive(Debug, Clone)]
pub(crate) struct TurnDir(PathBuf);

/// An attachment that was copied in.
#[derive(Debug, Clone)]
pub(crate) struct Staged {
    /// Name below `in`.
    pub(crate) name: String,
    /// The copy.
    pub(crate) path: PathBuf,
    /// Where it came from.
    pub(crate) artifact: ArtifactRef,
    /// Whether it is a picture.
    pub(crate) image: bool,
}

impl TurnDir {
    /// Names the directory; nothing is created.
    pub(crate) fn of(host: &HostCtx, key: &TurnKey) -> Self {
        TurnDir(host.private_dir.join("turns").join(key.0.as_str()))
    }

    /// The directory itself.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The child record.
    pub(crate) fn child(&self) -> PathBuf {
        self.0.join("child.json")
    }

    /// Whether the runtime took the Turn.
    pub(crate) fn is_accepted(&self) -> bool {
        self.0.join("accepted").exists()
    }

    /// Marks that the runtime took the Turn.
    pub(crate) fn mark_accepted(&self) -> io::Result<()> {
        make_private_dir(&self.0)?;
        fs::File::create(self.0.join("accepted"))?.sync_all()?;
        fs::File::open(&self.0)?.sync_all()
    }

    /// Creates the directory and copies attachments in, readable only.
    pub(crate) fn stage(&self, input: &[Input]) -> io::Result<Vec<Staged>> {
        let folder = self.0.join("in");
        make_private_dir(&folder)?;
        make_private_dir(&self.0.join("out"))?;
        let mut staged = Vec::new();
        for (artifact, image) in input.iter().filter_map(attachment) {
            let name = attachment_name(staged.len(), artifact);
            let path = folder.join(&name);
            copy_in(&artifact.path, &path)?;
            staged.push(Staged { name, path, artifact: artifact.clone(), image });
        }
        Ok(staged)
    }

    /// Opens the files that a Turn hands out: relative, plain, below `out`, within the limits.
    pub(crate) fn collect(&self, names: &[String], host: &HostCtx) -> Result<Vec<OutFile>, RuntimeError> {
        let refuse = |why: String| RuntimeError::new(ErrClass::Protocol, why);
        if names.len() > host.limits.out_files_max {
            return Err(refuse(format!("more than {} files were handed out", host.limits.out_files_max)));
        }
        let bytes_max = host.limits.out_file_bytes_max;
        let mut files = Vec::new();
        for name in names {
            let file = self.plain_file(&host.private_dir, name).ok_or_else(|| {
                refuse("a file outside of the out directory, or not a plain file, was handed out".into())
            })?;
            let file = OutFile::new(file, shown(name), bytes_max)
                .map_err(|cause| refuse(format!("a file was handed out and {cause}")))?;
            files.push(file);
        }
        Ok(files)
    }

    /// The open file of that name below `out`, when it is a regular one with one link.
    fn plain_file(&self, root: &Path, name: &str) -> Option<File> {
        let asked = Path::new(name);
        if name.is_empty() || !asked.components().all(|part| matches!(part, Component::Normal(_))) {
            return None;
        }
        let below = self.0.strip_prefix(root).ok()?.join("out").join(asked);
        let file = open_beneath(root, &below).ok()?;
        let meta = file.metadata().ok()?;
        (meta.is_file() && meta.nlink() == 1).then_some(file)
    }
}

/// Name under which the n-th attachment (from 0) of a Turn is found below `LOOM_TURN_DIR/in`.
pub fn attachment_name(index: usize, artifact: &ArtifactRef) -> String {
    let base = artifact.name.rsplit(['/', '\\']).next().unwrap_or_default();
    let safe = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' };
    let mut name: String = base.chars().map(safe).collect();
    while name.len() > NAME_BYTES_MAX {
        name.remove(0);
    }
    format!("{}-{name}", index + 1)
}

/// Where the n-th attachment (from 0) of a Turn is found once the Turn has started.
pub fn attachment_path(host: &HostCtx, key: &TurnKey, index: usize, artifact: &ArtifactRef) -> PathBuf {
    TurnDir::of(host, key).0.join("in").join(attachment_name(index, artifact))
}

fn attachment(input: &Input) -> Option<(&ArtifactRef, bool)> {
    match input {
        Input::Text(_) => None,
        Input::Image(artifact) => Some((artifact, true)),
        Input::File(artifact) => Some((artifact, false)),
    }
}

fn copy_in(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = fs::File::open(from)?;
    if to.exists() {
        fs::remove_file(to)?;
    }
    let mut target = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    io::copy(&mut source, &mut target)?;
    fs::set_permissions(to, fs::Permissions::from_mode(0o400))
}

/// Opens a file below a folder. No component is followed when it is a link, and a pipe does not make it wait.
fn open_beneath(root: &Path, below: &Path) -> io::Result<File> {
    let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = open(root, folder, Mode::empty())?;
    for part in below.parent().into_iter().flat_map(Path::components) {
        at = openat(&at, part.as_os_str(), folder | OFlags::NOFOLLOW, Mode::empty())?;
    }
    let plain = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(openat(&at, below.file_name().unwrap_or_default(), plain, Mode::empty())?.into())
}

fn shown(name: &str) -> String {
    Path::new(name).file_name().unwrap_or_default().to_string_lossy().into_owned()
}
