//! A private PostgreSQL cluster on a free loopback port, one for all tests of the process. A watching shell holds
//! the server; it stops the server and removes its folder when the process is gone.

use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use nix::unistd::{User, chown, geteuid};
use postgres::NoTls;

const START_LIMIT: Duration = Duration::from_secs(90);
const WATCH: &str = r#"folder=$1; shift; "$@" & server=$!; cat >/dev/null; kill -INT $server; wait $server; cd /; rm -rf "$folder""#;

struct Cluster {
    port: u16,
    /// Its standard input is the handle by which the server is held.
    _watch: Child,
    made: Mutex<u32>,
}

fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    found.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
    found
        .into_iter()
        .find(|folder| folder.join("initdb").exists())
        .expect("no PostgreSQL server found; run scripts/test, which names what is missing")
}

/// The server refuses to run as root; then it runs as the user that its package made.
fn as_server_user(command: &mut Command) -> Option<User> {
    let user =
        geteuid().is_root().then(|| User::from_name("postgres").unwrap().expect("the user postgres"))?;
    command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
    Some(user)
}

fn start() -> Cluster {
    let folder = tempfile::Builder::new().prefix("loom-store-pg").tempdir().unwrap().keep();
    let data = folder.join("data");
    let mut init = Command::new(programs().join("initdb"));
    init.args(["--auth=trust", "--username=loom", "--encoding=UTF8", "--no-locale", "--no-sync", "-D"])
        .arg(&data);
    init.current_dir(&folder);
    if let Some(user) = as_server_user(&mut init) {
        chown(&folder, Some(user.uid), Some(user.gid)).unwrap();
    }
    let made = init.output().unwrap();
    assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let cluster = Cluster { port, _watch: serve(&folder, &data, port), made: Mutex::new(0) };
    let deadline = Instant::now() + START_LIMIT;
    while cluster.admin().is_err() {
        assert!(Instant::now() < deadline, "the server does not answer; see {}", folder.display());
        std::thread::park_timeout(Duration::from_millis(50));
    }
    cluster
}

fn serve(folder: &Path, data: &Path, port: u16) -> Child {
    let mut watch = Command::new("sh");
    watch.args(["-c", WATCH, "watch"]).arg(folder).arg(programs().join("postgres")).arg("-D").arg(data);
    watch.args(["-h", "127.0.0.1", "-k", "", "-p", &port.to_string()]);
    watch.args(["-c", "fsync=off", "-c", "max_connections=300"]);
    let log = std::fs::File::create(folder.join("server.log")).unwrap();
    watch.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
    as_server_user(&mut watch);
    watch.spawn().unwrap()
}

impl Cluster {
    fn url(&self, database: &str) -> String {
        format!("host=127.0.0.1 port={} user=loom dbname={database} sslmode=disable", self.port)
    }

    fn admin(&self) -> Result<postgres::Client, postgres::Error> {
        postgres::Client::connect(&self.url("postgres"), NoTls)
    }
}

/// URL of a new, empty database.
pub(super) fn new_database() -> String {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    let cluster = CLUSTER.get_or_init(start);
    let mut made = cluster.made.lock().unwrap();
    *made += 1;
    let name = format!("t{made}");
    cluster.admin().unwrap().batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
    cluster.url(&name)
}
