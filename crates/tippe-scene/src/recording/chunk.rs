//! Chunks: tag, length, checksum, payload; and the little-endian numbers inside.
//!
//! Reads: bytes.  Writes: bytes.
//! Called by: `recording::read`, `recording::write`.
//! Source: the layout follows PNG's; CRC-32 of ISO 3309 (polynomial 0xEDB88320, reflected), over tag, length and payload.

use std::io::{self, Write};

/// Bytes before the payload of a chunk: tag, length, checksum.
pub(super) const HEAD_BYTES: usize = 12;

pub(super) const HEAD: [u8; 4] = *b"HEAD";
pub(super) const BODY: [u8; 4] = *b"BODY";
pub(super) const POSE: [u8; 4] = *b"POSE";
pub(super) const CONT: [u8; 4] = *b"CONT";
pub(super) const EVNT: [u8; 4] = *b"EVNT";
pub(super) const CERT: [u8; 4] = *b"CERT";
pub(super) const JOIN: [u8; 4] = *b"JOIN";
pub(super) const REAC: [u8; 4] = *b"REAC";
pub(super) const TREE: [u8; 4] = *b"TREE";
pub(super) const DOZE: [u8; 4] = *b"DOZE";
pub(super) const LOCK: [u8; 4] = *b"LOCK";
pub(super) const WALL: [u8; 4] = *b"WALL";
pub(super) const SNAP: [u8; 4] = *b"SNAP";
pub(super) const QNAM: [u8; 4] = *b"QNAM";
pub(super) const QVAL: [u8; 4] = *b"QVAL";
pub(super) const DONE: [u8; 4] = *b"DONE";

/// Bytes that the checksum takes at once.
const CRC_LANES: usize = 8;
/// `CRC_TABLES[k][x]`: the checksum of the byte x followed by k zero bytes.
const CRC_TABLES: [[u32; 256]; CRC_LANES] = crc_tables();

const fn crc_tables() -> [[u32; 256]; CRC_LANES] {
    let mut tables = [[0; 256]; CRC_LANES];
    let mut i = 0;
    while i < 256 {
        let mut c = i as u32;
        let mut k = 0;
        while k < 8 {
            c = if c & 1 == 1 {
                0xEDB8_8320 ^ (c >> 1)
            } else {
                c >> 1
            };
            k += 1;
        }
        tables[0][i] = c;
        i += 1;
    }
    let mut n = 256;
    while n < 256 * CRC_LANES {
        let before = tables[n / 256 - 1][n % 256];
        tables[n / 256][n % 256] = tables[0][(before & 0xFF) as usize] ^ (before >> 8);
        n += 1;
    }
    tables
}

fn crc32(parts: &[&[u8]]) -> u32 {
    let mut c = u32::MAX;
    for part in parts {
        let (eights, rest) = part.as_chunks::<CRC_LANES>();
        for eight in eights {
            let word = u64::from_le_bytes(*eight) ^ u64::from(c);
            c = 0;
            for (lane, byte) in word.to_le_bytes().into_iter().enumerate() {
                c ^= CRC_TABLES[CRC_LANES - 1 - lane][byte as usize];
            }
        }
        for byte in rest {
            c = CRC_TABLES[0][((c ^ u32::from(*byte)) & 0xFF) as usize] ^ (c >> 8);
        }
    }
    !c
}

/// Writes one chunk.
pub(super) fn write_chunk(out: &mut impl Write, tag: [u8; 4], payload: &[u8]) -> io::Result<()> {
    let too_long = |_| io::Error::new(io::ErrorKind::InvalidInput, "a chunk holds less than 4 GB");
    let length = u32::try_from(payload.len())
        .map_err(too_long)?
        .to_le_bytes();
    out.write_all(&tag)?;
    out.write_all(&length)?;
    out.write_all(&crc32(&[&tag, &length, payload]).to_le_bytes())?;
    out.write_all(payload)
}

/// What stands at an offset.
pub(super) enum Found<'a> {
    /// A whole chunk.
    Chunk {
        tag: [u8; 4],
        payload: &'a [u8],
        end: usize,
    },
    /// The end of the file, exactly.
    End,
    /// The file ends inside the chunk.
    CutOff,
    /// The checksum is wrong.
    Damaged,
}

/// Looks at the chunk that begins at an offset.
pub(super) fn find_chunk(bytes: &[u8], offset: usize) -> Found<'_> {
    let rest = bytes.get(offset..).unwrap_or_default();
    if rest.is_empty() {
        return Found::End;
    }
    let word = |i: usize| rest.get(i..i + 4).and_then(|b| <[u8; 4]>::try_from(b).ok());
    let (Some(tag), Some(length), Some(crc)) = (word(0), word(4), word(8)) else {
        return Found::CutOff;
    };
    let size = u32::from_le_bytes(length) as usize;
    let Some(payload) = rest.get(HEAD_BYTES..).and_then(|p| p.get(..size)) else {
        return Found::CutOff;
    };
    if crc32(&[&tag, &length, payload]) != u32::from_le_bytes(crc) {
        return Found::Damaged;
    }
    Found::Chunk {
        tag,
        payload,
        end: offset + HEAD_BYTES + size,
    }
}

/// A payload being written.
#[derive(Default)]
pub(super) struct Payload(pub(super) Vec<u8>);

impl Payload {
    pub(super) fn u8(&mut self, x: u8) {
        self.0.push(x);
    }

    pub(super) fn u32(&mut self, x: u32) {
        self.0.extend(x.to_le_bytes());
    }

    pub(super) fn u64(&mut self, x: u64) {
        self.0.extend(x.to_le_bytes());
    }

    pub(super) fn f32(&mut self, x: f32) {
        self.0.extend(x.to_le_bytes());
    }

    pub(super) fn f64(&mut self, x: f64) {
        self.0.extend(x.to_le_bytes());
    }
}

/// A payload being read; `None` past its end.
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n)?;
        self.0 = tail;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[x]| x)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn f32(&mut self) -> Option<f32> {
        self.array().map(f32::from_le_bytes)
    }

    pub(super) fn f64(&mut self) -> Option<f64> {
        self.array().map(f64::from_le_bytes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(crc32(&[b"123456789"]), 0xCBF4_3926);
        assert_eq!(crc32(&[b"1234", b"", b"56789"]), 0xCBF4_3926);
        // Long enough for several bytes at once, cut at odd places.
        let text = b"The quick brown fox jumps over the lazy dog";
        assert_eq!(crc32(&[text]), 0x414F_A339);
        assert_eq!(crc32(&[&text[..19], &text[19..]]), 0x414F_A339);
    }
}
