//! The model file: safetensors, quantised (models/README.md). The piece table stays quantised in place and is read row
//! by row; only the dense layers are held as f32 (14 MB).

use std::borrow::Cow;
use std::ops::Range;

use half::f16;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorInfo};

use super::ModelError;
use super::charsmap::Charsmap;
use super::matmul::Matrix;
use super::tokenizer::Tokenizer;

/// Columns of the piece table.
pub(super) const WIDTH: usize = 512;

/// The file's bytes and where each tensor lies in them.
pub(super) struct ModelFile {
    bytes: Cow<'static, [u8]>,
    tensors: Vec<(String, TensorInfo)>,
    body: usize,
}

impl ModelFile {
    pub(super) fn parse(bytes: Cow<'static, [u8]>) -> Result<Self, ModelError> {
        let (header, metadata) = SafeTensors::read_metadata(&bytes).map_err(|_| ModelError::Format)?;
        // Eight bytes tell the header's length.
        let body = header + 8;
        let tensors = metadata.tensors().into_iter().map(|(name, info)| (name, info.clone())).collect();
        Ok(Self { bytes, tensors, body })
    }

    fn range(&self, name: &str, dtype: Dtype) -> Result<(Range<usize>, &[usize]), ModelError> {
        let (_, info) = self.tensors.iter().find(|(known, _)| known == name).ok_or(ModelError::Format)?;
        let range = self.body + info.data_offsets.0..self.body + info.data_offsets.1;
        if info.dtype != dtype || range.end > self.bytes.len() {
            return Err(ModelError::Format);
        }
        Ok((range, &info.shape))
    }

    fn raw(&self, name: &str, dtype: Dtype) -> Result<&[u8], ModelError> {
        Ok(&self.bytes[self.range(name, dtype)?.0])
    }

    pub(super) fn floats(&self, name: &str) -> Result<Vec<f32>, ModelError> {
        let raw = self.raw(name, Dtype::F32)?;
        Ok(raw.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
    }

    /// A vector of exactly `len` numbers.
    pub(super) fn vector(&self, name: &str, len: usize) -> Result<Vec<f32>, ModelError> {
        let values = self.floats(name)?;
        if values.len() == len { Ok(values) } else { Err(ModelError::Format) }
    }

    /// A dense layer: i8, with one scale per column.
    pub(super) fn matrix(&self, name: &str, inputs: usize, outputs: usize) -> Result<Matrix, ModelError> {
        let scale = self.vector(&format!("{name}.scale"), outputs)?;
        let (range, shape) = self.range(name, Dtype::I8)?;
        if *shape != [inputs, outputs] {
            return Err(ModelError::Format);
        }
        let mut data = Vec::with_capacity(inputs * outputs);
        for row in self.bytes[range].chunks_exact(outputs) {
            data.extend(row.iter().zip(&scale).map(|(&code, scale)| f32::from(code.cast_signed()) * scale));
        }
        Ok(Matrix { data, inputs, outputs })
    }

    pub(super) fn tokenizer(&self) -> Result<Tokenizer, ModelError> {
        let text = self.raw("pieces.bytes", Dtype::U8)?;
        let mut pieces: Vec<&[u8]> = Vec::new();
        let mut start = 0;
        for end in self.raw("pieces.ends", Dtype::U32)?.chunks_exact(4) {
            let end = u32::from_le_bytes([end[0], end[1], end[2], end[3]]) as usize;
            pieces.push(text.get(start..end).ok_or(ModelError::Format)?);
            start = end;
        }
        let charsmap = Charsmap::parse(self.raw("charsmap", Dtype::U8)?).ok_or(ModelError::Format)?;
        let unknown = self.vector("pieces.unknown_score", 1)?[0];
        Tokenizer::new(charsmap, &pieces, self.floats("pieces.scores")?, unknown).ok_or(ModelError::Format)
    }

    /// The piece table; takes the bytes along.
    pub(super) fn into_table(self) -> Result<Table, ModelError> {
        let levels = self.floats("table.levels")?;
        let levels: [f32; 16] = levels.try_into().map_err(|_| ModelError::Format)?;
        let scale = self.range("table.scale", Dtype::F16)?.0;
        let (codes, shape) = self.range("table.codes", Dtype::U8)?;
        if *shape != [scale.len() / 2, WIDTH / 2] {
            return Err(ModelError::Format);
        }
        Ok(Table { bytes: self.bytes, codes, scale, levels })
    }
}

/// One row of 4-bit codes and an f16 scale per piece.
pub(super) struct Table {
    bytes: Cow<'static, [u8]>,
    codes: Range<usize>,
    scale: Range<usize>,
    levels: [f32; 16],
}

impl Table {
    /// How many pieces there are.
    pub(super) fn len(&self) -> usize {
        self.scale.len() / 2
    }

    /// Writes the row of `id` (below [`Table::len`]) into `out` ([`WIDTH`] numbers).
    pub(super) fn read(&self, id: u32, out: &mut [f32]) {
        let id = id as usize;
        let scale = &self.bytes[self.scale.clone()][2 * id..2 * id + 2];
        let scale = f16::from_le_bytes([scale[0], scale[1]]).to_f32();
        let levels = self.levels.map(|level| level * scale);
        let codes = &self.bytes[self.codes.clone()][id * WIDTH / 2..(id + 1) * WIDTH / 2];
        for (pair, &code) in out.chunks_exact_mut(2).zip(codes) {
            pair[0] = levels[usize::from(code & 15)];
            pair[1] = levels[usize::from(code >> 4)];
        }
    }
}
