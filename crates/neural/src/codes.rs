//! Products with weights that are whole numbers: three times as fast as the same product of f32, in a quarter of the
//! memory. Sums of whole numbers do not depend on their order, and so not on the processor.

use std::ops::Range;

use super::matmul::{LIBRARY_OUTPUTS, LIBRARY_ROWS};
use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_tensor::NdTensorView;

/// Steps between the least and the greatest number of a row. More would fit a byte, but then two products of a
/// processor without VNNI may leave the 16 bits in which it adds them.
const STEPS: f32 = 127.0;
/// The library's way on this processor. Cheap to make, and not to be shared between threads.
type Library = GemmExecutor<u8, i8, i32>;

/// A dense layer's weights: i8 codes, one scale for each output.
pub struct Codes {
    panels: Vec<Panel>,
    inputs: usize,
    outputs: usize,
}

/// At most [`LIBRARY_OUTPUTS`] outputs that lie next to each other.
struct Panel {
    outputs: Range<usize>,
    codes: PackedBMatrix<i8>,
    scale: Vec<f32>,
    /// Of each output, the sum of its weights: what a row's least number adds.
    sum: Vec<f32>,
}

/// How numbers of a row become steps: `least` + `step` × steps.
struct Grid {
    least: f32,
    step: f32,
}

impl Codes {
    /// `codes`: outputs × inputs; a weight is its code × `scale` of its output. `None` where the sizes do not fit or are 0.
    pub fn new(codes: &[i8], inputs: usize, scale: &[f32]) -> Option<Self> {
        let outputs = scale.len();
        if inputs == 0 || outputs == 0 || codes.len() != inputs * outputs {
            return None;
        }
        let panels = (0..outputs).step_by(LIBRARY_OUTPUTS).map(|start| start..(start + LIBRARY_OUTPUTS).min(outputs));
        let panels = panels.map(|range| Panel::new(codes, inputs, scale, range)).collect();
        Some(Self { panels, inputs, outputs })
    }

    /// `out` (rows × outputs) += `input` (rows × inputs) × weights, each row of the input rounded to one of 128 numbers
    /// between its least and its greatest. A row's result does not depend on the rows next to it.
    pub fn add_product(&self, input: &[f32], out: &mut [f32]) {
        assert!(input.len().is_multiple_of(self.inputs), "a product is of sides that fit");
        assert_eq!(input.len() / self.inputs, out.len() / self.outputs, "the result has room");
        let library = Library::new();
        let mut steps = Vec::with_capacity(input.len());
        let grids: Vec<Grid> = input.chunks_exact(self.inputs).map(|row| Grid::quantize(row, &mut steps)).collect();
        let blocks = steps.chunks(LIBRARY_ROWS * self.inputs);
        let blocks = blocks.map(|rows| NdTensorView::from_data([rows.len() / self.inputs, self.inputs], rows));
        let blocks: Vec<_> = blocks.map(|rows| library.prepack_a(rows)).collect();
        let mut sums = Vec::new();
        // All rows by one panel before the next: it stays in the processor's cache.
        for panel in &self.panels {
            let outs = out.chunks_mut(LIBRARY_ROWS * self.outputs).zip(grids.chunks(LIBRARY_ROWS));
            for (block, (out, grids)) in blocks.iter().zip(outs) {
                sums.resize(grids.len() * panel.scale.len(), 0);
                let (left, right) = (GemmInputA::Packed(block), GemmInputB::Packed(&panel.codes));
                // It refuses sides and results that do not fit, and all of them were made above.
                library.gemm(&mut sums, left, right, GemmOptions::default()).expect("sides that fit");
                panel.add(&sums, grids, out, self.outputs);
            }
        }
    }
}

impl Panel {
    fn new(codes: &[i8], inputs: usize, scale: &[f32], outputs: Range<usize>) -> Self {
        let (rows, scale) = (&codes[outputs.start * inputs..outputs.end * inputs], &scale[outputs.clone()]);
        let sum = rows.chunks_exact(inputs).zip(scale);
        let sum = sum.map(|(row, scale)| row.iter().map(|&code| i32::from(code)).sum::<i32>() as f32 * scale).collect();
        let by_output = NdTensorView::from_data([outputs.len(), inputs], rows);
        Self { codes: Library::new().prepack_b(by_output.transposed()), scale: scale.to_vec(), sum, outputs }
    }

    fn add(&self, sums: &[i32], grids: &[Grid], out: &mut [f32], stride: usize) {
        let rows = sums.chunks_exact(self.scale.len()).zip(out.chunks_exact_mut(stride)).zip(grids);
        for ((sums, out), grid) in rows {
            let weights = self.scale.iter().zip(&self.sum);
            for ((out, &sum), (scale, least)) in out[self.outputs.clone()].iter_mut().zip(sums).zip(weights) {
                *out += sum as f32 * (grid.step * scale) + grid.least * least;
            }
        }
    }
}

impl Grid {
    /// Appends the row's numbers as steps.
    fn quantize(row: &[f32], steps: &mut Vec<u8>) -> Self {
        let least = row.iter().copied().fold(f32::INFINITY, f32::min);
        let greatest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let step = ((greatest - least) / STEPS).max(f32::MIN_POSITIVE);
        let each = 1.0 / step;
        steps.extend(row.iter().map(|value| ((value - least) * each + 0.5) as u8));
        Self { least, step }
    }
}
