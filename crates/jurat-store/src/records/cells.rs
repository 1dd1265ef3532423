//! The cells of a column of a table, written as JSON.
//!
//! | Parquet and Arrow | JSON |
//! |---|---|
//! | integers, booleans, text | as they are |
//! | floating point | the shortest number that reads back the same; NaN and infinities are refused |
//! | decimals | a number with all its digits |
//! | dates, times, moments | text as in ISO 8601; moments that are adjusted to UTC end with `Z` |
//! | lists, groups, maps | lists and objects; the keys of a map are written as text |
//! | bytes, intervals | refused |
//!
//! Arrow has several forms for texts, lists and moments, and values in dictionaries. Each is read as it is: converting them
//! first by `arrow-cast` would make that crate and what only it needs a tenth of an optimised build.

use std::fmt::{self, Display};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DecimalType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{
    AnyDictionaryArray, Array, ArrayRef, BooleanArray, FixedSizeListArray, GenericListArray, GenericListViewArray,
    GenericStringArray, MapArray, OffsetSizeTrait, PrimitiveArray, StringViewArray, new_empty_array,
};
use arrow_schema::{DataType, Field, TimeUnit};
use jurat_format::value::Val;
use serde::Serialize;

use super::{SampleError, moment};

/// A column of one batch, or a part of one.
pub(super) struct Column {
    array: ArrayRef,
    cells: Box<dyn Cells>,
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Column").field(self.array.data_type()).finish()
    }
}

/// A cell that JSON has no form for.
pub(super) struct Odd {
    /// The column, and the place in it.
    pub(super) column: Arc<str>,
    pub(super) found: &'static str,
}

/// Cells that are not null.
trait Cells: Send + Sync {
    fn write(&self, ix: usize, json: &mut Vec<u8>) -> Result<(), Odd>;

    /// The value that the JSON of a cell is read as, where it can be had without it.
    fn value(&self, _: usize) -> Option<Val<'_>> {
        None
    }
}

impl Column {
    /// Says whether JSON has a form for a column.
    pub(super) fn check(field: &Field) -> Result<(), SampleError> {
        Column::of(field, &new_empty_array(field.data_type())).map(|_| ())
    }

    pub(super) fn of(field: &Field, array: &ArrayRef) -> Result<Column, SampleError> {
        Column::at(field.name().as_str().into(), array)
    }

    /// `place` is the column, and the place in it.
    fn at(place: Arc<str>, array: &ArrayRef) -> Result<Column, SampleError> {
        Ok(Column { cells: cells(&place, array)?, array: array.clone() })
    }

    pub(super) fn write(&self, ix: usize, json: &mut Vec<u8>) -> Result<(), Odd> {
        if self.array.is_null(ix) {
            json.extend_from_slice(b"null");
            return Ok(());
        }
        self.cells.write(ix, json)
    }

    /// The value that the JSON of a cell is read as, where it can be had without it.
    pub(super) fn value(&self, ix: usize) -> Option<Val<'_>> {
        if self.array.is_null(ix) { Some(Val::Null) } else { self.cells.value(ix) }
    }
}

