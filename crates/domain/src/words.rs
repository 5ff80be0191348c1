//! Closed word lists: enums whose serde form, `Display` and `FromStr` are the same words everywhere.

/// Declares an enum of stable `snake_case` words with `as_str`, `ALL`, `Display`, `FromStr` and serde.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        $vis enum $name { $($(#[$vmeta])* #[serde(rename = $text)] $variant,)* }

        impl $name {
            /// Every word, in the order of the list.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];
            /// The stable word.
            pub const fn as_str(self) -> &'static str { match self { $($name::$variant => $text,)* } }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.pad(self.as_str()) }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::Error;
            fn from_str(text: &str) -> Result<Self, $crate::Error> {
                match text {
                    $($text => Ok($name::$variant),)*
                    _ => Err($crate::Error::new(
                        $crate::Code::InvalidArgument,
                        format!("unknown word; expected one of {}", [$($text,)*].join(", ")),
                    )),
                }
            }
        }
    };
}
