//! Closed sets with stable codes: the same word in JSON, in the database, in a metric label and on the command line.

/// Declares an enum whose variants have a stable code each, with `ALL`, `code`, `from_code`, `Display`, serde and JSON
/// Schema that all speak that code. Renaming a code is a migration, never a refactoring. The crate that calls it has `serde`
/// and `schemars` among its dependencies.
#[macro_export]
macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $code:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $code)] $variant),+ }

        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The stable code: JSON, database, labels.
            pub const fn code(self) -> &'static str {
                match self { $($name::$variant => $code),+ }
            }

            /// The variant of a code; `None` for a code that this version does not know.
            pub fn from_code(code: &str) -> Option<Self> {
                match code { $($code => Some($name::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str(self.code()) }
        }
    };
}

pub use codes;
