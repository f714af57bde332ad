//! The element-wise steps between the matrix products, over plain slices.

/// Adds lanes so that the compiler can use vector registers without reordering anything else: the result depends on
/// the numbers alone.
fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0f32; 8];
    let chunks = values.chunks_exact(8);
    let tail: f32 = chunks.remainder().iter().map(|&value| of(value)).sum();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane += of(value);
        }
    }
    lanes.iter().sum::<f32>() + tail
}

/// Gain and bias of a layer normalisation.
pub(super) struct Norm {
    pub gain: Vec<f32>,
    pub bias: Vec<f32>,
    pub epsilon: f32,
}

impl Norm {
    /// Normalises one row in place.
    pub(super) fn apply(&self, row: &mut [f32]) {
        let count = row.len() as f32;
        let mean = sum(row, |value| value) / count;
        let variance = sum(row, |value| (value - mean) * (value - mean)) / count;
        let factor = 1.0 / (variance + self.epsilon).sqrt();
        for ((value, gain), bias) in row.iter_mut().zip(&self.gain).zip(&self.bias) {
            *value = (*value - mean) * factor * gain + bias;
        }
    }
}

/// row += other
pub(super) fn add(row: &mut [f32], other: &[f32]) {
    for (value, other) in row.iter_mut().zip(other) {
        *value += other;
    }
}

/// row = max(row + bias, 0) + residual
pub(super) fn rectify(row: &mut [f32], bias: &[f32], residual: &[f32]) {
    for ((value, bias), residual) in row.iter_mut().zip(bias).zip(residual) {
        *value = (*value + bias).max(0.0) + residual;
    }
}

/// values = max(values, 0)
pub(super) fn positive(values: &mut [f32]) {
    for value in values {
        *value = value.max(0.0);
    }
}

/// Scales to length 1.
pub(super) fn unit(row: &mut [f32], epsilon: f32) {
    let length = sum(row, |value| value * value).max(epsilon).sqrt();
    for value in row {
        *value /= length;
    }
}
