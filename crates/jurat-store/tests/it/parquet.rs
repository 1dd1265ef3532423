//! Parquet files, written by the tests themselves.

use std::ops::ControlFlow;
use std::path::Path;
use std::slice::from_ref;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder, MapBuilder, StringBuilder, StringDictionaryBuilder};
use arrow_array::types::{ArrowPrimitiveType, Decimal256Type, Float16Type};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array, DurationMillisecondArray,
    Float16Array, Float32Array, Float64Array, Int8Array, Int64Array, IntervalDayTimeArray, LargeStringArray, NullArray,
    RecordBatch, StringArray, StructArray, Time32MillisecondArray, Time64NanosecondArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use jurat_core::suite::{Records, RowFormat, RowSource};
use jurat_format::value::{FieldPath, Projection, parse_json};
use jurat_store::records::{
    Chunk, ReadSummary, RowLimits, RowsError, SampleError, SampleLimits, read_all_within, sample,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::data_type::{Int96, Int96Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::rows::one_file;

/// A file with these columns, in row groups of two rows.
fn file(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    written(columns, 2, Compression::UNCOMPRESSED)
}

fn written(columns: Vec<(&str, ArrayRef)>, n_group: usize, compression: Compression) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, it)| (name, it, true)));
    let batch = batch.expect("columns of one length");
    let properties =
        WriterProperties::builder().set_max_row_group_row_count(Some(n_group)).set_compression(compression).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).expect("it can be written");
    writer.write(&batch).expect("it can be written");
    writer.close().expect("it can be written");
    bytes
}

fn column(array: impl arrow_array::Array + 'static) -> ArrayRef {
    Arc::new(array)
}

fn records(path: &Path) -> Records {
    Records { format: Some(RowFormat::Parquet), ..one_file("a.parquet", path) }
}

fn chunks(path: &Path, limits: RowLimits) -> (Vec<Chunk>, Result<ReadSummary, RowsError>) {
    let mut chunks = Vec::new();
    let read = read_all_within(from_ref(&records(path)), &mut std::io::empty(), limits, &mut |chunk| {
        chunks.push(chunk);
        ControlFlow::Continue(())
    });
    (chunks, read)
}

fn in_a_file(bytes: &[u8], test: impl FnOnce(&Path)) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("a.parquet");
    std::fs::write(&path, bytes).expect("it is writable");
    test(&path);
}

/// Reads a file in chunks of all sizes, and its start. The rows are printed one a line, and an error is the last line.
#[track_caller]
fn reads(bytes: &[u8], expected: &str) {
    in_a_file(bytes, |path| {
        for chunk in [1, 7, 30, 1 << 20] {
            let (chunks, read) = chunks(path, RowLimits { chunk, row: 1000 });
            let rows: Vec<_> = chunks.iter().flat_map(Chunk::iter).collect();
            let shown = rows.iter().map(|(_, text)| format!("{text}\n")).chain(read.err().map(|it| it.to_string()));
            assert_eq!(shown.collect::<String>(), expected, "with chunks of {chunk}");
            assert!((1..).zip(&rows).all(|(n, (row, _))| (row.number, row.line, row.offset) == (n, n, None)));
            assert!(chunks.iter().all(|it| it.rows.len() == 1 || it.text.len() <= chunk), "{chunks:?}");
            chunks.iter().for_each(columns_agree);
        }
        let sampled = sample(path, None, &[], SampleLimits::default()).map(|it| {
            assert!(!it.more);
            it.rows
        });
        match sampled {
            Ok(sampled) => {
                let rows: Vec<_> = expected.lines().map(|it| parse_json(it).expect("a row").value).collect();
                assert_eq!(sampled, rows);
            }
            Err(error) => assert!(expected.ends_with(&error.to_string()), "{error}"),
        }
    });
}

/// What columns say of rows is what their JSON is read as: of all columns, of those that begin with some letters, and of parts of them.
#[track_caller]
fn columns_agree(chunk: &Chunk) {
    let paths =
        ["b", "i64", "u64", "list[0]", "a.b", "group.a", "map.x"].map(|it| FieldPath::parse(it).expect("a path"));
    for wanted in [Projection::all(), Projection::of(&paths[..3]), Projection::of(&paths)] {
        let read = |text| wanted.read(text).expect("JSON");
        let Some(parts) = chunk.parts(&wanted) else {
            assert!(chunk.iter().all(|(_, text)| read(text).repeated_key), "the rows come in columns");
            continue;
        };
        for (row, text) in chunk.iter() {
            let part = parts.part(row.number).expect("a row of the chunk");
            // As they are printed, so that a negative zero is another number.
            assert_eq!(format!("{part:?}"), format!("{:?}", read(text).value), "{text}");
        }
        assert_eq!(parts.part(0), None);
    }
}

