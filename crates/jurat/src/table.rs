//! Results as columns of Arrow, in the [columns](crate::Run::columns) of the formats for data.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::{Column, Datum, Kind};

/// The schema of columns. Values of any kind stand as JSON.
pub fn schema<'c>(columns: impl Iterator<Item = &'c Column>) -> SchemaRef {
    let kind = |kind: Kind| match kind {
        Kind::Text | Kind::Value => DataType::Utf8,
        Kind::Number => DataType::Int64,
        Kind::Float => DataType::Float64,
        Kind::Flag => DataType::Boolean,
    };
    Arc::new(Schema::new(columns.map(|it| Field::new(it.name, kind(it.kind), true)).collect::<Vec<_>>()))
}

/// A column that is being written. Values of any kind stand as JSON.
#[derive(Debug)]
pub struct Cells(Builder);

#[derive(Debug)]
enum Builder {
    Text(StringBuilder),
    Number(Int64Builder),
    Float(Float64Builder),
    Flag(BooleanBuilder),
}

impl Cells {
    /// A column for data of a kind.
    pub fn of(kind: Kind) -> Cells {
        Cells(match kind {
            Kind::Text | Kind::Value => Builder::Text(StringBuilder::new()),
            Kind::Number => Builder::Number(Int64Builder::new()),
            Kind::Float => Builder::Float(Float64Builder::new()),
            Kind::Flag => Builder::Flag(BooleanBuilder::new()),
        })
    }

    /// Adds what a row has in this column. What is of another kind is nothing.
    pub fn put(&mut self, datum: Datum<'_>) {
        match (&mut self.0, datum) {
            (Builder::Text(column), Datum::Text(text)) => column.append_value(text),
            (Builder::Text(column), Datum::Value(value)) => column.append_value(value.to_json()),
            (Builder::Text(column), _) => column.append_null(),
            (Builder::Number(column), Datum::Number(number)) => {
                column.append_value(i64::try_from(number).unwrap_or(i64::MAX));
            }
            (Builder::Number(column), _) => column.append_null(),
            (Builder::Float(column), Datum::Float(number)) if number.is_finite() => column.append_value(number),
            (Builder::Float(column), _) => column.append_null(),
            (Builder::Flag(column), Datum::Flag(flag)) => column.append_value(flag),
            (Builder::Flag(column), _) => column.append_null(),
        }
    }

    /// The column, which is empty from now on.
    pub fn finish(&mut self) -> ArrayRef {
        match &mut self.0 {
            Builder::Text(column) => Arc::new(column.finish()),
            Builder::Number(column) => Arc::new(column.finish()),
            Builder::Float(column) => Arc::new(column.finish()),
            Builder::Flag(column) => Arc::new(column.finish()),
        }
    }
}
