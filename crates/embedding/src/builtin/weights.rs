//! The model file: safetensors, quantised (models/README.md). The piece table stays quantised in place and is read row
//! by row; only the dense layers are held as f32 (14 MB).

use std::borrow::Cow;
use std::ops::Range;

use half::f16;
use safetensors::tensor::Dtype;

use super::ModelError;
use super::charsmap::Charsmap;
use super::tokenizer::Tokenizer;
use anamnesis_neural::file::{TensorError, TensorFile};
use anamnesis_neural::matmul::Matrix;

/// Columns of the piece table.
pub(super) const WIDTH: usize = 512;

/// Which tensor is wrong does not matter: the file is one of a known SHA-256, or none.
impl From<TensorError> for ModelError {
    fn from(_: TensorError) -> Self {
        Self::Format
    }
}

/// The file, and what the encoder takes from it.
pub(super) struct ModelFile(TensorFile);

impl ModelFile {
    pub(super) fn parse(bytes: Cow<'static, [u8]>) -> Result<Self, ModelError> {
        Ok(Self(TensorFile::parse(bytes)?))
    }

    /// A vector of exactly `len` numbers.
    pub(super) fn vector(&self, name: &str, len: usize) -> Result<Vec<f32>, ModelError> {
        Ok(self.0.vector(name, len)?)
    }

    /// A dense layer: i8, with one scale per column.
    pub(super) fn matrix(&self, name: &str, inputs: usize, outputs: usize) -> Result<Matrix, ModelError> {
        let scale = self.vector(&format!("{name}.scale"), outputs)?;
        let codes = self.0.shaped(name, Dtype::I8, &[inputs, outputs])?;
        let mut data = Vec::with_capacity(inputs * outputs);
        for row in codes.chunks_exact(outputs) {
            data.extend(row.iter().zip(&scale).map(|(&code, scale)| f32::from(code.cast_signed()) * scale));
        }
        Ok(Matrix { data, inputs, outputs })
    }

    pub(super) fn tokenizer(&self) -> Result<Tokenizer, ModelError> {
        let charsmap = Charsmap::parse(self.0.raw("charsmap", Dtype::U8)?.0).ok_or(ModelError::Format)?;
        let unknown = self.vector("pieces.unknown_score", 1)?[0];
        let scores = self.0.floats("pieces.scores")?.0;
        Tokenizer::new(charsmap, &self.0.texts("pieces")?, scores, unknown).ok_or(ModelError::Format)
    }

    /// The piece table; takes the bytes along.
    pub(super) fn into_table(self) -> Result<WeightTable, ModelError> {
        let levels = self.0.floats("table.levels")?.0;
        let levels: [f32; 16] = levels.try_into().map_err(|_| ModelError::Format)?;
        let scale = self.0.place("table.scale", Dtype::F16)?.0;
        let (codes, shape) = self.0.place("table.codes", Dtype::U8)?;
        if *shape != [scale.len() / 2, WIDTH / 2] {
            return Err(ModelError::Format);
        }
        Ok(WeightTable { bytes: self.0.into_bytes(), codes, scale, levels })
    }
}

/// One row of 4-bit codes and an f16 scale per piece.
pub(super) struct WeightTable {
    bytes: Cow<'static, [u8]>,
    codes: Range<usize>,
    scale: Range<usize>,
    levels: [f32; 16],
}

impl WeightTable {
    /// How many pieces there are.
    pub(super) fn len(&self) -> usize {
        self.scale.len() / 2
    }

    /// Writes the row of `id` (below [`WeightTable::len`]) into `out` ([`WIDTH`] numbers).
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
