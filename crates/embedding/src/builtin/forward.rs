//! The encoder: piece vectors → three n-gram convolutions → mean over the tokens → residual dense layers → unit vector.
//! The steps are those of Google's multilingual Universal Sentence Encoder 3 (models/README.md).

use super::ModelError;
use super::tokenizer::Tokenizer;
use super::weights::{ModelFile, WIDTH, WeightTable};
use anamnesis_neural::layers::{self, Norm};
use anamnesis_neural::matmul::{Matrix, MatrixView};

/// Length of a vector.
pub(super) const DIMENSION: usize = 512;
/// Columns of one convolution.
const CONV: usize = 256;
/// Order of each n-gram convolution and how many of its tokens lie before the one it is computed for.
const ORDERS: [(usize, usize); 3] = [(2, 0), (3, 1), (5, 2)];
const PROJECTED: usize = CONV * ORDERS.len();
const FEATURES: usize = WIDTH + PROJECTED;
/// Rows of zeros around each segment: what a window sees past the text.
const GAP: usize = 2;
/// Tokens that see each other; a longer text is a sum of segments (the profile's `max_tokens`).
pub(super) const SEGMENT: usize = 256;
/// Rows computed at once: enough to feed the matrix product, few enough to stay in the cache.
const ROWS: usize = 512;

struct Conv {
    first: Matrix,
    first_bias: Vec<f32>,
    second: Matrix,
    second_bias: Vec<f32>,
}

/// The loaded model: immutable, shared by all threads.
pub(super) struct Encoder {
    pub(super) tokenizer: Tokenizer,
    table: WeightTable,
    projection: Matrix,
    projection_bias: Vec<f32>,
    projection_norm: Norm,
    convs: Vec<Conv>,
    norm: Norm,
    out: Matrix,
    out_bias: Vec<f32>,
    dense: [Matrix; 4],
    skips: [Matrix; 2],
    epsilon: f32,
}

impl Encoder {
    pub(super) fn new(file: ModelFile) -> Result<Self, ModelError> {
        let epsilon = file.vector("epsilon", 1)?[0];
        let norm = |name: &str, len| -> Result<Norm, ModelError> {
            let (gain, bias) = (file.vector(&format!("{name}.gain"), len)?, file.vector(&format!("{name}.bias"), len)?);
            Ok(Norm { gain, bias, epsilon })
        };
        let convs = ORDERS.iter().map(|(order, _)| conv(&file, *order)).collect::<Result<Vec<_>, _>>()?;
        let encoder = Self {
            tokenizer: file.tokenizer()?,
            projection: file.matrix("proj", WIDTH, PROJECTED)?,
            projection_bias: file.vector("proj.bias", PROJECTED)?,
            projection_norm: norm("proj.norm", PROJECTED)?,
            convs,
            norm: norm("norm", FEATURES)?,
            out: file.matrix("out", FEATURES, DIMENSION)?,
            out_bias: file.vector("out.bias", DIMENSION)?,
            dense: [
                file.matrix("d0", DIMENSION, 320)?,
                file.matrix("d1", 320, 320)?,
                file.matrix("d2", 320, DIMENSION)?,
                file.matrix("d3", DIMENSION, DIMENSION)?,
            ],
            skips: [file.matrix("p1", DIMENSION, 320)?, file.matrix("p3", 320, DIMENSION)?],
            epsilon,
            table: file.into_table()?,
        };
        if encoder.tokenizer.len() == encoder.table.len() { Ok(encoder) } else { Err(ModelError::Format) }
    }

    /// One unit vector per text. A text's vector does not depend on its neighbours.
    pub(super) fn embed<T: AsRef<str>>(&self, texts: &[T]) -> Vec<Vec<f32>> {
        if texts.is_empty() {
            return Vec::new();
        }
        let ids: Vec<Vec<u32>> = texts.iter().map(|text| self.tokenizer.encode(text.as_ref())).collect();
        let mut sums = vec![0f32; texts.len() * FEATURES];
        let mut chunk: Vec<(usize, &[u32])> = Vec::new();
        let mut rows = GAP;
        for (text, segment) in
            ids.iter().enumerate().flat_map(|(text, ids)| ids.chunks(SEGMENT).map(move |s| (text, s)))
        {
            if !chunk.is_empty() && rows + segment.len() + GAP > ROWS {
                self.add_features(&chunk, rows, &mut sums);
                chunk.clear();
                rows = GAP;
            }
            chunk.push((text, segment));
            rows += segment.len() + GAP;
        }
        self.add_features(&chunk, rows, &mut sums);
        let lengths: Vec<f32> = ids.iter().map(|ids| ids.len() as f32).collect();
        self.finish(&sums, &lengths)
    }