fn cells(place: &Arc<str>, array: &ArrayRef) -> Result<Box<dyn Cells>, SampleError> {
    let odd = |holds: &str| Err(SampleError::OddColumn { column: place.to_string(), holds: holds.to_owned() });
    Ok(match array.data_type() {
        DataType::Null => Box::new(Nulls),
        DataType::Boolean => Box::new(array.as_boolean().clone()),
        DataType::Utf8 => Box::new(array.as_string::<i32>().clone()),
        DataType::LargeUtf8 => Box::new(array.as_string::<i64>().clone()),
        DataType::Utf8View => Box::new(array.as_string_view().clone()),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let values = Column::at(place.clone(), dictionary.values())?;
            Box::new(Dictionaries { keys: keys(dictionary), values })
        }
        DataType::Int8 => Integers::<Int8Type>::boxed(array),
        DataType::Int16 => Integers::<Int16Type>::boxed(array),
        DataType::Int32 => Integers::<Int32Type>::boxed(array),
        DataType::Int64 => Integers::<Int64Type>::boxed(array),
        DataType::UInt8 => Integers::<UInt8Type>::boxed(array),
        DataType::UInt16 => Integers::<UInt16Type>::boxed(array),
        DataType::UInt32 => Integers::<UInt32Type>::boxed(array),
        DataType::UInt64 => Integers::<UInt64Type>::boxed(array),
        DataType::Float16 => Floats::<Float16Type, _>::boxed(place, array, |it| Float::Single(it.to_f32())),
        DataType::Float32 => Floats::<Float32Type, _>::boxed(place, array, Float::Single),
        DataType::Float64 => Floats::<Float64Type, _>::boxed(place, array, Float::Double),
        DataType::Decimal32(_, scale) => Decimals::<Decimal32Type>::boxed(array, *scale),
        DataType::Decimal64(_, scale) => Decimals::<Decimal64Type>::boxed(array, *scale),
        DataType::Decimal128(_, scale) => Decimals::<Decimal128Type>::boxed(array, *scale),
        DataType::Decimal256(_, scale) => Decimals::<Decimal256Type>::boxed(array, *scale),
        DataType::Date32 => Moments::<Date32Type, _>::boxed(place, array, moment::date),
        DataType::Date64 => Moments::<Date64Type, _>::boxed(place, array, moment::date_of_milliseconds),
        DataType::Time32(TimeUnit::Second) => {
            Moments::<Time32SecondType, _>::boxed(place, array, moment::time_of_seconds)
        }
        DataType::Time32(TimeUnit::Millisecond) => {
            Moments::<Time32MillisecondType, _>::boxed(place, array, moment::time_of_milliseconds)
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            Moments::<Time64MicrosecondType, _>::boxed(place, array, moment::time_of_microseconds)
        }
        DataType::Time64(TimeUnit::Nanosecond) => {
            Moments::<Time64NanosecondType, _>::boxed(place, array, moment::time_of_nanoseconds)
        }
        DataType::Timestamp(TimeUnit::Second, zone) => {
            timestamps::<TimestampSecondType>(place, array, zone.is_some(), moment::of_seconds)
        }
        DataType::Timestamp(TimeUnit::Millisecond, zone) => {
            timestamps::<TimestampMillisecondType>(place, array, zone.is_some(), moment::of_milliseconds)
        }
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            timestamps::<TimestampMicrosecondType>(place, array, zone.is_some(), moment::of_microseconds)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            timestamps::<TimestampNanosecondType>(place, array, zone.is_some(), moment::of_nanoseconds)
        }
        DataType::List(_) => Lists::<i32>::boxed(place, array)?,
        DataType::LargeList(_) => Lists::<i64>::boxed(place, array)?,
        DataType::ListView(_) => ListViews::<i32>::boxed(place, array)?,
        DataType::LargeListView(_) => ListViews::<i64>::boxed(place, array)?,
        DataType::FixedSizeList(..) => {
            let lists = array.as_fixed_size_list();
            let items = Column::at(format!("{place}[]").into(), lists.values())?;
            Box::new(FixedSizeLists { lists: lists.clone(), items })
        }
        DataType::Struct(fields) => {
            let member = |(field, array): (&Arc<Field>, &ArrayRef)| {
                let column = Column::at(format!("{place}.{}", field.name()).into(), array)?;
                Ok((format!("{}:", Val::from(field.name().as_str())), column))
            };
            let members = fields.iter().zip(array.as_struct().columns()).map(member);
            Box::new(Groups(members.collect::<Result<_, SampleError>>()?))
        }
        DataType::Map(..) => {
            let maps = array.as_map();
            if maps.keys().data_type().is_nested() {
                return odd("a map whose keys are lists or groups");
            }
            let keys = Column::at(format!("{place}.key").into(), maps.keys())?;
            let values = Column::at(format!("{place}.value").into(), maps.values())?;
            Box::new(Maps { maps: maps.clone(), keys, values })
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            return odd("bytes");
        }
        DataType::Interval(_) => return odd("intervals"),
        other => return odd(&format!("`{other}`")),
    })
}

