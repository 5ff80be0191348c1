//! A private PostgreSQL cluster on a free loopback port, stopped when dropped.

use std::fs::Permissions;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::unistd::{User, chown, geteuid};

/// Longest start of a cluster.
const START_LIMIT: Duration = Duration::from_secs(60);

/// A running cluster.
pub(crate) struct Postgres {
    folder: tempfile::TempDir,
    server: std::process::Child,
    port: u16,
}

/// The folder of the server's programs: on `PATH`, or where the system packages put the newest version.
fn programs() -> PathBuf {
    let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|versions| versions.flatten().map(|version| version.path().join("bin")).collect())
        .unwrap_or_default();
    found.retain(|folder| folder.join("initdb").exists());
    found.sort_by_key(|folder| {
        folder.parent().and_then(Path::file_name).and_then(|name| name.to_str()?.parse::<u32>().ok())
    });
    let on_path = std::env::var_os("PATH")
        .into_iter()
        .flat_map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    found
        .pop()
        .or_else(|| on_path.into_iter().find(|folder| folder.join("initdb").exists()))
        .expect("no PostgreSQL server found; run scripts/test, which installs the package postgresql")
}

/// The server refuses to run as root; then it runs as the user its package made.
fn as_server_user(command: &mut Command) -> Option<User> {
    let user =
        geteuid().is_root().then(|| User::from_name("postgres").unwrap().expect("the user postgres"))?;
    command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
    Some(user)
}

impl Postgres {
    /// Makes and starts a cluster.
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        std::fs::set_permissions(&data, Permissions::from_mode(0o700)).unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let mut init = Command::new(programs().join("initdb"));
        init.args(["--auth=trust", "--username=loom", "--encoding=UTF8", "--no-locale", "-D"]).arg(&data);
        init.current_dir(folder.path());
        if let Some(user) = as_server_user(&mut init) {
            chown(&data, Some(user.uid), Some(user.gid)).unwrap();
        }
        let made = init.output().unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut server = Command::new(programs().join("postgres"));
        server.arg("-D").arg(&data).args(["-h", "127.0.0.1", "-k", "", "-p", &port.to_string()]);
        server.current_dir(&data).stdin(Stdio::null()).stdout(Stdio::null());
        server.stderr(std::fs::File::create(folder.path().join("server.log")).unwrap());
        as_server_user(&mut server);
        let mut cluster = Postgres { server: server.spawn().unwrap(), folder, port };
        cluster.wait();
        cluster
    }

    fn wait(&mut self) {
        let deadline = Instant::now() + START_LIMIT;
        while !self.answers() {
            let log = || std::fs::read_to_string(self.folder.path().join("server.log")).unwrap_or_default();
            assert!(self.server.try_wait().unwrap().is_none(), "the server ended: {}", log());
            assert!(Instant::now() < deadline, "the server never answered: {}", log());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// The connection string of the hub.
    pub(crate) fn url(&self) -> String {
        format!("postgres://loom@127.0.0.1:{}/postgres", self.port)
    }

    /// Whether a client gets in. The blocking client brings its own runtime, so it lives on a thread of its own.
    fn answers(&self) -> bool {
        let connects = || postgres::Client::connect(&self.url(), postgres::NoTls).is_ok();
        std::thread::scope(|scope| scope.spawn(connects).join().unwrap())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // A fast shutdown; the cluster's files go with their folder.
        if let Ok(pid) = i32::try_from(self.server.id()) {
            let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGINT);
        }
        let _ = self.server.wait();
    }
}