#[test]
fn a_column_that_comes_twice_is_not_read_without_its_json() {
    let fields = ["a", "b", "a"].map(|it| Field::new(it, DataType::Utf8, false));
    let columns = ["1", "2", "3"].map(|it| column(StringArray::from(vec![it])));
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields.to_vec())), columns.to_vec()).expect("a batch");
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).expect("it can be written");
    writer.write(&batch).expect("it can be written");
    writer.close().expect("it can be written");
    in_a_file(&bytes, |path| {
        let (chunks, _) = chunks(path, RowLimits::default());
        let only = |path: &str| Projection::of(&[FieldPath::parse(path).expect("a path")]);
        assert!(chunks[0].parts(&only("a")).is_none());
        let wanted = only("b");
        let parts = chunks[0].parts(&wanted).expect("this column comes once");
        assert_eq!(parts.part(1).expect("a row").to_string(), r#"{"b": "2"}"#);
    });
}

#[test]
fn scalars() {
    let half = <Float16Type as ArrowPrimitiveType>::Native::from_f32;
    reads(
        &file(vec![
            ("null", column(NullArray::new(3))),
            ("boolean", column(BooleanArray::from(vec![Some(true), None, Some(false)]))),
            ("i8", column(Int8Array::from(vec![-128, 0, 127]))),
            ("i64", column(Int64Array::from(vec![Some(i64::MIN), None, Some(i64::MAX)]))),
            ("u64", column(UInt64Array::from(vec![0, 1, u64::MAX]))),
            ("half", column(Float16Array::from(vec![half(0.5), half(-2.0), half(65504.0)]))),
            ("single", column(Float32Array::from(vec![0.1, 1.0, 3.0e38]))),
            ("double", column(Float64Array::from(vec![Some(0.1), None, Some(-1.5e300)]))),
            ("a \"b\"", column(StringArray::from(vec!["", "\n\"日本\" 🦀", "null"]))),
        ]),
        "{\"null\":null,\"boolean\":true,\"i8\":-128,\"i64\":-9223372036854775808,\"u64\":0,\"half\":0.5,\"single\":0.1,\
         \"double\":0.1,\"a \\\"b\\\"\":\"\"}\n\
         {\"null\":null,\"boolean\":null,\"i8\":0,\"i64\":null,\"u64\":1,\"half\":-2.0,\"single\":1.0,\
         \"double\":null,\"a \\\"b\\\"\":\"\\n\\\"日本\\\" 🦀\"}\n\
         {\"null\":null,\"boolean\":false,\"i8\":127,\"i64\":9223372036854775807,\"u64\":18446744073709551615,\
         \"half\":65504.0,\"single\":3e+38,\"double\":-1.5e+300,\"a \\\"b\\\"\":\"null\"}\n",
    );
}

#[test]
fn decimals_are_exact() {
    let wide = <Decimal256Type as ArrowPrimitiveType>::Native::from_i128;
    let narrow = Decimal128Array::from(vec![Some(1250), None, Some(-5)]).with_precision_and_scale(9, 2);
    let wide = Decimal256Array::from(vec![wide(i128::MAX), wide(0), wide(-1)]).with_precision_and_scale(76, 40);
    reads(
        &file(vec![("n", column(narrow.expect("a decimal"))), ("w", column(wide.expect("a decimal")))]),
        "{\"n\":12.50,\"w\":0.0170141183460469231731687303715884105727}\n\
         {\"n\":null,\"w\":0.0000000000000000000000000000000000000000}\n\
         {\"n\":-0.05,\"w\":-0.0000000000000000000000000000000000000001}\n",
    );
}

