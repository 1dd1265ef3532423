//! Files in, values out.

mod definitions;
mod records;
mod rows;