    /// Adds each segment's normalised token features to the sum of its text.
    fn add_features(&self, chunk: &[(usize, &[u32])], rows: usize, sums: &mut [f32]) {
        // Row of each token; the rows between are the gaps.
        let mut tokens = Vec::with_capacity(rows);
        let mut row = GAP;
        for &(text, segment) in chunk {
            tokens.extend(segment.iter().enumerate().map(|(i, &id)| (row + i, text, id)));
            row += segment.len() + GAP;
        }
        let mut features = vec![0f32; rows * FEATURES];
        for &(row, _, id) in &tokens {
            self.table.read(id, &mut features[row * FEATURES..][..WIDTH]);
        }
        let mut projected = vec![0f32; rows * PROJECTED];
        let input = MatrixView { data: &features, rows, cols: WIDTH, stride: FEATURES };
        self.projection.apply(input, 0.0, &mut projected);
        for &(row, ..) in &tokens {
            let row = &mut projected[row * PROJECTED..][..PROJECTED];
            layers::add(row, &self.projection_bias);
            self.projection_norm.apply(row);
        }
        let at: Vec<usize> = tokens.iter().map(|(row, ..)| *row).collect();
        for branch in 0..ORDERS.len() {
            self.convolve(branch, &at, &projected, &mut features);
        }
        for &(row, text, _) in &tokens {
            let row = &mut features[row * FEATURES..][..FEATURES];
            self.norm.apply(row);
            layers::add(&mut sums[text * FEATURES..][..FEATURES], row);
        }
    }

    /// One n-gram branch: two convolutions, each with its input added, written to the branch's feature columns.
    fn convolve(&self, branch: usize, tokens: &[usize], projected: &[f32], features: &mut [f32]) {
        let rows = features.len() / FEATURES;
        let (order, left) = ORDERS[branch];
        let conv = &self.convs[branch];
        let mut input = vec![0f32; rows * CONV];
        for &row in tokens {
            input[row * CONV..][..CONV].copy_from_slice(&projected[row * PROJECTED + branch * CONV..][..CONV]);
        }
        let windows = |data| MatrixView { data, rows: rows - 2 * GAP, cols: order * CONV, stride: CONV };
        let mut product = vec![0f32; rows * CONV];
        conv.first.apply(windows(&input[(GAP - left) * CONV..]), 0.0, &mut product[GAP * CONV..]);
        // Only token rows are copied back: the gaps of `hidden` stay zero.
        let mut hidden = vec![0f32; rows * CONV];
        for &row in tokens {
            let hidden = &mut hidden[row * CONV..][..CONV];
            hidden.copy_from_slice(&product[row * CONV..][..CONV]);
            layers::rectify(hidden, &conv.first_bias, &input[row * CONV..][..CONV]);
        }
        conv.second.apply(windows(&hidden[(GAP - left) * CONV..]), 0.0, &mut product[GAP * CONV..]);
        for &row in tokens {
            let out = &mut features[row * FEATURES + WIDTH + branch * CONV..][..CONV];
            out.copy_from_slice(&product[row * CONV..][..CONV]);
            layers::rectify(out, &conv.second_bias, &hidden[row * CONV..][..CONV]);
        }
    }

    /// From the sums over tokens (count in `lengths`) to unit vectors.
    fn finish(&self, sums: &[f32], lengths: &[f32]) -> Vec<Vec<f32>> {
        let texts = lengths.len();
        let mut mean = vec![0f32; texts * DIMENSION];
        self.out.apply(MatrixView::dense(sums, FEATURES), 0.0, &mut mean);
        for (row, &length) in mean.chunks_exact_mut(DIMENSION).zip(lengths) {
            for (value, bias) in row.iter_mut().zip(&self.out_bias) {
                *value = (*value + length * bias) / length.sqrt();
            }
        }
        let [d0, d1, d2, d3] = &self.dense;
        let [p1, p3] = &self.skips;
        let mut inner = product(d0, &mean);
        layers::positive(&mut inner);
        let mut middle = product(p1, &mean);
        d1.apply(MatrixView::dense(&inner, d1.inputs), 1.0, &mut middle);
        layers::positive(&mut middle);
        let mut inner = product(d2, &middle);
        layers::positive(&mut inner);
        let mut last = product(p3, &middle);
        d3.apply(MatrixView::dense(&inner, d3.inputs), 1.0, &mut last);
        last.chunks_exact_mut(DIMENSION)
            .map(|row| {
                row.iter_mut().for_each(|value| *value = value.tanh());
                layers::unit(row, self.epsilon);
                row.to_vec()
            })
            .collect()
    }
}

fn conv(file: &ModelFile, order: usize) -> Result<Conv, ModelError> {
    Ok(Conv {
        first: file.matrix(&format!("conv{order}.first"), order * CONV, CONV)?,
        first_bias: file.vector(&format!("conv{order}.first.bias"), CONV)?,
        second: file.matrix(&format!("conv{order}.second"), order * CONV, CONV)?,
        second_bias: file.vector(&format!("conv{order}.second.bias"), CONV)?,
    })
}

fn product(matrix: &Matrix, data: &[f32]) -> Vec<f32> {
    let mut out = vec![0f32; data.len() / matrix.inputs * matrix.outputs];
    matrix.apply(MatrixView::dense(data, matrix.inputs), 0.0, &mut out);
    out
}