#[test]
fn times_are_text() {
    let day = 86_400_000_i64;
    reads(
        &file(vec![
            ("date", column(Date32Array::from(vec![Some(16_902), None]))),
            ("ms", column(Time32MillisecondArray::from(vec![34_200_000, 1]))),
            ("ns", column(Time64NanosecondArray::from(vec![34_200_000_000_000, 1]))),
            ("local", column(TimestampMillisecondArray::from(vec![16_902 * day, -1]))),
            ("utc", column(TimestampMicrosecondArray::from(vec![0, 1]).with_timezone("UTC"))),
            ("berlin", column(TimestampNanosecondArray::from(vec![0, 250_000_000]).with_timezone("+02:00"))),
        ]),
        "{\"date\":\"2016-04-11\",\"ms\":\"09:30:00\",\"ns\":\"09:30:00\",\"local\":\"2016-04-11T00:00:00\",\
         \"utc\":\"1970-01-01T00:00:00Z\",\"berlin\":\"1970-01-01T00:00:00Z\"}\n\
         {\"date\":null,\"ms\":\"00:00:00.001\",\"ns\":\"00:00:00.000000001\",\"local\":\"1969-12-31T23:59:59.999\",\
         \"utc\":\"1970-01-01T00:00:00.000001Z\",\"berlin\":\"1970-01-01T00:00:00.250Z\"}\n",
    );
}

#[test]
fn moments_of_96_bits_reach_beyond_nanoseconds() {
    let schema = Arc::new(
        parse_message_type("message m { optional group g { required INT64 n; required INT96 t; } required INT96 u; }")
            .expect("a schema"),
    );
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::default()).expect("a writer");
    let mut group = writer.next_row_group().expect("a row group");
    // Noon of a Julian day: 2457490 is 2016-04-11, 5373484 is 9999-12-31.
    let moment = |day: u32, nanos: u64| {
        let mut moment = Int96::new();
        moment.set_data(nanos as u32, (nanos >> 32) as u32, day);
        moment
    };
    let moments = [moment(2_457_490, 34_200_000_000_000), moment(5_373_484, 1_000)];
    let mut nth = 0;
    while let Some(mut column) = group.next_column().expect("a column") {
        match nth {
            0 => {
                let writer = column.typed::<parquet::data_type::Int64Type>();
                writer.write_batch(&[1, 2], Some(&[1, 1]), None).expect("it can be written");
            }
            1 => {
                column.typed::<Int96Type>().write_batch(&moments, Some(&[1, 1]), None).expect("it can be written");
            }
            _ => {
                column.typed::<Int96Type>().write_batch(&moments, None, None).expect("it can be written");
            }
        }
        column.close().expect("it can be written");
        nth += 1;
    }
    group.close().expect("it can be written");
    writer.close().expect("it can be written");
    reads(
        &bytes,
        "{\"g\":{\"n\":1,\"t\":\"2016-04-11T09:30:00\"},\"u\":\"2016-04-11T09:30:00\"}\n\
         {\"g\":{\"n\":2,\"t\":\"9999-12-31T00:00:00.000001\"},\"u\":\"9999-12-31T00:00:00.000001\"}\n",
    );
}

#[test]
fn lists_groups_and_maps() {
    let mut lists = ListBuilder::new(Int32Builder::new());
    lists.append_value([Some(1), None]);
    lists.append_null();
    lists.append_value([]);
    let mut nested = ListBuilder::new(ListBuilder::new(StringBuilder::new()));
    nested.values().append_value([Some("a")]);
    nested.append(true);
    nested.values().append_null();
    nested.append(true);
    nested.append(false);
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    maps.keys().append_value("k");
    maps.values().append_value(1);
    maps.keys().append_value("l");
    maps.values().append_null();
    maps.append(true).expect("a map");
    maps.append(true).expect("a map");
    maps.append(false).expect("a map");
    let mut numbered = MapBuilder::new(None, Int32Builder::new(), StringBuilder::new());
    for n in 0..3 {
        numbered.keys().append_value(n);
        numbered.values().append_value("v");
        numbered.append(true).expect("a map");
    }
    let group = StructArray::from(vec![
        (Arc::new(Field::new("a", DataType::Utf8, true)), column(StringArray::from(vec![Some("x"), None, None]))),
        (Arc::new(Field::new("b", DataType::Int64, false)), column(Int64Array::from(vec![1, 2, 3]))),
    ]);
    reads(
        &file(vec![
            ("lists", column(lists.finish())),
            ("nested", column(nested.finish())),
            ("maps", column(maps.finish())),
            ("numbered", column(numbered.finish())),
            ("group", column(group)),
        ]),
        "{\"lists\":[1,null],\"nested\":[[\"a\"]],\"maps\":{\"k\":1,\"l\":null},\"numbered\":{\"0\":\"v\"},\
         \"group\":{\"a\":\"x\",\"b\":1}}\n\
         {\"lists\":null,\"nested\":[null],\"maps\":{},\"numbered\":{\"1\":\"v\"},\"group\":{\"a\":null,\"b\":2}}\n\
         {\"lists\":[],\"nested\":null,\"maps\":null,\"numbered\":{\"2\":\"v\"},\"group\":{\"a\":null,\"b\":3}}\n",
    );
}

