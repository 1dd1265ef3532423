//! Enums whose values authors write by name.

/// An enum whose values authors write by name; [`choices!`](crate::choices) declares one.
pub trait Choice: Copy + 'static {
    const NAMED: &'static [(&'static str, Self)];
    const NAMES: &'static [&'static str];
}

/// The names of a table of names and values.
pub const fn names<T, const N: usize>(named: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut ix = 0;
    while ix < N {
        names[ix] = named[ix].0;
        ix += 1;
    }
    names
}

/// Declares an enum together with the names that authors write for its values.
///
/// ```
/// jurat_format::choices! {
///     #[derive(Debug, Clone, Copy, PartialEq)]
///     pub enum Switch {
///         On = "on",
///         Off = "off",
///     }
/// }
/// assert_eq!(Switch::NAMED.map(|(name, _)| name), ["on", "off"]);
/// assert_eq!(Switch::On.name(), "on");
/// assert_eq!(Switch::named("off"), Some(Switch::Off));
/// ```
#[macro_export]
macro_rules! choices {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        $vis enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            pub const NAMED: [(&'static str, $name); [$($text),+].len()] = [$(($text, $name::$variant)),+];

            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }

            pub fn named(name: &str) -> Option<$name> {
                $name::NAMED.iter().find(|(it, _)| *it == name).map(|(_, it)| *it)
            }
        }

        impl $crate::choice::Choice for $name {
            const NAMED: &'static [(&'static str, Self)] = &$name::NAMED;
            const NAMES: &'static [&'static str] = &$crate::choice::names(&$name::NAMED);
        }
    };
}