fn timestamps<T: ArrowPrimitiveType<Native = i64>>(
    place: &Arc<str>,
    array: &ArrayRef,
    is_utc: bool,
    text: fn(i64) -> Option<String>,
) -> Box<dyn Cells> {
    let zone = if is_utc { "Z" } else { "" };
    Moments::<T, _>::boxed(place, array, move |it| text(it).map(|it| it + zone))
}

fn print_quoted(json: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(json, text).expect("text can be written to memory");
}

struct Nulls;

impl Cells for Nulls {
    fn write(&self, _: usize, json: &mut Vec<u8>) -> Result<(), Odd> {
        json.extend_from_slice(b"null");
        Ok(())
    }

    fn value(&self, _: usize) -> Option<Val<'_>> {
        Some(Val::Null)
    }
}

impl Cells for BooleanArray {
    fn write(&self, ix: usize, json: &mut Vec<u8>) -> Result<(), Odd> {
        json.extend_from_slice(if self.value(ix) { b"true" } else { b"false" });
        Ok(())
    }

    fn value(&self, ix: usize) -> Option<Val<'_>> {
        Some(Val::Bool(self.value(ix)))
    }
}

impl<O: OffsetSizeTrait> Cells for GenericStringArray<O> {
    fn write(&self, ix: usize, json: &mut Vec<u8>) -> Result<(), Odd> {
        print_quoted(json, self.value(ix));
        Ok(())
    }

    fn value(&self, ix: usize) -> Option<Val<'_>> {
        Some(Val::from(self.value(ix)))
    }
}

impl Cells for StringViewArray {
    fn write(&self, ix: usize, json: &mut Vec<u8>) -> Result<(), Odd> {
        print_quoted(json, self.value(ix));
        Ok(())
    }

    fn value(&self, ix: usize) -> Option<Val<'_>> {
        Some(Val::from(self.value(ix)))
    }
}

/// Values that are stored once, and the index of the value of each row.
struct Dictionaries {
    keys: Vec<usize>,
    values: Column,
}

/// Without values every row is null, and Arrow panics when it is asked for the keys.
fn keys(dictionary: &dyn AnyDictionaryArray) -> Vec<usize> {
    if dictionary.values().is_empty() { Vec::new() } else { dictionary.normalized_keys() }
}

impl Cells for Dictionaries {
    fn write(&self, ix: usize, json: &mut Vec<u8>) -> Result<(), Odd> {
        self.values.write(self.keys[ix], json)
    }

    fn value(&self, ix: usize) -> Option<Val<'_>> {
        self.values.value(self.keys[ix])
    }
}

struct Integers<T: ArrowPrimitiveType>(PrimitiveArray<T>);

impl<T: ArrowPrimitiveType<Native: Integer>> Integers<T> {
    fn boxed(array: &ArrayRef) -> Box<dyn Cells> {
        Box::new(Integers(array.as_primitive::<T>().clone()))
    }
}

impl<T: ArrowPrimitiveType<Native: Integer>> Cells for Integers<T> {
    fn write(&self, ix: usize, json: &mut Vec<u8>) -> Result<(), Odd> {
        serde_json::to_writer(json, &self.0.value(ix)).expect("a number can be written to memory");
        Ok(())
    }

    fn value(&self, ix: usize) -> Option<Val<'_>> {
        let number = self.0.value(ix);
        let small = || number.try_into().ok().map(|it: i64| Val::from(it));
        small().or_else(|| number.try_into().ok().map(|it: u64| Val::from(it)))
    }
}

/// What a column of whole numbers holds.
trait Integer: Copy + Serialize + TryInto<i64> + TryInto<u64> {}

impl<T: Copy + Serialize + TryInto<i64> + TryInto<u64>> Integer for T {}

/// A number that is written with as few digits as its own precision needs.
enum Float {
    Single(f32),
    Double(f64),
}

struct Floats<T: ArrowPrimitiveType, F> {
    place: Arc<str>,
    array: PrimitiveArray<T>,
    float: F,
}

