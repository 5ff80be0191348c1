//! The vault of a home and the resolver of its references, for the hub and for commands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loom_domain::{Code, Error, Result};
use loom_secrets::private_file::read_private;
use loom_secrets::{Kind, Redactor, Resolver, Secret, Vault, VaultKeys};

/// Names the private file with the vault's passphrase.
const PASSPHRASE_FILE: &str = "LOOM_VAULT_PASSPHRASE_FILE";

/// Environment variables.
type Variables = BTreeMap<String, String>;

/// The vault, with the keys that the environment names.
pub(crate) fn vault(home: &Path, variables: &Variables) -> Result<Vault> {
    let set = |name: &str| variables.get(name).filter(|value| !value.is_empty());
    let keys = VaultKeys {
        credentials_directory: set("CREDENTIALS_DIRECTORY").map(PathBuf::from),
        passphrase: set(PASSPHRASE_FILE).map(|path| passphrase(Path::new(path))).transpose()?,
    };
    Ok(Vault::new(home, keys))
}

/// Resolves references of every form.
pub(crate) fn resolver(home: &Path, variables: &Variables, redactor: Redactor) -> Result<Resolver> {
    let vault = vault(home, variables)?;
    let environment = variables.clone();
    Ok(Resolver::new(redactor, Arc::new(move |name| environment.get(name).cloned())).with_vault(vault))
}

/// What a provider's credential holds.
pub(crate) fn kind(provider: &str) -> Option<Kind> {
    Some(match provider {
        "slack" => Kind::Slack,
        "feishu" | "lark" => Kind::Feishu,
        "parall" => Kind::Parall,
        "github" => Kind::Github,
        "webhook" => Kind::Webhook,
        "git" => Kind::DeployKey,
        "plain" => Kind::Plain,
        _ => return None,
    })
}

/// Reads a secret from a private file; one line end at its end is dropped.
pub(crate) fn read_secret(path: &Path) -> Result<Secret> {
    let bytes = read_private(path)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| {
        Error::new(Code::CredentialFileRefused, format!("{}: not UTF-8 text", path.display()))
            .with_detail("rule", "utf8")
    })?;
    Ok(Secret::new(without_line_end(text)))
}

/// The text without one line end at its end.
pub(crate) fn without_line_end(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

fn passphrase(path: &Path) -> Result<Secret> {
    match read_secret(path) {
        Ok(secret) if secret.is_empty() => {
            Err(Error::new(Code::CredentialFileRefused, format!("{PASSPHRASE_FILE} names an empty file")))
        }
        Ok(secret) => Ok(secret),
        Err(error) => Err(error.with_hint(format!("{PASSPHRASE_FILE} names the file"))),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use loom_secrets::KeySource;

    use super::*;

    /// ID-14: the passphrase comes from a private file; another one does not open the vault.
    #[test]
    fn id_14_the_passphrase_comes_from_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("passphrase");
        std::fs::write(&file, "correct horse\n").unwrap();
        let variables =
            |path: &Path| Variables::from([(PASSPHRASE_FILE.to_owned(), path.display().to_string())]);
        let mode = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o644);
        let error = vault(dir.path(), &variables(&file)).unwrap_err();
        assert_eq!(error.code, Code::CredentialFileRefused);
        mode(0o600);
        let opened = vault(dir.path(), &variables(&file)).unwrap();
        opened.set("a", &Secret::new("the-value")).unwrap();
        assert_eq!(opened.key_source().unwrap(), Some(KeySource::Passphrase));
        let again = vault(dir.path(), &variables(&file)).unwrap();
        assert_eq!(again.get("a").unwrap().unwrap().expose(), "the-value");
        std::fs::write(&file, "wrong").unwrap();
        assert!(vault(dir.path(), &variables(&file)).unwrap().get("a").is_err());
        assert!(vault(dir.path(), &Variables::new()).unwrap().get("a").is_err());
    }
}
