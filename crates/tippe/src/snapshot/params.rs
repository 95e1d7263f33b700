//! Encoding of a method: its byte, what its table looks like, then its parameters in the order of the table.
//!
//! Reads: Method or bytes.  Writes: bytes or Method.
//! Called by: `snapshot`.
//! Source: `method::params`; a table of other names or kinds is refused, not misread.

use super::codec::{Code, Input, Output};
use crate::error::SnapshotError;
use crate::method::{Method, Param, ParamKind, ParamValue};

impl Code for Method {
    fn write(&self, out: &mut Output) {
        let params = self.params();
        self.tag().write(out);
        params.table().fingerprint().write(out);
        for i in 0..params.table().params.len() {
            write_value(params.value(i), out);
        }
    }

    fn read(input: &mut Input<'_>) -> Result<Self, SnapshotError> {
        let Some(mut method) = Self::from_tag(u8::read(input)?) else {
            return input.corrupt();
        };
        let table = method.params().table();
        if u64::read(input)? != table.fingerprint() {
            return Err(SnapshotError::Parameters {
                method: table.method,
            });
        }
        for (i, param) in table.params.iter().enumerate() {
            let value = read_value(param, input)?;
            if !method.params_mut().set_value(i, value) {
                return input.corrupt();
            }
        }
        match method.check() {
            Ok(()) => Ok(method),
            Err(_) => input.corrupt(),
        }
    }
}

/// A byte that says whether there is a value, then the value.
fn write_value(value: ParamValue, out: &mut Output) {
    (value != ParamValue::None).write(out);
    match value {
        ParamValue::Number(x) => x.write(out),
        ParamValue::Whole(n) => n.write(out),
        ParamValue::Switch(on) => on.write(out),
        ParamValue::Word(word) => word.to_owned().write(out),
        ParamValue::None => {}
    }
}

fn read_value(param: &Param, input: &mut Input<'_>) -> Result<ParamValue, SnapshotError> {
    if !bool::read(input)? {
        return Ok(ParamValue::None);
    }
    Ok(match param.kind {
        ParamKind::Number => ParamValue::Number(f64::read(input)?),
        ParamKind::Whole(_) => ParamValue::Whole(u64::read(input)?),
        ParamKind::Switch => ParamValue::Switch(bool::read(input)?),
        ParamKind::Word(words) => {
            let found = String::read(input)?;
            match words.iter().find(|w| **w == found) {
                Some(word) => ParamValue::Word(word),
                None => return input.corrupt(),
            }
        }
    })
}
