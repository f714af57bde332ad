//! What the program's own neural models are made of: files of tensors, matrix products, the steps between them, and
//! the cutting of text into pieces. Knows no model: the caller names the tensors.

pub mod codes;
pub mod file;
pub mod layers;
pub mod matmul;
pub mod pieces;

#[cfg(test)]
mod tests;
