//! The one call into the matrix library, behind checked bounds.

/// Rows of `cols` numbers, `stride` apart. Rows may overlap: an n-gram window is such a view of consecutive tokens.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub data: &'a [f32],
    pub rows: usize,
    pub cols: usize,
    pub stride: usize,
}

/// A dense layer's weights, row-major, inputs × outputs.
pub(super) struct Matrix {
    pub data: Vec<f32>,
    pub inputs: usize,
    pub outputs: usize,
}

impl Matrix {
    /// `out` (rows × outputs, dense) = `keep` × `out` + `input` × self. A row's result does not depend on the rows
    /// beside it, so that a text has the same vector in every batch.
    pub(super) fn apply(&self, input: Rows<'_>, keep: f32, out: &mut [f32]) {
        if input.rows == 0 {
            return;
        }
        assert_eq!(input.cols, self.inputs, "a layer is fed what it takes");
        assert!((input.rows - 1) * input.stride + input.cols <= input.data.len(), "the view lies in its data");
        assert_eq!(self.data.len(), self.inputs * self.outputs, "a matrix is whole");
        assert!(out.len() >= input.rows * self.outputs, "the result has room");
        let (width, stride) = (self.outputs as isize, input.stride as isize);
        // SAFETY: the assertions above hold every index that sgemm forms (row × stride + column) inside its slice;
        // `out` is a unique borrow and overlaps neither input.
        #[allow(unsafe_code)]
        unsafe {
            matrixmultiply::sgemm(
                input.rows,
                self.inputs,
                self.outputs,
                1.0,
                input.data.as_ptr(),
                stride,
                1,
                self.data.as_ptr(),
                width,
                1,
                keep,
                out.as_mut_ptr(),
                width,
                1,
            );
        }
    }
}
