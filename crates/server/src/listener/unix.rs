//! The unix socket: where it lies, who may see it, and who is at its other end.

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use loom_domain::{Code, Error};
use sha2::{Digest as _, Sha256};
use tokio::net::{UnixListener, UnixStream};

use crate::peer::{descends_from_runtime, parent_of};
use crate::{IsRuntimeChild, Peer};

/// Longest path the kernel takes everywhere, with room for its end.
const PATH_BYTES_MAX: usize = 100;
const NAME_HEX: usize = 16;

/// Path of the socket of a data directory: `run/loom.sock` in it, or a short one in the runtime directory.
pub fn socket_path(home: &Path, runtime_dir: Option<&Path>) -> Result<PathBuf, Error> {
    let usual = home.join("run").join("loom.sock");
    if usual.as_os_str().len() <= PATH_BYTES_MAX {
        return Ok(usual);
    }
    let digest = hex::encode(Sha256::digest(home.as_os_str().as_encoded_bytes()));
    let name = format!("{}.sock", digest.get(..NAME_HEX).unwrap_or(&digest));
    runtime_dir
        .map(|dir| dir.join("loom").join(name))
        .filter(|path| path.as_os_str().len() <= PATH_BYTES_MAX)
        .ok_or_else(|| {
            Error::new(Code::InvalidArgument, "the data directory's path is too long for a unix socket")
                .with_hint("Set XDG_RUNTIME_DIR, or choose a LOOM_HOME with a shorter path.")
        })
}

/// A bound socket; its file goes with it.
pub(super) struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    /// Binds in a directory of mode 0700. A file that no hub answers on is replaced; a live one is `locked`.
    pub(super) fn bind(path: &Path) -> Result<Self, Error> {
        let failed = |error: io::Error| {
            Error::invalid("socket", format!("{} cannot be bound: {error}", path.display()))
        };
        private_dir(path.parent().unwrap_or(Path::new("."))).map_err(failed)?;
        remove_stale(path, failed)?;
        let listener = UnixListener::bind(path).map_err(failed)?;
        std::fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(failed)?;
        Ok(Socket { listener, path: path.to_owned() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) async fn accept(&self) -> io::Result<UnixStream> {
        Ok(self.listener.accept().await?.0)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // A file that is gone already is what is wanted.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn private_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let found = std::fs::symlink_metadata(dir)?;
    if !found.is_dir() || found.uid() != nix::unistd::geteuid().as_raw() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "its directory is not the hub's own"));
    }
    std::fs::set_permissions(dir, Permissions::from_mode(0o700))
}

fn remove_stale(path: &Path, failed: impl Fn(io::Error) -> Error) -> Result<(), Error> {
    let found = match std::fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    if !found.file_type().is_socket() {
        return Err(failed(io::Error::new(io::ErrorKind::AlreadyExists, "the path is not a socket")));
    }
    if std::os::unix::net::UnixStream::connect(path).is_ok() {
        return Err(Error::new(Code::Locked, format!("another hub listens on {}", path.display())));
    }
    std::fs::remove_file(path).map_err(failed)
}

/// Who connected, from the kernel. Another uid gives `None`.
pub(super) fn peer_of(stream: &UnixStream, is_runtime_child: &IsRuntimeChild) -> Option<Peer> {
    let credentials = stream.peer_cred().ok()?;
    let uid = credentials.uid();
    if uid != nix::unistd::geteuid().as_raw() {
        tracing::warn!(peer.uid = uid, "a process of another user was refused on the socket");
        return None;
    }
    let pid = credentials.pid().and_then(|pid| u32::try_from(pid).ok());
    let runtime_child = match pid {
        Some(pid) if cfg!(target_os = "linux") => descends_from_runtime(pid, &**is_runtime_child, &parent_of),
        Some(pid) => is_runtime_child(pid),
        None => true,
    };
    Some(Peer::Socket { uid, runtime_child })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_homes_get_a_short_socket() {
        let short = Path::new("/home/ann/.local/share/loom");
        assert_eq!(socket_path(short, None).unwrap(), short.join("run/loom.sock"));
        let long = PathBuf::from(format!("/{}", "x".repeat(120)));
        assert!(socket_path(&long, None).is_err());
        let path = socket_path(&long, Some(Path::new("/run/user/1000"))).unwrap();
        assert!(path.starts_with("/run/user/1000/loom") && path.as_os_str().len() <= PATH_BYTES_MAX);
    }

    #[tokio::test]
    async fn the_socket_is_private_and_stale_files_are_replaced() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("run/loom.sock");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let socket = Socket::bind(&path).unwrap();
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(Socket::bind(&path).err().unwrap().code, Code::Locked);
        drop(socket);
        assert!(!path.exists());
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        drop(Socket::bind(&path).unwrap());
        std::fs::write(&path, "not a socket").unwrap();
        assert!(Socket::bind(&path).is_err());
    }
}
