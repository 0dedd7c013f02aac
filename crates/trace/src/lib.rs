//! Every completion of a sequence in a Parquet file, written while the sequence runs.
//!
//! Columns: `at_ns` (when it completed, on the device's clock), `latency_ns`, `operation` (0 read, 1 write, 2 trim, 3
//! flush), `step` (index in the sequence) and, on request, `offset_bytes` and `length_bytes`. Completions of one thread
//! are in order of time; those of several threads come in chunks. Response times and times are split into their bytes
//! before they are compressed, which suits numbers whose high bytes repeat.

pub mod replay;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use assay_core::capture::Captured;
use assay_core::contract::Direction;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

/// Rows that are written together; they are held in memory until then.
const GROUP_ROWS: usize = 1 << 20;

/// The operations of files by their numbers.
const OPERATIONS: [Direction; 4] = [Direction::Read, Direction::Write, Direction::Trim, Direction::Flush];

const TIMES: &str = "required int64 at_ns; required int64 latency_ns; required int32 operation; required int32 step;";
const ADDRESSES: &str = "required int64 offset_bytes; required int32 length_bytes;";

/// A trace that is being written.
pub struct TraceFile {
    writer: SerializedFileWriter<File>,
    addresses: bool,
    rows: Columns,
    count: u64,
}

#[derive(Default)]
struct Columns {
    at: Vec<i64>,
    latency: Vec<i64>,
    operation: Vec<i32>,
    step: Vec<i32>,
    offset: Vec<i64>,
    length: Vec<i32>,
}

impl TraceFile {
    /// Begin a file that is not there yet; `addresses` says whether places and sizes are kept.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn create(path: &Path, addresses: bool) -> Result<Self, ParquetError> {
        let columns = if addresses { ADDRESSES } else { "" };
        let schema = Arc::new(parse_message_type(&format!("message completions {{ {TIMES} {columns} }}"))?);
        let writer = SerializedFileWriter::new(File::create_new(path)?, schema, Arc::new(properties()))?;
        Ok(Self { writer, addresses, rows: Columns::default(), count: 0 })
    }

    /// Append completions.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&mut self, captured: &[Captured]) -> Result<(), ParquetError> {
        for row in captured {
            self.rows.push(row, self.addresses);
        }
        if self.rows.at.len() >= GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    /// Write what is left, and the end of the file without which nothing can be read; returns the number of rows.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn close(mut self) -> Result<u64, ParquetError> {
        self.write_group()?;
        self.writer.close()?;
        Ok(self.count)
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        if self.rows.at.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        let rows = &self.rows;
        write_column::<Int64Type>(&mut group, &rows.at)?;
        write_column::<Int64Type>(&mut group, &rows.latency)?;
        write_column::<Int32Type>(&mut group, &rows.operation)?;
        write_column::<Int32Type>(&mut group, &rows.step)?;
        if self.addresses {
            write_column::<Int64Type>(&mut group, &rows.offset)?;
            write_column::<Int32Type>(&mut group, &rows.length)?;
        }
        group.close()?;
        self.count += self.rows.at.len() as u64;
        self.rows.clear();
        Ok(())
    }
}

impl Columns {
    fn push(&mut self, row: &Captured, addresses: bool) {
        self.at.push(row.at.0.cast_signed());
        self.latency.push(row.latency.0.cast_signed());
        self.operation.push(number_of(row.direction));
        self.step.push(row.step.cast_signed());
        if addresses {
            self.offset.push(row.offset.0.cast_signed());
            self.length.push(row.length.cast_signed());
        }
    }

    fn clear(&mut self) {
        self.at.clear();
        self.latency.clear();
        self.operation.clear();
        self.step.clear();
        self.offset.clear();
        self.length.clear();
    }
}

fn number_of(direction: Direction) -> i32 {
    let found = (0..).zip(OPERATIONS).find(|(_, known)| *known == direction);
    found.expect("every operation has a number").0
}

fn properties() -> WriterProperties {
    let level = ZstdLevel::try_new(1).expect("level 1 exists");
    let split = ["latency_ns", "offset_bytes"].map(ColumnPath::from);
    let delta = ["at_ns", "step"].map(ColumnPath::from);
    let base = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_dictionary_enabled(false)
        .set_column_dictionary_enabled(ColumnPath::from("length_bytes"), true)
        .set_column_dictionary_enabled(ColumnPath::from("operation"), true)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_max_row_group_row_count(None);
    let base = split.into_iter().fold(base, |it, name| it.set_column_encoding(name, Encoding::BYTE_STREAM_SPLIT));
    delta.into_iter().fold(base, |it, name| it.set_column_encoding(name, Encoding::DELTA_BINARY_PACKED)).build()
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("the schema has a column for every vector");
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
}
