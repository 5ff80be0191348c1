//! A secret value in memory.

use std::fmt;

use zeroize::Zeroizing;

/// Shorter values are refused: masking them would mask ordinary words.
pub const SECRET_BYTES_MIN: usize = 8;

/// A secret text. It is wiped when dropped, and has no Display and no serialisation.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes over a value.
    pub fn new(value: impl Into<String>) -> Self {
        Secret(Zeroizing::new(value.into()))
    }

    /// Shows the value to the one place that uses it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_11_debug_never_shows_the_value() {
        let secret = Secret::new("correct-horse-battery");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "[secret] Some([secret])");
        assert_eq!(secret.expose(), "correct-horse-battery");
    }
}
