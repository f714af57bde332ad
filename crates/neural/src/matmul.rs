//! Products of f32: the calls into the matrix libraries, behind checked bounds.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_tensor::NdTensorView;

/// Rows and outputs of one call of that library. It hands what is larger to the thread pool of its caller, whose threads take
/// up other documents while they wait.
pub(crate) const LIBRARY_ROWS: usize = 64;
pub const LIBRARY_OUTPUTS: usize = 128;

/// Rows of `cols` numbers, `stride` apart. Rows may overlap: an n-gram window is such a view of consecutive tokens.
#[derive(Clone, Copy)]
pub struct MatrixView<'a> {
    pub data: &'a [f32],
    pub rows: usize,
    pub cols: usize,
    pub stride: usize,
}

impl<'a> MatrixView<'a> {
    /// Rows that lie one after the other.
    pub fn dense(data: &'a [f32], cols: usize) -> Self {
        Self { data, rows: data.len() / cols, cols, stride: cols }
    }

    /// Index behind the last number of the view.
    fn end(&self) -> usize {
        if self.rows == 0 { 0 } else { (self.rows - 1) * self.stride + self.cols }
    }
}

/// Whether the right side of a product is taken as it lies or with rows and columns exchanged.
#[derive(Clone, Copy)]
pub enum Right<'a> {
    Plain(MatrixView<'a>),
    Transposed(MatrixView<'a>),
}

/// `out` = `keep` × `out` + `factor` × `left` × `right`. Rows of `out` lie `stride` apart. A row's result does not
/// depend on the rows next to it.
pub fn multiply(left: MatrixView<'_>, right: Right<'_>, scale: Scale, out: &mut [f32], stride: usize) {
    let (view, inputs, outputs) = match right {
        Right::Plain(view) => (view, view.rows, view.cols),
        Right::Transposed(view) => (view, view.cols, view.rows),
    };
    if left.rows == 0 || outputs == 0 {
        return;
    }
    assert_eq!(left.cols, inputs, "a product is of sides that fit");
    assert!(left.end() <= left.data.len() && view.end() <= view.data.len(), "each view lies in its data");
    assert!(outputs <= stride && (left.rows - 1) * stride + outputs <= out.len(), "the result has room");
    let (row, column) = match right {
        Right::Plain(view) => (view.stride as isize, 1),
        Right::Transposed(view) => (1, view.stride as isize),
    };
    // SAFETY: the assertions above hold every index that sgemm forms (row × stride + column) inside its slice;
    // `out` is a unique borrow and overlaps neither input, nor do its rows overlap each other.
    #[allow(unsafe_code)]
    unsafe {
        matrixmultiply::sgemm(
            left.rows,
            inputs,
            outputs,
            scale.factor,
            left.data.as_ptr(),
            left.stride as isize,
            1,
            view.data.as_ptr(),
            row,
            column,
            scale.keep,
            out.as_mut_ptr(),
            stride as isize,
            1,
        );
    }
}

/// `out` = `weights` × `values`, for weights that lie row after row, `values.rows` in each. Rows of `out` lie `stride` apart. A
/// row's result does not depend on the rows next to it. Faster than [`multiply`] where there are many more weights than
/// values, since weights are read where they lie.
pub fn weigh(weights: &[f32], values: MatrixView<'_>, out: &mut [f32], stride: usize) {
    let (inputs, outputs) = (values.rows, values.cols);
    if weights.is_empty() || outputs == 0 {
        return;
    }
    assert!(inputs > 0 && weights.len().is_multiple_of(inputs), "a product is of sides that fit");
    assert!((weights.len() / inputs - 1) * stride + outputs <= out.len(), "the result has room");
    assert!(outputs <= LIBRARY_OUTPUTS, "more would be handed to other threads");
    let by_column = values.data.chunks(values.stride).take(inputs).flat_map(|row| &row[..outputs]).copied();
    let values: Vec<f32> = by_column.collect();
    let library = GemmExecutor::<f32>::new();
    let values = library.prepack_b(NdTensorView::from_data([inputs, outputs], &values[..]));
    let mut sums = vec![0.0; LIBRARY_ROWS * outputs];
    for (weights, out) in weights.chunks(LIBRARY_ROWS * inputs).zip(out.chunks_mut(LIBRARY_ROWS * stride)) {
        let rows = weights.len() / inputs;
        let sums = &mut sums[..rows * outputs];
        let left = GemmInputA::Unpacked(NdTensorView::from_data([rows, inputs], weights));
        // It refuses sides and results that do not fit, and all of them were made above.
        library.gemm(sums, left, GemmInputB::Packed(&values), GemmOptions::default()).expect("sides that fit");
        for (out, sums) in out.chunks_mut(stride).zip(sums.chunks_exact(outputs)) {
            out[..outputs].copy_from_slice(sums);
        }
    }
}

/// How a product enters its result.
#[derive(Clone, Copy)]
pub struct Scale {
    /// Of the product.
    pub factor: f32,
    /// Of what the result held before; 0 overwrites it.
    pub keep: f32,
}

/// A dense layer's weights, row-major, inputs × outputs.
pub struct Matrix {
    pub data: Vec<f32>,
    pub inputs: usize,
    pub outputs: usize,
}

impl Matrix {
    /// `out` (rows × outputs, dense) = `keep` × `out` + `input` × self. A row's result does not depend on the rows
    /// next to it, so that a text has the same vector in every batch.
    pub fn apply(&self, input: MatrixView<'_>, keep: f32, out: &mut [f32]) {
        let weights = MatrixView { data: &self.data, rows: self.inputs, cols: self.outputs, stride: self.outputs };
        multiply(input, Right::Plain(weights), Scale { factor: 1.0, keep }, out, self.outputs);
    }
}
