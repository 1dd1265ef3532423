//! How a returned value is written down: JSON text, with tags for what JSON loses.
//!
//! A tagged value is an object whose first key is `$py` or `$js`.
//!
//! | returned | written |
//! |---|---|
//! | `None`, `True`, text, finite floats, integers of 64 bits | JSON; a float always has a `.` or an `e` |
//! | `nan`, `inf`, `-inf` | `{"$py":"nan"}` and so on |
//! | larger integers | `{"$py":"int","value":"18446744073709551616"}` |
//! | tuples and sets | `{"$py":"tuple","items":[…]}`, `{"$py":"set","items":[…]}` |
//! | `bytes` | `{"$py":"bytes","latin1":"…"}` |
//! | complex numbers | `{"$py":"complex","re":…,"im":…}` |
//! | a `dict` with keys that are not text, or with a key `$py` or `$js` | `{"$py":"dict","items":[[key,value],…]}` |
//! | any other object, and text that is not Unicode | `{"$py":"object","type":"Decimal","repr":"Decimal('1.5')"}` |
//! | `undefined`, functions, symbols | `{"$js":"undefined"}`, `{"$js":"function"}`, `{"$js":"symbol"}` |
//! | `NaN`, `Infinity`, `-Infinity`, `-0` | `{"$js":"nan"}`, `{"$js":"inf"}`, `{"$js":"-inf"}`, `{"$js":"-0"}` |
//! | a `BigInt` | `{"$js":"bigint","value":"123"}` |
//! | an object with a key `$py` or `$js` | `{"$py":"dict","items":[[key,value],…]}` |
//!
//! Instances of subclasses are written as what they extend: an `IntEnum` is an integer, a `namedtuple` a tuple, an `OrderedDict` a `dict`, numpy's
//! `float64` a float. An object of JavaScript that has `toJSON` is written as what that gives, so a `Date` is its text in ISO form. A `Map` or a
//! `Set` is written as `JSON.stringify` would write it: `{}`. Half a character, which cutting a text leaves in JavaScript, is written as U+FFFD.
//!
//! Not written, but failures: values nested deeper than [`MAX_DEPTH`], and those longer than the limit.

/// How deep returned values may be nested.
pub const MAX_DEPTH: usize = 64;
