//! A model's file: safetensors, read whole. Every tensor is checked for its type, its shape and its place in the file
//! before a number of it is used.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use half::f16;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorInfo};

/// Why a file of tensors is not what its model needs. Names come from the program, never from the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TensorError {
    #[error("not a safetensors file")]
    Container,
    #[error("the file has no tensor {0}, or ends before it")]
    Missing(String),
    #[error("the tensor {0} has another type or shape")]
    Shape(String),
    #[error("the tensor {0} contains an invalid number or text")]
    Content(String),
}

/// The file's bytes and where each tensor lies in them.
pub struct TensorFile {
    bytes: Cow<'static, [u8]>,
    tensors: HashMap<String, TensorInfo>,
    metadata: HashMap<String, String>,
    body: usize,
}

impl TensorFile {
    /// # Errors
    /// [`TensorError::Container`] when the bytes are no safetensors file.
    pub fn parse(bytes: Cow<'static, [u8]>) -> Result<Self, TensorError> {
        let (header, metadata) = SafeTensors::read_metadata(&bytes).map_err(|_| TensorError::Container)?;
        // Eight bytes tell the header's length.
        let body = header + 8;
        let tensors = metadata.tensors().into_iter().map(|(name, info)| (name, info.clone())).collect();
        let metadata = metadata.metadata().clone().unwrap_or_default();
        Ok(Self { bytes, tensors, metadata, body })
    }

    /// What the file's maker wrote under `key`.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }

    /// The bytes of the file, for a caller that keeps a tensor where it lies ([`TensorFile::place`]).
    pub fn into_bytes(self) -> Cow<'static, [u8]> {
        self.bytes
    }

    /// Where a tensor's bytes lie in the file, and its shape.
    ///
    /// # Errors
    /// [`TensorError::Missing`], or [`TensorError::Shape`] when it is of another type.
    pub fn place(&self, name: &str, dtype: Dtype) -> Result<(Range<usize>, &[usize]), TensorError> {
        let info = self.tensors.get(name).ok_or_else(|| TensorError::Missing(name.to_owned()))?;
        let range = self.body + info.data_offsets.0..self.body + info.data_offsets.1;
        if range.end > self.bytes.len() {
            return Err(TensorError::Missing(name.to_owned()));
        }
        if info.dtype != dtype {
            return Err(TensorError::Shape(name.to_owned()));
        }
        Ok((range, &info.shape))
    }

    /// A tensor's bytes and shape.
    ///
    /// # Errors
    /// As [`TensorFile::place`].
    pub fn raw(&self, name: &str, dtype: Dtype) -> Result<(&[u8], &[usize]), TensorError> {
        let (range, shape) = self.place(name, dtype)?;
        Ok((&self.bytes[range], shape))
    }

    /// The bytes of a tensor of exactly this shape.
    ///
    /// # Errors
    /// As [`TensorFile::place`], and [`TensorError::Shape`] for another shape.
    pub fn shaped(&self, name: &str, dtype: Dtype, shape: &[usize]) -> Result<&[u8], TensorError> {
        let (raw, found) = self.raw(name, dtype)?;
        if found == shape { Ok(raw) } else { Err(TensorError::Shape(name.to_owned())) }
    }

    /// Numbers (f32) and their shape.
    ///
    /// # Errors
    /// As [`TensorFile::place`], and [`TensorError::Content`] when one is not finite.
    pub fn floats(&self, name: &str) -> Result<(Vec<f32>, &[usize]), TensorError> {
        let (raw, shape) = self.raw(name, Dtype::F32)?;
        let values: Vec<f32> = raw.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        if values.iter().all(|value| value.is_finite()) {
            Ok((values, shape))
        } else {
            Err(TensorError::Content(name.to_owned()))
        }
    }

    /// A vector of exactly `len` numbers (f32).
    ///
    /// # Errors
    /// As [`TensorFile::floats`], and [`TensorError::Shape`] for another length.
    pub fn vector(&self, name: &str, len: usize) -> Result<Vec<f32>, TensorError> {
        let (values, _) = self.floats(name)?;
        if values.len() == len { Ok(values) } else { Err(TensorError::Shape(name.to_owned())) }
    }

    /// Numbers stored as f16.
    ///
    /// # Errors
    /// As [`TensorFile::shaped`], and [`TensorError::Content`] when one is not finite.
    pub fn halves(&self, name: &str, shape: &[usize]) -> Result<Vec<f16>, TensorError> {
        let raw = self.shaped(name, Dtype::F16, shape)?;
        let values: Vec<f16> = raw.chunks_exact(2).map(|b| f16::from_le_bytes([b[0], b[1]])).collect();
        if values.iter().all(|value| value.is_finite()) {
            Ok(values)
        } else {
            Err(TensorError::Content(name.to_owned()))
        }
    }

    /// Whole numbers (u32).
    ///
    /// # Errors
    /// As [`TensorFile::place`].
    pub fn words(&self, name: &str) -> Result<Vec<u32>, TensorError> {
        let (raw, _) = self.raw(name, Dtype::U32)?;
        Ok(raw.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
    }

    /// Texts laid one after the other in `{name}.bytes`, each ending where `{name}.ends` says.
    ///
    /// # Errors
    /// As [`TensorFile::place`], and [`TensorError::Content`] when an end lies outside or a text is not UTF-8.
    pub fn texts(&self, name: &str) -> Result<Vec<&str>, TensorError> {
        let (bytes, ends) = (format!("{name}.bytes"), format!("{name}.ends"));
        let (text, _) = self.raw(&bytes, Dtype::U8)?;
        let mut start = 0;
        let mut texts = Vec::new();
        for end in self.words(&ends)? {
            let piece = text.get(start..end as usize).and_then(|bytes| std::str::from_utf8(bytes).ok());
            texts.push(piece.ok_or_else(|| TensorError::Content(bytes.clone()))?);
            start = end as usize;
        }
        Ok(texts)
    }
}
