//! I/Os to be issued again, read from a Parquet file while they are issued.
//!
//! Columns, none of them with missing values: `due_ns` (from the opening of the window, ascending), `operation` (0 read,
//! 1 write, 2 trim, 3 flush), `offset_bytes`, `length_bytes`.

use std::fs::File;
use std::path::Path;

use assay_core::contract::{Bytes, Nanos};
use assay_core::recorded::{CHUNK, RecordedIo};
use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

use crate::OPERATIONS;

const COLUMNS: [&str; 4] = ["due_ns", "operation", "offset_bytes", "length_bytes"];

/// A file of I/Os that is being read, chunk by chunk.
pub struct ReplayFile {
    reader: SerializedFileReader<File>,
    group: usize,
    columns: Option<GroupColumns>,
}

struct GroupColumns {
    left: usize,
    due: ColumnReaderImpl<Int64Type>,
    operation: ColumnReaderImpl<Int32Type>,
    offset: ColumnReaderImpl<Int64Type>,
    length: ColumnReaderImpl<Int64Type>,
}

impl ReplayFile {
    /// Open a file.
    ///
    /// # Errors
    /// Where it cannot be read, or has other columns.
    pub fn open(path: &Path) -> Result<Self, ParquetError> {
        let reader = SerializedFileReader::new(File::open(path)?)?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let found = schema.columns().iter().map(|column| column.name()).collect::<Vec<_>>();
        if found != COLUMNS || schema.columns().iter().any(|column| column.max_def_level() > 0) {
            return Err(ParquetError::General("it has not the columns of a replay".to_owned()));
        }
        Ok(Self { reader, group: 0, columns: None })
    }

    /// The next I/Os, at most [`CHUNK`] of them; none at the end of the file.
    ///
    /// # Errors
    /// Where the file is damaged.
    pub fn next_chunk(&mut self) -> Result<Vec<RecordedIo>, ParquetError> {
        loop {
            match &mut self.columns {
                Some(columns) if columns.left > 0 => return columns.read(),
                _ if self.group == self.reader.num_row_groups() => return Ok(Vec::new()),
                _ => {
                    self.columns = Some(GroupColumns::open(self.reader.get_row_group(self.group)?.as_ref())?);
                    self.group += 1;
                }
            }
        }
    }
}

impl GroupColumns {
    fn open(group: &dyn RowGroupReader) -> Result<Self, ParquetError> {
        Ok(Self {
            left: usize::try_from(group.metadata().num_rows()).map_err(|_| damaged())?,
            due: get_typed_column_reader(group.get_column_reader(0)?),
            operation: get_typed_column_reader(group.get_column_reader(1)?),
            offset: get_typed_column_reader(group.get_column_reader(2)?),
            length: get_typed_column_reader(group.get_column_reader(3)?),
        })
    }

    fn read(&mut self) -> Result<Vec<RecordedIo>, ParquetError> {
        let count = self.left.min(CHUNK);
        let (due, offset) = (read(&mut self.due, count)?, read(&mut self.offset, count)?);
        let (operation, length) = (read(&mut self.operation, count)?, read(&mut self.length, count)?);
        self.left -= count;
        (0..count).map(|nth| recorded(due[nth], operation[nth], offset[nth], length[nth])).collect()
    }
}

fn recorded(due: i64, operation: i32, offset: i64, length: i64) -> Result<RecordedIo, ParquetError> {
    let number = |value: i64| u64::try_from(value).map_err(|_| damaged());
    let direction = usize::try_from(operation).ok().and_then(|place| OPERATIONS.get(place)).ok_or_else(damaged)?;
    Ok(RecordedIo {
        due: Nanos(number(due)?),
        direction: *direction,
        offset: Bytes(number(offset)?),
        length: Bytes(number(length)?),
    })
}

fn read<T: DataType>(column: &mut ColumnReaderImpl<T>, count: usize) -> Result<Vec<T::T>, ParquetError> {
    let mut values = Vec::with_capacity(count);
    while values.len() < count {
        let (records, _, _) = column.read_records(count - values.len(), None, None, &mut values)?;
        if records == 0 {
            return Err(damaged());
        }
    }
    Ok(values)
}

fn damaged() -> ParquetError {
    ParquetError::General("it is damaged".to_owned())
}
