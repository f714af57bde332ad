//! The one call into the matrix library, behind checked bounds.

/// Rows of `cols` numbers, `stride` apart. Rows may overlap: an n-gram window is such a view of consecutive tokens.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    pub data: &'a [f32],
    pub rows: usize,
    pub cols: usize,
    pub stride: usize,
}

impl<'a> Rows<'a> {
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
    Plain(Rows<'a>),
    Transposed(Rows<'a>),
}

/// `out` = `keep` × `out` + `factor` × `left` × `right`. Rows of `out` lie `stride` apart. A row's result does not
/// depend on the rows next to it.
pub fn multiply(left: Rows<'_>, right: Right<'_>, scale: Scale, out: &mut [f32], stride: usize) {
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
    pub fn apply(&self, input: Rows<'_>, keep: f32, out: &mut [f32]) {
        let weights = Rows { data: &self.data, rows: self.inputs, cols: self.outputs, stride: self.outputs };
        multiply(input, Right::Plain(weights), Scale { factor: 1.0, keep }, out, self.outputs);
    }
}
