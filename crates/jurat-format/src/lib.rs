//! The format of definitions: values with positions, the problems found in them, and the machinery that reads them.
//!
//! Nothing here knows what an evaluation is. `jurat-core` declares the keys of each concept with [`form`] and reads them with [`reader`].
//! This crate never touches the world: files come through [`source::Files`]. Reading order:
//!
//! * [`value`]: values borrowed from their text, and the paths that lead into them;
//! * [`source`]: the texts that a definition was read from;
//! * [`problem`]: what is wrong with a definition, as data, and [`codes`]: every kind of problem;
//! * [`yaml`]: YAML and JSON into a tree with positions, and [`yaml_writer`]: values as YAML;
//! * [`form`]: the keys of an object, from which the JSON Schema is made;
//! * [`reader`]: where problems go, and how single values are read; [`choice`]: enums with names;
//! * [`shape`]: what values look like and how they are read, [`field`]: a key with its shape, and [`fields`]: an object read by its fields;
//! * [`duration`], [`size`] and [`id`]: values that are written as text.

pub mod choice;
pub mod codes;
pub mod duration;
pub mod field;
pub mod fields;
pub mod form;
pub mod id;
pub mod problem;
pub mod reader;
pub mod shape;
pub mod size;
pub mod source;
pub mod value;
pub mod yaml;
pub mod yaml_writer;
