//! The encoder and its heads: what is loaded, and the computation. Layers are those of BERT: attention over all tokens
//! of the window, then two products with a gate between them, each with its input added and normalised after it.

use std::ops::Range;

use half::f16;
use safetensors::tensor::Dtype;

use super::metadata::ReaderMetadata;
use super::{LabelLayer, ReaderError, ReaderLabels};
use anamnesis_neural::codes::Codes;
use anamnesis_neural::file::{TensorError, TensorFile};
use anamnesis_neural::layers::{self, Norm};
use anamnesis_neural::matmul::{LIBRARY_OUTPUTS, Matrix, MatrixView, Right, Scale, multiply, weigh};

/// The constant that BERT adds to a variance.
const EPSILON: f32 = 1e-12;
/// Numbers of the piece table that share a scale.
const BLOCK: usize = 32;

/// Weights, and the bias added to their product.
struct DenseLayer {
    codes: Codes,
    bias: Vec<f32>,
}

/// All heads side by side, so that they are one product.
struct OutputHeads {
    matrix: Matrix,
    bias: Vec<f32>,
}

struct EncoderBlock {
    /// Queries, keys and values side by side.
    attend: DenseLayer,
    out: DenseLayer,
    first: Norm,
    up: DenseLayer,
    down: DenseLayer,
    second: Norm,
}

/// Which columns of the heads' product belong to what.
#[derive(Debug, Clone, Default)]
pub(super) struct LogitColumns {
    /// All of them: length of a row of logits.
    pub(crate) width: usize,
    /// Of each layer, its labels: outside, then begin and inside of each kind.
    pub(crate) layers: [Range<usize>; 4],
    /// Of each layer that has them, its attributes' values.
    pub(crate) attributes: [Option<Range<usize>>; 4],
}

/// The loaded model: immutable, shared by all threads. Weights and piece table are held as in the file.
pub(super) struct EncoderNetwork {
    width: usize,
    heads: usize,
    table: PieceEmbeddings,
    /// Added to each token by its place in the window: window × width.
    position: Vec<f32>,
    norm: Norm,
    blocks: Vec<EncoderBlock>,
    labels: OutputHeads,
    pub(super) columns: LogitColumns,
}

/// Room for the numbers of one window, used for all of a document.
#[derive(Default)]
pub(super) struct NetworkBuffers {
    tokens: Vec<f32>,
    attend: Vec<f32>,
    scores: Vec<f32>,
    mixed: Vec<f32>,
    inner: Vec<f32>,
    logits: Vec<f32>,
}

impl EncoderNetwork {
    /// `pieces`: how many ids the tokens may have.
    pub(super) fn load(file: &TensorFile, form: &ReaderMetadata, pieces: usize) -> Result<Self, ReaderError> {
        let (position, shape) = file.floats("position")?;
        let width = match *shape {
            [rows, width] if rows == form.window => width,
            _ => return Err(ReaderError::Metadata("window")),
        };
        if width == 0
            || !width.is_multiple_of(form.heads)
            || !width.is_multiple_of(BLOCK)
            || width / form.heads > LIBRARY_OUTPUTS
        {
            return Err(ReaderError::Metadata("heads"));
        }
        let (labels, columns) = heads(file, &form.labels, width)?;
        Ok(Self {
            width,
            heads: form.heads,
            table: PieceEmbeddings::load(file, pieces, width)?,
            position,
            norm: norm(file, "embed", width)?,
            blocks: (0..form.layers).map(|layer| block(file, layer, width)).collect::<Result<_, _>>()?,
            labels,
            columns,
        })
    }

