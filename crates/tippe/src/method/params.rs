//! Parameters of methods, declared once: name, unit, default, range and reason as public data.
//!
//! Reads: nothing.  Writes: nothing.
//! Called by: the methods (declare), `snapshot` (stores), scene files, their schema and the documents (derive what they need).
//! Source: own. A method writes one table with [`params!`](crate::params); nothing else lists its parameters.

use crate::error::BuildError;
use std::fmt;

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamValue {
    /// A number.
    Number(f64),
    /// A whole number.
    Whole(u64),
    /// On or off.
    Switch(bool),
    /// One of the words of its kind.
    Word(&'static str),
    /// A parameter that may be left out, left out.
    None,
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// A number.
    Number,
    /// A whole number up to this one.
    Whole(u64),
    /// On or off.
    Switch,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// Where a parameter makes sense. Every number must be finite besides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamRange {
    /// Everywhere.
    Any,
    /// Above zero.
    Positive,
    /// Zero and above.
    NotNegative,
    /// This value and above.
    AtLeast(f64),
    /// From the first value to the second.
    Between(f64, f64),
}

/// One parameter of a method.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Name of the field, in the library and in scene files.
    pub name: &'static str,
    /// SI unit; "1" for a number without one, "" for switches and words.
    pub unit: &'static str,
    /// What it may be.
    pub kind: ParamKind,
    /// Whether it may be none.
    pub optional: bool,
    /// Where it makes sense.
    pub range: ParamRange,
    /// What it is, in a sentence.
    pub what: &'static str,
    /// Why the default is what it is, or what another value would do.
    pub reason: &'static str,
    #[doc(hidden)]
    pub default: fn() -> ParamValue,
}

/// A name that scene files of the last version may still use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Former {
    /// The old name.
    pub name: &'static str,
    /// The parameter that took its place with the same meaning; `None` if it does nothing any more.
    pub successor: Option<&'static str>,
    /// Why it went away; empty for one that was renamed.
    pub reason: &'static str,
}

/// All parameters of one method.
#[derive(Clone, Copy, Debug)]
pub struct ParamTable {
    /// Name of the method.
    pub method: &'static str,
    /// The parameters, in the order in which snapshots and documents have them.
    pub params: &'static [Param],
    /// Names that are still read, with a warning.
    pub former: &'static [Former],
}

impl ParamTable {
    /// The index of a parameter by its name.
    #[must_use]
    pub fn index(&self, name: &str) -> Option<usize> {
        self.params.iter().position(|p| p.name == name)
    }

    /// Names and kinds in their order as one number: it differs if a snapshot's values would be read wrongly.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut h: u64 = 0xcbf2_9ce4_8422_2325;
        for p in self.params {
            for byte in format!("{} {:?} {};", p.name, p.kind, p.optional).bytes() {
                h = (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
        h
    }
}

impl Param {
    /// The value a method has if nobody says otherwise.
    #[must_use]
    pub fn default_value(&self) -> ParamValue {
        (self.default)()
    }

    /// Whether a value makes sense here.
    ///
    /// # Errors
    /// Why not, without the name: "must be at least 1".
    pub fn check(&self, value: ParamValue) -> Result<(), String> {
        let number = match (self.kind, value) {
            (_, ParamValue::None) if self.optional => return Ok(()),
            (ParamKind::Switch, ParamValue::Switch(_)) => return Ok(()),
            (ParamKind::Word(words), ParamValue::Word(word)) if words.contains(&word) => {
                return Ok(());
            }
            (ParamKind::Number, ParamValue::Number(x)) => x,
            (ParamKind::Whole(max), ParamValue::Whole(n)) if n <= max => n as f64,
            (kind, _) => return Err(format!("must be {kind}")),
        };
        if self.range.holds(number) {
            Ok(())
        } else {
            Err(format!("must be {}", self.range))
        }
    }

    /// Its unit in brackets after a space; nothing where there is none.
    #[must_use]
    pub fn unit_in_brackets(&self) -> String {
        match self.unit {
            "" | "1" => String::new(),
            unit => format!(" [{unit}]"),
        }
    }
}

impl ParamRange {
    fn holds(self, x: f64) -> bool {
        x.is_finite()
            && match self {
                Self::Any => true,
                Self::Positive => x > 0.0,
                Self::NotNegative => x >= 0.0,
                Self::AtLeast(least) => x >= least,
                Self::Between(least, most) => (least..=most).contains(&x),
            }
    }
}

impl fmt::Display for ParamRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("finite"),
            Self::Positive => f.write_str("finite and above 0"),
            Self::NotNegative => f.write_str("finite and not negative"),
            Self::AtLeast(least) => write!(f, "at least {least}"),
            Self::Between(least, most) => write!(f, "between {least} and {most}"),
        }
    }
}