impl<T: ArrowPrimitiveType, F: Fn(T::Native) -> Float + Send + Sync + 'static> Floats<T, F> {
    fn boxed(place: &Arc<str>, array: &ArrayRef, float: F) -> Box<dyn Cells> {
        Box::new(Floats { place: place.clone(), array: array.as_primitive::<T>().clone(), float })
    }
}

impl<T: ArrowPrimitiveType, F: Fn(T::Native) -> Float + Send + Sync> Cells for Floats<T, F> {
    fn write(&self, ix: usize, json: &mut Vec<u8>) -> Result<(), Odd> {
        let float = (self.float)(self.array.value(ix));
        let wide = match float {
            Float::Single(it) => f64::from(it),
            Float::Double(it) => it,
        };
        if !wide.is_finite() {
            let found = if wide.is_nan() { "NaN" } else { "an infinite number" };
            return Err(Odd { column: self.place.clone(), found });
        }
        match float {
            Float::Single(it) => serde_json::to_writer(json, &it),
            Float::Double(it) => serde_json::to_writer(json, &it),
        }
        .expect("a finite number can be written to memory");
        Ok(())
    }

    fn value(&self, ix: usize) -> Option<Val<'_>> {
        match (self.float)(self.array.value(ix)) {
            Float::Double(it) if it.is_finite() => Some(Val::F(it)),
            // The few digits of a narrow number are those of another wide one.
            Float::Double(_) | Float::Single(_) => None,
        }
    }
}

struct Decimals<T: DecimalType> {
    array: PrimitiveArray<T>,
    scale: i8,
}

impl<T: DecimalType + ArrowPrimitiveType<Native: Display>> Decimals<T> {
    fn boxed(array: &ArrayRef, scale: i8) -> Box<dyn Cells> {
        Box::new(Decimals { array: array.as_primitive::<T>().clone(), scale })
    }
}

impl<T: DecimalType + ArrowPrimitiveType<Native: Display>> Cells for Decimals<T> {
    fn write(&self, ix: usize, json: &mut Vec<u8>) -> Result<(), Odd> {
        json.extend_from_slice(decimal(&self.array.value(ix).to_string(), self.scale).as_bytes());
        Ok(())
    }
}

/// A whole number with the point put `scale` digits from its end.
fn decimal(digits: &str, scale: i8) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    let n_after = usize::from(scale.max(0).unsigned_abs());
    if digits == "0" || n_after == 0 {
        let zeros = if digits == "0" { 0 } else { usize::from(scale.min(0).unsigned_abs()) };
        let after = if n_after == 0 { String::new() } else { format!(".{}", "0".repeat(n_after)) };
        return format!("{sign}{digits}{}{after}", "0".repeat(zeros));
    }
    let padded = format!("{digits:0>width$}", width = n_after + 1);
    let (before, after) = padded.split_at(padded.len() - n_after);
    format!("{sign}{before}.{after}")
}

/// Dates, times and moments as text.
struct Moments<T: ArrowPrimitiveType, F> {
    place: Arc<str>,
    array: PrimitiveArray<T>,
    text: F,
}

impl<T: ArrowPrimitiveType, F: Fn(T::Native) -> Option<String> + Send + Sync + 'static> Moments<T, F> {
    fn boxed(place: &Arc<str>, array: &ArrayRef, text: F) -> Box<dyn Cells> {
        Box::new(Moments { place: place.clone(), array: array.as_primitive::<T>().clone(), text })
    }
}

impl<T: ArrowPrimitiveType, F: Fn(T::Native) -> Option<String> + Send + Sync> Cells for Moments<T, F> {
    fn write(&self, ix: usize, json: &mut Vec<u8>) -> Result<(), Odd> {
        let odd = || Odd { column: self.place.clone(), found: "a time outside of all calendars" };
        print_quoted(json, &(self.text)(self.array.value(ix)).ok_or_else(odd)?);
        Ok(())
    }
}

struct Lists<O: OffsetSizeTrait> {
    lists: GenericListArray<O>,
    items: Column,
}

impl<O: OffsetSizeTrait> Lists<O> {
    fn boxed(place: &Arc<str>, array: &ArrayRef) -> Result<Box<dyn Cells>, SampleError> {
        let lists = array.as_list::<O>().clone();
        let items = Column::at(format!("{place}[]").into(), lists.values())?;
        Ok(Box::new(Lists { lists, items }))
    }
}