#[test]
fn types_are_those_of_parquet_and_not_of_the_writer() {
    let mut words = StringDictionaryBuilder::<arrow_array::types::Int32Type>::new();
    for word in ["a", "b", "a"] {
        words.append_value(word);
    }
    reads(
        &file(vec![
            ("word", column(words.finish())),
            ("large", column(LargeStringArray::from(vec![Some("x"), None, Some("y")]))),
            ("took", column(DurationMillisecondArray::from(vec![1, 2, 3]))),
        ]),
        "{\"word\":\"a\",\"large\":\"x\",\"took\":1}\n\
         {\"word\":\"b\",\"large\":null,\"took\":2}\n\
         {\"word\":\"a\",\"large\":\"y\",\"took\":3}\n",
    );
}

#[test]
fn columns_without_a_form_in_json_are_named() {
    let refused = |name: &str, array: ArrayRef, place: &str, holds: &str| {
        let good = column(Int64Array::from(vec![1; array.len()]));
        reads(
            &file(vec![("good", good), (name, array)]),
            &format!(
                "`a.parquet`: the column `{place}` holds {holds}, which JSON cannot express; turn it into text, or leave it out"
            ),
        );
    };
    refused("image", column(BinaryArray::from(vec![b"x".as_slice(), b""])), "image", "bytes");
    let interval = IntervalDayTimeArray::from(vec![None]);
    refused("span", column(interval), "span", "intervals");
    let inner = Arc::new(Field::new("thumb", DataType::Binary, true));
    let group = StructArray::from(vec![(inner, column(BinaryArray::from(vec![b"x".as_slice()])))]);
    refused("meta", column(group), "meta.thumb", "bytes");
    let mut lists = ListBuilder::new(arrow_array::builder::BinaryBuilder::new());
    lists.append_null();
    refused("images", column(lists.finish()), "images[]", "bytes");
    let mut maps = MapBuilder::new(None, ListBuilder::new(Int32Builder::new()), Int32Builder::new());
    maps.append(true).expect("a map");
    refused("odd", column(maps.finish()), "odd", "a map whose keys are lists or groups");
}

#[test]
fn cells_without_a_form_in_json_end_the_reading_where_they_are() {
    let bad = |array: ArrayRef, place: &str, found: &str, first: &str| {
        reads(
            &file(vec![("score", array)]),
            &format!(
                "{{\"score\":{first}}}\n`a.parquet`: row 2: the column `{place}` holds {found}, which JSON cannot express; \
                 replace it by null"
            ),
        );
    };
    bad(column(Float64Array::from(vec![0.5, f64::NAN, 1.0])), "score", "NaN", "0.5");
    bad(column(Float32Array::from(vec![0.5, f32::INFINITY, 1.0])), "score", "an infinite number", "0.5");
    bad(column(Date32Array::from(vec![0, i32::MAX])), "score", "a time outside of all calendars", "\"1970-01-01\"");
    let mut lists = ListBuilder::new(arrow_array::builder::Float64Builder::new());
    lists.append_value([Some(0.5)]);
    lists.append_value([Some(0.5), Some(f64::NEG_INFINITY)]);
    bad(column(lists.finish()), "score[]", "an infinite number", "[0.5]");
}

#[test]
fn compressed_files_are_read() {
    let gzip = Compression::GZIP(GzipLevel::default());
    let zstd = Compression::ZSTD(ZstdLevel::default());
    for compression in [Compression::SNAPPY, gzip, zstd, Compression::LZ4, Compression::LZ4_RAW] {
        let text = "a".repeat(200);
        let bytes = written(vec![("a", column(StringArray::from(vec![text.as_str(); 3])))], 2, compression);
        reads(&bytes, &format!("{{\"a\":\"{text}\"}}\n").repeat(3));
    }
}

#[test]
fn a_file_may_have_no_rows() {
    reads(&file(vec![("a", column(Int64Array::from(Vec::<i64>::new())))]), "");
}

#[test]
fn a_name_that_comes_twice_is_written_twice() {
    reads(
        &file(vec![("a", column(Int64Array::from(vec![1]))), ("a", column(Int64Array::from(vec![2])))]),
        "{\"a\":1,\"a\":2}\n",
    );
}