impl fmt::Display for ParamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number => f.write_str("a number"),
            Self::Whole(max) => write!(f, "a whole number up to {max}"),
            Self::Switch => f.write_str("true or false"),
            Self::Word(words) => write!(f, "one of {}", words.join(", ")),
        }
    }
}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(x) if *x != 0.0 && !(1e-3..1e5).contains(&x.abs()) => write!(f, "{x:e}"),
            Self::Number(x) => write!(f, "{x}"),
            Self::Whole(n) => write!(f, "{n}"),
            Self::Switch(on) => write!(f, "{on}"),
            Self::Word(word) => f.write_str(word),
            Self::None => f.write_str("none"),
        }
    }
}

/// The parameters of a method, read and written by their place in the table.
pub trait Params {
    /// What there is.
    fn table(&self) -> &'static ParamTable;

    /// The value of a parameter.
    fn value(&self, index: usize) -> ParamValue;

    /// Sets a parameter to a value of its kind, whether or not it makes sense; `false` if it is of another kind.
    fn set_value(&mut self, index: usize, value: ParamValue) -> bool;

    /// Sets a parameter by its name.
    ///
    /// # Errors
    /// If there is no such parameter, or the value makes no sense.
    fn set(&mut self, name: &str, value: ParamValue) -> Result<(), BuildError> {
        let table = self.table();
        let Some(index) = table.index(name) else {
            let known: Vec<&str> = table.params.iter().map(|p| p.name).collect();
            let reason = format!(
                "`{}` has no such parameter; it has {}",
                table.method,
                known.join(", ")
            );
            return Err(BuildError::new(name, reason));
        };
        let checked = table.params[index].check(value);
        checked.map_err(|reason| BuildError::new(name, reason))?;
        self.set_value(index, value);
        Ok(())
    }

    /// Checks every parameter against its range.
    ///
    /// # Errors
    /// The first one that makes no sense, and why.
    fn check(&self) -> Result<(), BuildError> {
        for (i, param) in self.table().params.iter().enumerate() {
            let checked = param.check(self.value(i));
            checked.map_err(|reason| BuildError::new(param.name, reason))?;
        }
        Ok(())
    }
}

/// A type that parameters can have.
pub trait ParamType: Sized {
    /// What its values may be.
    const KIND: ParamKind;
    /// Whether it has a value "none".
    const OPTIONAL: bool = false;

    /// As a value of the table.
    fn into_value(self) -> ParamValue;

    /// Back from it; `None` if it is of another kind.
    fn from_value(value: ParamValue) -> Option<Self>;
}

impl ParamType for f64 {
    const KIND: ParamKind = ParamKind::Number;

    fn into_value(self) -> ParamValue {
        ParamValue::Number(self)
    }

    fn from_value(value: ParamValue) -> Option<Self> {
        match value {
            ParamValue::Number(x) => Some(x),
            _ => None,
        }
    }
}

impl ParamType for u64 {
    const KIND: ParamKind = ParamKind::Whole(Self::MAX);

    fn into_value(self) -> ParamValue {
        ParamValue::Whole(self)
    }

    fn from_value(value: ParamValue) -> Option<Self> {
        match value {
            ParamValue::Whole(n) => Some(n),
            _ => None,
        }
    }
}

impl ParamType for u32 {
    const KIND: ParamKind = ParamKind::Whole(Self::MAX as u64);

    fn into_value(self) -> ParamValue {
        ParamValue::Whole(u64::from(self))
    }

    fn from_value(value: ParamValue) -> Option<Self> {
        u64::from_value(value).and_then(|n| Self::try_from(n).ok())
    }
}

impl ParamType for bool {
    const KIND: ParamKind = ParamKind::Switch;

    fn into_value(self) -> ParamValue {
        ParamValue::Switch(self)
    }

    fn from_value(value: ParamValue) -> Option<Self> {
        match value {
            ParamValue::Switch(on) => Some(on),
            _ => None,
        }
    }
}