impl<O: OffsetSizeTrait> Cells for Lists<O> {
    fn write(&self, ix: usize, json: &mut Vec<u8>) -> Result<(), Odd> {
        write_items(&self.items, range(self.lists.value_offsets(), ix), json)
    }
}

/// Lists that have their items anywhere, each with an offset and a length of its own.
struct ListViews<O: OffsetSizeTrait> {
    lists: GenericListViewArray<O>,
    items: Column,
}

impl<O: OffsetSizeTrait> ListViews<O> {
    fn boxed(place: &Arc<str>, array: &ArrayRef) -> Result<Box<dyn Cells>, SampleError> {
        let lists = array.as_list_view::<O>().clone();
        let items = Column::at(format!("{place}[]").into(), lists.values())?;
        Ok(Box::new(ListViews { lists, items }))
    }
}

impl<O: OffsetSizeTrait> Cells for ListViews<O> {
    fn write(&self, ix: usize, json: &mut Vec<u8>) -> Result<(), Odd> {
        let start = self.lists.value_offset(ix).as_usize();
        write_items(&self.items, start..start + self.lists.value_size(ix).as_usize(), json)
    }
}

/// Lists that all have the same number of items.
struct FixedSizeLists {
    lists: FixedSizeListArray,
    items: Column,
}

impl Cells for FixedSizeLists {
    fn write(&self, ix: usize, json: &mut Vec<u8>) -> Result<(), Odd> {
        let length = usize::try_from(self.lists.value_length()).expect("lists have no negative length");
        write_items(&self.items, ix * length..(ix + 1) * length, json)
    }
}

fn write_items(items: &Column, range: Range<usize>, json: &mut Vec<u8>) -> Result<(), Odd> {
    json.push(b'[');
    for (nth, item) in range.enumerate() {
        if nth > 0 {
            json.push(b',');
        }
        items.write(item, json)?;
    }
    json.push(b']');
    Ok(())
}

/// The members of a group, each with what an object has before its value: `"name":`.
struct Groups(Vec<(String, Column)>);

impl Cells for Groups {
    fn write(&self, ix: usize, json: &mut Vec<u8>) -> Result<(), Odd> {
        json.push(b'{');
        for (nth, (key, column)) in self.0.iter().enumerate() {
            if nth > 0 {
                json.push(b',');
            }
            json.extend_from_slice(key.as_bytes());
            column.write(ix, json)?;
        }
        json.push(b'}');
        Ok(())
    }
}

struct Maps {
    maps: MapArray,
    keys: Column,
    values: Column,
}

impl Cells for Maps {
    fn write(&self, ix: usize, json: &mut Vec<u8>) -> Result<(), Odd> {
        json.push(b'{');
        let mut key = Vec::new();
        for (nth, entry) in range(self.maps.value_offsets(), ix).enumerate() {
            if nth > 0 {
                json.push(b',');
            }
            key.clear();
            self.keys.write(entry, &mut key)?;
            if key.starts_with(b"\"") {
                json.extend_from_slice(&key);
            } else {
                json.push(b'"');
                json.extend_from_slice(&key);
                json.push(b'"');
            }
            json.push(b':');
            self.values.write(entry, json)?;
        }
        json.push(b'}');
        Ok(())
    }
}

/// The items of one list.
fn range<O: OffsetSizeTrait>(offsets: &[O], ix: usize) -> Range<usize> {
    offsets[ix].as_usize()..offsets[ix + 1].as_usize()
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn decimals_keep_their_digits() {
        for (digits, scale, expected) in [
            ("1250", 2, "12.50"),
            ("-5", 2, "-0.05"),
            ("5", 0, "5"),
            ("0", 3, "0.000"),
            ("12", -3, "12000"),
            ("0", -3, "0"),
            ("-170141183460469231731687303715884105728", 38, "-1.70141183460469231731687303715884105728"),
        ] {
            assert_eq!(decimal(digits, scale), expected);
        }
    }
}