    /// Logits of the tokens `labelled` (indices into `ids`), one row of [`LogitColumns::width`] each. `ids`: at most a
    /// window, begin and end among them, each below the number of pieces.
    pub(super) fn logits<'a>(&self, ids: &[u32], labelled: Range<usize>, room: &'a mut NetworkBuffers) -> &'a [f32] {
        room.tokens.resize(ids.len() * self.width, 0.0);
        let rows = room.tokens.chunks_exact_mut(self.width).zip(self.position.chunks_exact(self.width));
        for (&id, (row, position)) in ids.iter().zip(rows) {
            self.table.read(id, row);
            layers::add(row, position);
            self.norm.apply(row);
        }
        for block in &self.blocks {
            self.layer(block, room);
        }
        let seen = &room.tokens[labelled.start * self.width..labelled.end * self.width];
        let (matrix, logits) = (&self.labels.matrix, &mut room.logits);
        fill(logits, &self.labels.bias, labelled.len());
        matrix.apply(MatrixView::dense(seen, self.width), 1.0, logits);
        logits
    }

    fn layer(&self, block: &EncoderBlock, room: &mut NetworkBuffers) {
        let NetworkBuffers { tokens, attend, scores, mixed, inner, .. } = room;
        let rows = tokens.len() / self.width;
        fill(attend, &block.attend.bias, rows);
        block.attend.codes.add_product(tokens, attend);
        self.mix(attend, scores, mixed);
        block.out.add_to(mixed, tokens);
        tokens.chunks_exact_mut(self.width).for_each(|row| block.first.apply(row));
        fill(inner, &block.up.bias, rows);
        block.up.codes.add_product(tokens, inner);
        layers::gelu(inner);
        block.down.add_to(inner, tokens);
        tokens.chunks_exact_mut(self.width).for_each(|row| block.second.apply(row));
    }

    /// Attention: of each token and each head, the mean of all values, weighed by how its query fits their keys.
    fn mix(&self, attend: &[f32], scores: &mut Vec<f32>, mixed: &mut Vec<f32>) {
        let (width, stride) = (self.width, 3 * self.width);
        let (rows, cols) = (attend.len() / stride, width / self.heads);
        scores.resize(rows * rows, 0.0);
        mixed.resize(rows * width, 0.0);
        let fit = Scale { factor: 1.0 / (cols as f32).sqrt(), keep: 0.0 };
        for column in (0..width).step_by(cols) {
            let part = |which: usize| MatrixView { data: &attend[which * width + column..], rows, cols, stride };
            multiply(part(0), Right::Transposed(part(1)), fit, scores, rows);
            scores.chunks_exact_mut(rows).for_each(layers::softmax);
            weigh(scores, part(2), &mut mixed[column..], width);
        }
    }
}

impl DenseLayer {
    /// A layer of i8 codes, one scale an output.
    fn load(file: &TensorFile, name: &str, inputs: usize, outputs: usize) -> Result<Self, TensorError> {
        let codes = file.shaped(name, Dtype::I8, &[outputs, inputs])?;
        let scale = file.vector(&format!("{name}.scale"), outputs)?;
        let bias = file.vector(&format!("{name}.bias"), outputs)?;
        let codes: Vec<i8> = codes.iter().map(|code| code.cast_signed()).collect();
        let codes = Codes::new(&codes, inputs, &scale).ok_or_else(|| TensorError::Shape(name.to_owned()))?;
        Ok(Self { codes, bias })
    }

    /// `out` += `input` × weights + bias, row by row.
    fn add_to(&self, input: &[f32], out: &mut [f32]) {
        out.chunks_exact_mut(self.bias.len()).for_each(|row| layers::add(row, &self.bias));
        self.codes.add_product(input, out);
    }
}

/// `rows` times the row `bias`.
fn fill(out: &mut Vec<f32>, bias: &[f32], rows: usize) {
    out.clear();
    (0..rows).for_each(|_| out.extend_from_slice(bias));
}

fn norm(file: &TensorFile, name: &str, width: usize) -> Result<Norm, TensorError> {
    let (gain, bias) = (file.vector(&format!("{name}.gain"), width)?, file.vector(&format!("{name}.bias"), width)?);
    Ok(Norm { gain, bias, epsilon: EPSILON })
}