impl<T: ParamType> ParamType for Option<T> {
    const KIND: ParamKind = T::KIND;
    const OPTIONAL: bool = true;

    fn into_value(self) -> ParamValue {
        self.map_or(ParamValue::None, T::into_value)
    }

    fn from_value(value: ParamValue) -> Option<Self> {
        match value {
            ParamValue::None => Some(None),
            other => T::from_value(other).map(Some),
        }
    }
}

/// Declares the parameters of a method once: its struct with defaults, its table and its checks.
///
/// ```text
/// params! {
///     /// Parameters of `toy`.
///     ToyParams of "toy" {
///         /// Share of the error that one step removes.
///         share: f64 = 0.2, "1", Between(0.0, 1.0), "why 0.2, or what another value does";
///     }
///     renamed { part => share; }
///     dropped { rounds: "why it does nothing any more"; }
/// }
/// ```
///
/// Types: `f64`, `u32`, `u64`, `bool`, a type made by [`param_words!`](crate::param_words), or an `Option` of one of them.
#[doc(hidden)]
#[macro_export]
macro_rules! params {
    (
        $(#[doc = $head:literal])+
        $name:ident of $method:literal {
            $(
                $(#[doc = $what:literal])+
                $f:ident: $t:ty = $default:expr, $unit:literal, $range:expr, $reason:literal;
            )*
        }
        renamed { $($old:ident => $new:ident;)* }
        dropped { $($gone:ident: $why:literal;)* }
    ) => {
        $(#[doc = $head])+
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name {
            $(
                $(#[doc = $what])+
                #[doc = concat!("Unit: ", $unit, ". Default: `", stringify!($default), "`, ", $reason, ".")]
                pub $f: $t,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($f: $default,)* }
            }
        }

        impl $name {
            /// The table of these parameters.
            pub const TABLE: $crate::method::ParamTable = {
                #[allow(unused_imports, reason = "not every method needs every range")]
                use $crate::method::ParamRange::{Any, AtLeast, Between, NotNegative, Positive};
                use $crate::method::{Param, ParamTable, ParamType};
                ParamTable {
                    method: $method,
                    params: &[$(Param {
                        name: stringify!($f),
                        unit: $unit,
                        kind: <$t as ParamType>::KIND,
                        optional: <$t as ParamType>::OPTIONAL,
                        range: $range,
                        what: concat!($($what),+).trim_ascii(),
                        reason: $reason,
                        default: || <$t as ParamType>::into_value($default),
                    },)*],
                    former: &[
                        $($crate::method::Former { name: stringify!($old), successor: Some(stringify!($new)), reason: "" },)*
                        $($crate::method::Former { name: stringify!($gone), successor: None, reason: $why },)*
                    ],
                }
            };

            /// Checks every parameter against its range.
            ///
            /// # Errors
            /// The first one that makes no sense, and why.
            pub fn check(&self) -> Result<(), $crate::BuildError> {
                $crate::method::Params::check(self)
            }
        }

        impl $crate::method::Params for $name {
            fn table(&self) -> &'static $crate::method::ParamTable {
                &Self::TABLE
            }

            fn value(&self, index: usize) -> $crate::method::ParamValue {
                let all = [$(<$t as $crate::method::ParamType>::into_value(self.$f),)*];
                all[index]
            }

            fn set_value(&mut self, index: usize, value: $crate::method::ParamValue) -> bool {
                let name = Self::TABLE.params[index].name;
                $(if name == stringify!($f) {
                    let value = <$t as $crate::method::ParamType>::from_value(value);
                    return value.map(|value| self.$f = value).is_some();
                })*
                false
            }
        }
    };
}

/// Declares a parameter type with a closed list of words: `param_words! { /// What. Law { /// What. Hertz = "hertz", } }`.
#[doc(hidden)]
#[macro_export]
macro_rules! param_words {
    ($(#[$meta:meta])* $name:ident { $($(#[$v_meta:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$v_meta])* $variant,)+
        }

        impl $crate::method::ParamType for $name {
            const KIND: $crate::method::ParamKind = $crate::method::ParamKind::Word(&[$($word,)+]);

            fn into_value(self) -> $crate::method::ParamValue {
                $crate::method::ParamValue::Word(match self { $(Self::$variant => $word,)+ })
            }

            fn from_value(value: $crate::method::ParamValue) -> Option<Self> {
                match value {
                    $($crate::method::ParamValue::Word($word) => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}
