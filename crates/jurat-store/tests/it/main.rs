//! Files in, values out.

mod definitions;
mod ids;
mod records;
mod rows;
mod runs;