fn block(file: &TensorFile, layer: usize, width: usize) -> Result<EncoderBlock, ReaderError> {
    let name = |part: &str| format!("layer.{layer}.{part}");
    let up = name("up");
    let inner = match *file.raw(&up, Dtype::I8)?.1 {
        [inner, _] if inner > 0 => inner,
        _ => return Err(TensorError::Shape(up).into()),
    };
    Ok(EncoderBlock {
        attend: DenseLayer::load(file, &name("qkv"), width, 3 * width)?,
        out: DenseLayer::load(file, &name("out"), width, width)?,
        first: norm(file, &name("norm1"), width)?,
        up: DenseLayer::load(file, &up, width, inner)?,
        down: DenseLayer::load(file, &name("down"), inner, width)?,
        second: norm(file, &name("norm2"), width)?,
    })
}

fn heads(file: &TensorFile, labels: &ReaderLabels, width: usize) -> Result<(OutputHeads, LogitColumns), TensorError> {
    let mut parts = Vec::new();
    let mut columns = LogitColumns { width: 0, layers: Default::default(), attributes: Default::default() };
    for layer in LabelLayer::ALL {
        let count = 1 + 2 * labels.kinds(layer).len();
        parts.push((format!("head.{}", layer.letter()), count));
        columns.layers[layer as usize] = columns.width..columns.width + count;
        columns.width += count;
    }
    for layer in LabelLayer::ALL.into_iter().filter(|layer| layer.has_attributes()) {
        let count = labels.attribute_values();
        parts.push((format!("head.a{}", layer.letter()), count));
        columns.attributes[layer as usize] = Some(columns.width..columns.width + count);
        columns.width += count;
    }
    let outputs = columns.width;
    let mut data = vec![0f32; width * outputs];
    let (mut bias, mut output) = (Vec::with_capacity(outputs), 0);
    for (name, count) in parts {
        let (weights, shape) = file.floats(&name)?;
        if *shape != [count, width] {
            return Err(TensorError::Shape(name));
        }
        for row in weights.chunks_exact(width) {
            data[output..].iter_mut().step_by(outputs).zip(row).for_each(|(value, weight)| *value = *weight);
            output += 1;
        }
        bias.extend(file.vector(&format!("{name}.bias"), count)?);
    }
    Ok((OutputHeads { matrix: Matrix { data, inputs: width, outputs }, bias }, columns))
}

/// The vector of each piece: 4-bit codes, a scale for every [`BLOCK`] of them.
struct PieceEmbeddings {
    codes: Vec<u8>,
    scale: Vec<f16>,
    width: usize,
}

impl PieceEmbeddings {
    fn load(file: &TensorFile, pieces: usize, width: usize) -> Result<Self, TensorError> {
        let codes = file.shaped("table.codes", Dtype::U8, &[pieces, width / 2])?.to_vec();
        let scale = file.halves("table.scale", &[pieces, width / BLOCK])?;
        Ok(Self { codes, scale, width })
    }

    /// Writes the vector of `id` into `out`. Of each byte of a block the low half is in the block's first half.
    fn read(&self, id: u32, out: &mut [f32]) {
        let id = id as usize;
        let codes = self.codes[id * self.width / 2..][..self.width / 2].chunks_exact(BLOCK / 2);
        let scale = &self.scale[id * self.width / BLOCK..][..self.width / BLOCK];
        for ((block, codes), scale) in out.chunks_exact_mut(BLOCK).zip(codes).zip(scale) {
            let scale = scale.to_f32();
            let (low, high) = block.split_at_mut(BLOCK / 2);
            for ((low, high), code) in low.iter_mut().zip(high).zip(codes) {
                *low = (f32::from(code & 15) - 8.0) * scale;
                *high = (f32::from(code >> 4) - 8.0) * scale;
            }
        }
    }
}
