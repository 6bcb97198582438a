//! Numbers, booleans, dates and times of a table as text.

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::{as_datetime, as_time};
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    Float16Type, Float32Type, Float64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrowPrimitiveType, downcast_integer_array};
use arrow_schema::{DataType, TimeUnit};

/// The value at `index`, which is not null, as text.
///
/// Dates and times are in the notation of ISO 8601: `2024-05-01`, `2024-05-01T12:30:00.250`,
/// `12:30:00`. A timestamp with any time zone is written in UTC, with a `Z`. Bytes of a fixed
/// length are hexadecimal. `None` for dates out of range and for other types, such as lists and
/// intervals.
pub fn value_text(array: &dyn Array, index: usize) -> Option<String> {
    let text = match array.data_type() {
        DataType::Boolean => array.as_boolean().value(index).to_string(),
        DataType::Float16 => array.as_primitive::<Float16Type>().value(index).to_string(),
        DataType::Float32 => float(array.as_primitive::<Float32Type>().value(index)),
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(index)),
        DataType::Decimal32(..) => array.as_primitive::<Decimal32Type>().value_as_string(index),
        DataType::Decimal64(..) => array.as_primitive::<Decimal64Type>().value_as_string(index),
        DataType::Decimal128(..) => array
            .as_primitive::<Decimal128Type>()
            .value_as_string(index),
        DataType::Decimal256(..) => array
            .as_primitive::<Decimal256Type>()
            .value_as_string(index),
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>().value(index);
            as_datetime::<Date32Type>(days.into())?.date().to_string()
        }
        DataType::Date64 => moment::<Date64Type>(array, index)?,
        DataType::Time32(TimeUnit::Second) => {
            let time = array.as_primitive::<Time32SecondType>().value(index);
            format!("{:?}", as_time::<Time32SecondType>(time.into())?)
        }
        DataType::Time32(_) => {
            let time = array.as_primitive::<Time32MillisecondType>().value(index);
            format!("{:?}", as_time::<Time32MillisecondType>(time.into())?)
        }
        DataType::Time64(TimeUnit::Microsecond) => time::<Time64MicrosecondType>(array, index)?,
        DataType::Time64(_) => time::<Time64NanosecondType>(array, index)?,
        DataType::Timestamp(unit, zone) => {
            let text = match unit {
                TimeUnit::Second => moment::<TimestampSecondType>(array, index)?,
                TimeUnit::Millisecond => moment::<TimestampMillisecondType>(array, index)?,
                TimeUnit::Microsecond => moment::<TimestampMicrosecondType>(array, index)?,
                TimeUnit::Nanosecond => moment::<TimestampNanosecondType>(array, index)?,
            };
            match zone {
                Some(_) => text + "Z",
                None => text,
            }
        }
        DataType::FixedSizeBinary(_) => hexadecimal(array.as_fixed_size_binary().value(index)),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary_opt()?;
            let key = *dictionary.normalized_keys().get(index)?;
            let values = dictionary.values();
            let has_value = key < values.len() && values.is_valid(key);
            return has_value.then(|| value_text(values.as_ref(), key))?;
        }
        kind if kind.is_integer() => downcast_integer_array!(
            array => array.value(index).to_string(),
            _ => return None
        ),
        _ => return None,
    };
    Some(text)
}

fn float(value: impl ryu::Float) -> String {
    ryu::Buffer::new().format(value).to_owned()
}

/// A date with the time of day.
fn moment<T: ArrowPrimitiveType<Native = i64>>(array: &dyn Array, index: usize) -> Option<String> {
    let value = array.as_primitive::<T>().value(index);
    Some(format!("{:?}", as_datetime::<T>(value)?))
}

/// A time of day.
fn time<T: ArrowPrimitiveType<Native = i64>>(array: &dyn Array, index: usize) -> Option<String> {
    let value = array.as_primitive::<T>().value(index);
    Some(format!("{:?}", as_time::<T>(value)?))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        ArrayRef, BooleanArray, Date32Array, Date64Array, Decimal128Array, DictionaryArray,
        FixedSizeBinaryArray, Float32Array, Float64Array, Int8Array, ListArray,
        Time32MillisecondArray, Time64NanosecondArray, TimestampMicrosecondArray,
        TimestampMillisecondArray, TimestampSecondArray, UInt64Array,
    };

    use super::*;

    #[test]
    fn values_are_written_in_full() {
        let list = ListArray::from_iter_primitive::<Date32Type, _, _>([Some([Some(1)])]);
        let decimal = Decimal128Array::from(vec![-12_345]);
        let values: [(ArrayRef, Option<&str>); 22] = [
            (Arc::new(BooleanArray::from(vec![true])), Some("true")),
            (Arc::new(Int8Array::from(vec![-128])), Some("-128")),
            (
                Arc::new(UInt64Array::from(vec![u64::MAX])),
                Some("18446744073709551615"),
            ),
            (Arc::new(Float32Array::from(vec![0.1])), Some("0.1")),
            (Arc::new(Float64Array::from(vec![1.0])), Some("1.0")),
            (Arc::new(Float64Array::from(vec![1e300])), Some("1e300")),
            (
                Arc::new(decimal.with_precision_and_scale(9, 2).unwrap()),
                Some("-123.45"),
            ),
            (
                Arc::new(Date32Array::from(vec![19_844])),
                Some("2024-05-01"),
            ),
            (Arc::new(Date32Array::from(vec![-1])), Some("1969-12-31")),
            (Arc::new(Date32Array::from(vec![i32::MAX])), None),
            (
                Arc::new(Date64Array::from(vec![1_714_521_600_000])),
                Some("2024-05-01T00:00:00"),
            ),
            (
                Arc::new(TimestampMillisecondArray::from(vec![1_714_566_600_250])),
                Some("2024-05-01T12:30:00.250"),
            ),
            (
                Arc::new(TimestampMicrosecondArray::from(vec![1]).with_timezone("UTC")),
                Some("1970-01-01T00:00:00.000001Z"),
            ),
            (
                Arc::new(TimestampSecondArray::from(vec![1_714_566_600]).with_timezone("+02:00")),
                Some("2024-05-01T12:30:00Z"),
            ),
            (
                Arc::new(TimestampSecondArray::from(vec![0]).with_timezone("Europe/Berlin")),
                Some("1970-01-01T00:00:00Z"),
            ),
            (Arc::new(TimestampSecondArray::from(vec![i64::MAX])), None),
            (
                Arc::new(Time32MillisecondArray::from(vec![45_000_001])),
                Some("12:30:00.001"),
            ),
            (
                Arc::new(Time64NanosecondArray::from(vec![0])),
                Some("00:00:00"),
            ),
            (Arc::new(Time64NanosecondArray::from(vec![-1])), None),
            (
                Arc::new(FixedSizeBinaryArray::try_from_iter([[0u8, 255, 16]].iter()).unwrap()),
                Some("00ff10"),
            ),
            (
                Arc::new(DictionaryArray::new(
                    Int8Array::from(vec![1]),
                    Arc::new(Date32Array::from(vec![0, 19_844])),
                )),
                Some("2024-05-01"),
            ),
            (Arc::new(list), None),
        ];
        for (array, expected) in values {
            let kind = array.data_type().clone();
            assert_eq!(value_text(array.as_ref(), 0).as_deref(), expected, "{kind}");
        }
    }
}
