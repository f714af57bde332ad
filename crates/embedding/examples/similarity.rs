//! Compares a question with two answers by the encoder inside the program.

use anamnesis_embedding::builtin::BuiltinEmbedder;
use anamnesis_embedding::{Embedder as _, Purpose};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let encoder = BuiltinEmbedder::embedded()?;
    let answers = ["I wake up at four and cannot fall asleep again.", "My sister moved to Bilbao."];
    let question = encoder.embed(Purpose::Query, &["How does the patient sleep?"]).await?;
    let vectors = encoder.embed(Purpose::Document, &answers).await?;
    for (answer, vector) in answers.iter().zip(&vectors) {
        // Vectors have unit length: their dot product is the cosine.
        let cosine: f32 = question[0].iter().zip(vector).map(|(a, b)| a * b).sum();
        println!("{cosine:.2} {answer}");
    }
    Ok(())
}