#[test]
fn a_row_has_a_longest_length() {
    let (short, long) = ("a".repeat(900), "a".repeat(1000));
    let bytes = file(vec![("a", column(StringArray::from(vec![short.as_str(), &long, &short])))]);
    in_a_file(&bytes, |path| {
        let (chunks, read) = chunks(path, RowLimits { chunk: 5000, row: 1000 });
        assert_eq!((chunks.len(), chunks[0].rows.len()), (1, 1));
        let error = read.expect_err("a long row");
        assert_eq!(error.to_string(), "`a.parquet`: row 2 is longer than 1000 bytes, the most a row may have");
    });
}

#[test]
fn a_sample_is_the_start_of_a_file() {
    let numbers: Vec<i64> = (0..5000).collect();
    let bytes = written(vec![("n", column(Int64Array::from(numbers)))], 3000, Compression::UNCOMPRESSED);
    in_a_file(&bytes, |path| {
        let first = sample(path, Some(RowFormat::Parquet), &[], SampleLimits::default()).expect("a sample");
        assert_eq!((first.rows.len(), first.more, first.repeated_key), (100, true, None));
        assert_eq!(first.rows[99].to_json(), "{\"n\":99}");
        let small = sample(path, None, &[], SampleLimits { rows: 100, bytes: 50 }).expect("a sample");
        assert_eq!((small.rows.len(), small.more), (7, true));
        let none = sample(path, None, &[], SampleLimits { rows: 100, bytes: 6 });
        assert!(matches!(none, Err(SampleError::RowTooLong { limit: 6 })), "{none:?}");
        let none = sample(path, None, &[], SampleLimits { rows: 0, bytes: 50 }).expect("a sample");
        assert_eq!((none.rows.len(), none.more), (0, true));
        let (chunks, read) = chunks(path, RowLimits::default());
        assert_eq!((chunks.len(), read.expect("it is read").rows), (1, 5000));
    });
}

#[test]
fn standard_input_is_refused() {
    let from = RowSource::StandardInput;
    let records = Records {
        from,
        format: Some(RowFormat::Parquet),
        id: None,
        sheet: None,
        types: Vec::new(),
        tags: Vec::new(),
        is_runs: false,
        defaults: Default::default(),
    };
    let mut each = |_| ControlFlow::Continue(());
    let read = read_all_within(&[records], &mut std::io::empty(), RowLimits::default(), &mut each);
    assert_eq!(
        read.unwrap_err().to_string(),
        "standard input: parquet cannot be read from standard input, because its end is read first; name a file"
    );
}

#[test]
fn what_is_not_parquet_says_so() {
    let refused = |bytes: &[u8], why: &str| {
        in_a_file(bytes, |path| {
            let error = chunks(path, RowLimits::default()).1.expect_err("not a file of this format");
            assert_eq!(error.to_string(), format!("`a.parquet`: it cannot be read as Parquet: {why}"));
        });
    };
    let whole = file(vec![("a", column(Int64Array::from(vec![1, 2, 3])))]);
    refused(b"", "it is too short");
    refused(b"{\"a\": 1}\n{\"a\": 2}\n", "it does not begin as such a file does");
    refused(&whole[..100], "it does not end as such a file does; it may be cut off");
    refused(&[&whole[..whole.len() - 4], b"PARE"].concat(), "it is encrypted");
}

/// Whatever bytes are wrong, reading ends in rows or in an error.
#[test]
fn damaged_files_end_in_rows_or_in_an_error() {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for n in 0..3 {
        lists.append_value([Some(format!("item {n}")), None]);
    }
    let decimals = Decimal128Array::from(vec![1, 2, 3]).with_precision_and_scale(20, 2).expect("decimals");
    let whole = written(
        vec![
            ("a", column(Int64Array::from(vec![Some(1), None, Some(3)]))),
            ("b", column(lists.finish())),
            ("c", column(decimals)),
            ("d", column(TimestampMillisecondArray::from(vec![1, 2, 3]))),
        ],
        2,
        Compression::SNAPPY,
    );
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("a.parquet");
    for at in 0..whole.len() {
        for flipped in [0x01, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= flipped;
            std::fs::write(&path, &bytes).expect("it is writable");
            let (chunks, read) = chunks(&path, RowLimits::default());
            let n_rows: usize = chunks.iter().map(|it| it.rows.len()).sum();
            assert!(n_rows <= 1000 || read.is_err(), "byte {at}: {n_rows} rows");
        }
    }
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).expect("it is writable");
        assert!(chunks(&path, RowLimits::default()).1.is_err(), "the first {length} bytes are a file");
    }
}
