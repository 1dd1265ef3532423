//! The encoding of protocol buffers: fields with numbers, read where they stand. What does not fit is an error with its byte.

/// A message that is being read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message<'b> {
    bytes: &'b [u8],
    /// Where in the file it begins.
    offset: usize,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Field<'b> {
    Integer(u64),
    Fixed(u64),
    Bytes(Message<'b>),
}

impl<'b> Message<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Message<'b> {
        Message { bytes, offset: 0 }
    }

    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    pub(crate) fn bytes(&self) -> &'b [u8] {
        self.bytes
    }

    pub(crate) fn text(&self) -> Result<String, String> {
        match std::str::from_utf8(self.bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) => Err(format!("byte {}: text is not UTF-8", self.offset + error.valid_up_to())),
        }
    }

    /// The next field with its number; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, Field<'b>)>, String> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let at = self.offset;
        let tag = self.varint()?;
        let field = match tag & 7 {
            0 => Field::Integer(self.varint()?),
            1 => Field::Fixed(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = self.varint()?;
                Field::Bytes(self.take(length)?)
            }
            5 => Field::Fixed(u32::from_le_bytes(self.array()?).into()),
            other => return Err(format!("byte {at}: there is no kind {other} of fields")),
        };
        if tag >> 3 == 0 {
            return Err(format!("byte {at}: a field has the number 0"));
        }
        Ok(Some((tag >> 3, field)))
    }

    /// A message with its length before it.
    pub(crate) fn delimited(&mut self) -> Result<Option<Message<'b>>, String> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let length = self.varint()?;
        self.take(length).map(Some)
    }

    fn varint(&mut self) -> Result<u64, String> {
        let mut number = 0_u64;
        for (ix, byte) in self.bytes.iter().take(10).enumerate() {
            number |= u64::from(byte & 0x7f) << (7 * ix);
            if byte & 0x80 == 0 {
                self.skip(ix + 1);
                return Ok(number);
            }
        }
        Err(format!("byte {}: a number does not end", self.offset))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let array = self.bytes.first_chunk::<N>().copied();
        let array = array.ok_or_else(|| format!("byte {}: it is cut off", self.offset))?;
        self.skip(N);
        Ok(array)
    }

    fn take(&mut self, length: u64) -> Result<Message<'b>, String> {
        let left = self.bytes.len();
        match usize::try_from(length).ok().filter(|it| *it <= left) {
            Some(length) => {
                let part = Message { bytes: &self.bytes[..length], offset: self.offset };
                self.skip(length);
                Ok(part)
            }
            None => {
                Err(format!("byte {}: it is cut off: {length} bytes are announced, and {left} are there", self.offset))
            }
        }
    }

    fn skip(&mut self, n: usize) {
        self.bytes = &self.bytes[n..];
        self.offset += n;
    }
}
