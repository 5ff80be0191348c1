//! The environment of a child: empty plus an allow-list (platform specification, RT-7).

use std::collections::BTreeMap;
use std::path::Path;

use crate::HostCtx;

/// Builds the environment of a child whose home is the instance's private directory. `own` are the adapter's
/// own variables; nothing of Loom's environment is passed on.
pub(crate) fn environment(host: &HostCtx, own: &[(&str, &Path)]) -> BTreeMap<String, String> {
    let mut all = host.env.clone();
    let mut set = |name: &str, value: String| {
        all.insert(name.to_owned(), value);
    };
    set("PATH", host.path.clone());
    set("HOME", path_text(&host.private_dir));
    set("TMPDIR", path_text(&host.private_dir.join("tmp")));
    set("TERM", "dumb".to_owned());
    for (name, value) in own {
        set(name, path_text(value));
    }
    for (name, value) in [("LANG", "C.UTF-8"), ("LC_ALL", "C.UTF-8")] {
        all.entry(name.to_owned()).or_insert_with(|| value.to_owned());
    }
    all
}

fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rt_7_the_environment_is_the_allow_list_and_configuration_cannot_move_home() {
        let mut host = HostCtx::new("/private".into(), "/bin");
        host.env.insert("HOME".into(), "/root".into());
        host.env.insert("MY_KEY".into(), "v".into());
        let all = environment(&host, &[("CODEX_HOME", Path::new("/private/codex"))]);
        let names: Vec<&str> = all.keys().map(String::as_str).collect();
        assert_eq!(names, ["CODEX_HOME", "HOME", "LANG", "LC_ALL", "MY_KEY", "PATH", "TERM", "TMPDIR"]);
        assert_eq!(all["HOME"], "/private");
        assert!(!format!("{host:?}").contains("\"v\""));
    }
}
