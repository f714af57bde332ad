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
pub struct Norm {
    pub gain: Vec<f32>,
    pub bias: Vec<f32>,
    pub epsilon: f32,
}

impl Norm {
    /// Normalises one row in place.
    pub fn apply(&self, row: &mut [f32]) {
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
pub fn add(row: &mut [f32], other: &[f32]) {
    for (value, other) in row.iter_mut().zip(other) {
        *value += other;
    }
}

/// row = max(row + bias, 0) + residual
pub fn rectify(row: &mut [f32], bias: &[f32], residual: &[f32]) {
    for ((value, bias), residual) in row.iter_mut().zip(bias).zip(residual) {
        *value = (*value + bias).max(0.0) + residual;
    }
}

/// values = max(values, 0)
pub fn positive(values: &mut [f32]) {
    for value in values {
        *value = value.max(0.0);
    }
}

/// Scales to length 1.
pub fn unit(row: &mut [f32], epsilon: f32) {
    let length = sum(row, |value| value * value).max(epsilon).sqrt();
    for value in row {
        *value /= length;
    }
}

/// Turns a row of logits into probabilities.
pub fn softmax(row: &mut [f32]) {
    let greatest = greatest(row);
    for value in row.iter_mut() {
        *value = exp(*value - greatest);
    }
    let share = 1.0 / sum(row, |value| value);
    for value in row {
        *value *= share;
    }
}

/// The greatest number, by lanes as in [`sum`].
fn greatest(values: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; 8];
    let chunks = values.chunks_exact(8);
    let tail = chunks.remainder().iter().copied().fold(f32::NEG_INFINITY, f32::max);
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = if value > *lane { value } else { *lane };
        }
    }
    lanes.into_iter().fold(tail, f32::max)
}

/// values = GELU(values), exact: x × Φ(x).
pub fn gelu(values: &mut [f32]) {
    for value in values {
        *value = 0.5 * *value * (1.0 + erf(*value * std::f32::consts::FRAC_1_SQRT_2));
    }
}

/// e to the power of `x`, with a relative error below 2 × 10⁻⁷, between the smallest and the greatest normal number.
/// The standard library's own is a call for each number; this is a row of products that vector registers can hold.
pub(crate) fn exp(x: f32) -> f32 {
    // 1.5 × 2²³: adding it leaves a whole number in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let x = x.clamp(-87.3, 88.3);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    let rest = x - whole * LN_2[0] - whole * LN_2[1];
    let mut series = 1.987_569_1e-4;
    for term in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        series = series * rest + term;
    }
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0f32.to_bits()));
    (series * rest * rest + rest + 1.0) * power
}

/// The error function, with an error below 10⁻⁶: a quotient of polynomials, for the reason of [`exp`].
pub(crate) fn erf(x: f32) -> f32 {
    const ABOVE: [f32; 7] = [
        -2.726_142_3e-10,
        2.770_681_5e-8,
        -2.101_024e-6,
        -5.692_506_4e-5,
        -7.349_906_5e-4,
        -2.954_6e-3,
        -1.609_603_3e-2,
    ];
    const BELOW: [f32; 5] = [-1.456_607_2e-5, -2.133_740_5e-4, -1.682_827e-3, -7.373_329e-3, -1.426_474e-2];
    let x = x.clamp(-4.0, 4.0);
    let square = x * x;
    let (mut above, mut below) = (0.0, 0.0);
    for term in ABOVE {
        above = above * square + term;
    }
    for term in BELOW {
        below = below * square + term;
    }
    x * above / below
}
