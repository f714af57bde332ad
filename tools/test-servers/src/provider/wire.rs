//! Reading requests strictly, writing answers fast: numbers are written by hand, which is ten times what a general
//! serialiser does and keeps the server out of the bench's figures.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::fault::ProviderFault;
use super::vector::vector_of;
use super::{Base64, FakeOptions};

/// Not a request of either contract.
pub(crate) struct Invalid;

/// One request, whichever its shape.
pub(crate) struct EmbeddingCall {
    pub(crate) texts: Vec<String>,
    shape: EmbeddingApi,
}

enum EmbeddingApi {
    OpenAi { packed: bool },
    Vertex { auto_truncate: bool },
}

/// As strict as OpenAI's specification: `additionalProperties: false`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenAiRequest {
    input: Vec<String>,
    #[serde(rename = "model")]
    _model: String,
    encoding_format: Option<String>,
    dimensions: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VertexRequest {
    instances: Vec<Instance>,
    parameters: Parameters,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Instance {
    content: String,
    #[serde(rename = "task_type")]
    _task_type: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Parameters {
    #[serde(default = "usually")]
    auto_truncate: bool,
    output_dimensionality: Option<usize>,
}

/// Vertex cuts unless told not to.
fn usually() -> bool {
    true
}

impl EmbeddingCall {
    pub(crate) fn read(path: &str, body: &[u8], options: &FakeOptions) -> Result<Self, Invalid> {
        let (asked, dimension) =
            if path.ends_with(":predict") { Self::vertex(body)? } else { Self::openai(path, body)? };
        let refused = matches!(asked.shape, EmbeddingApi::OpenAi { packed: true }) && options.base64 == Base64::Refused;
        let other_dimension = dimension.is_some_and(|n| n != options.dimension);
        let blank = asked.texts.is_empty() || asked.texts.iter().any(|text| text.is_empty());
        let uncut = matches!(asked.shape, EmbeddingApi::Vertex { auto_truncate: false });
        let too_long = uncut && asked.texts.iter().any(|text| text.len() > options.cuts_over);
        if refused || other_dimension || blank || too_long { Err(Invalid) } else { Ok(asked) }
    }

    fn openai(path: &str, body: &[u8]) -> Result<(Self, Option<usize>), Invalid> {
        let request: OpenAiRequest = serde_json::from_slice(body).map_err(|_| Invalid)?;
        let packed = match request.encoding_format.as_deref() {
            Some("base64") => true,
            None | Some("float") => false,
            Some(_) => return Err(Invalid),
        };
        if !path.ends_with("/embeddings") {
            return Err(Invalid);
        }
        Ok((Self { texts: request.input, shape: EmbeddingApi::OpenAi { packed } }, request.dimensions))
    }

    fn vertex(body: &[u8]) -> Result<(Self, Option<usize>), Invalid> {
        let request: VertexRequest = serde_json::from_slice(body).map_err(|_| Invalid)?;
        let texts = request.instances.into_iter().map(|instance| instance.content).collect();
        let shape = EmbeddingApi::Vertex { auto_truncate: request.parameters.auto_truncate };
        Ok((Self { texts, shape }, request.parameters.output_dimensionality))
    }

    /// The answer's body, spoilt by `fault` where that is about its content.
    pub(crate) fn write(&self, options: &FakeOptions, fault: Option<ProviderFault>) -> Vec<u8> {
        let packed = matches!(self.shape, EmbeddingApi::OpenAi { packed: true }) && options.base64 == Base64::Obeyed;
        let mut out =
            Vec::with_capacity(256 + self.texts.len() * (64 + options.dimension * if packed { 6 } else { 13 }));
        let openai = matches!(self.shape, EmbeddingApi::OpenAi { .. });
        out.extend_from_slice(if openai { br#"{"object":"list","data":["#.as_slice() } else { br#"{"predictions":["# });
        let mut order: Vec<usize> = (0..self.texts.len()).collect();
        match fault {
            Some(ProviderFault::WrongOrder) if openai => order.reverse(),
            Some(ProviderFault::WrongCount) => drop(order.pop()),
            _ => {}
        }
        for (place, at) in order.into_iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            self.item(&mut out, at, packed, options, fault);
        }
        let tokens: usize = self.texts.iter().map(|text| text.len().div_ceil(4)).sum();
        let end = match self.shape {
            EmbeddingApi::OpenAi { .. } => {
                format!(r#"],"model":"fake","usage":{{"prompt_tokens":{tokens},"total_tokens":{tokens}}}}}"#)
            }
            EmbeddingApi::Vertex { .. } => r#"],"metadata":{"billableCharacterCount":1}}"#.to_owned(),
        };
        out.extend_from_slice(end.as_bytes());
        out
    }

    fn item(&self, out: &mut Vec<u8>, at: usize, packed: bool, options: &FakeOptions, fault: Option<ProviderFault>) {
        let text = &self.texts[at];
        let mut vector = vector_of(text, options.dimension + usize::from(fault == Some(ProviderFault::WrongDimension)));
        let spoilt = match fault {
            Some(ProviderFault::NotANumber) => Some(f32::NAN),
            Some(ProviderFault::TooBig) => Some(f32::INFINITY),
            _ if options.chokes_on.as_ref().is_some_and(|word| text.contains(word)) => Some(f32::NAN),
            _ => None,
        };
        if fault == Some(ProviderFault::Zero) {
            vector.fill(0.0);
        }
        if let (Some(value), Some(first)) = (spoilt, vector.first_mut()) {
            *first = value;
        }
        match self.shape {
            EmbeddingApi::OpenAi { .. } => {
                let index = if fault == Some(ProviderFault::DoubleIndex) { 0 } else { at };
                out.extend_from_slice(format!(r#"{{"object":"embedding","index":{index},"embedding":"#).as_bytes());
                if packed {
                    base64(out, &vector)
                } else {
                    numbers(out, &vector)
                }
                out.push(b'}');
            }
            EmbeddingApi::Vertex { .. } => {
                out.extend_from_slice(br#"{"embeddings":{"values":"#);
                numbers(out, &vector);
                let cut = text.len() > options.cuts_over;
                let count = text.len().div_ceil(4);
                let end = format!(r#","statistics":{{"truncated":{cut},"token_count":{count}}}}}}}"#);
                out.extend_from_slice(end.as_bytes());
            }
        }
    }
}

/// TEI's `/info`, what matters of it.
pub(crate) fn info(max_texts: usize) -> Vec<u8> {
    format!(
        r#"{{"model_id":"fake","max_input_length":8192,"max_batch_tokens":16384,"max_client_batch_size":{max_texts}}}"#
    )
    .into_bytes()
}

fn base64(out: &mut Vec<u8>, vector: &[f32]) {
    let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
    out.push(b'"');
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let written = STANDARD.encode_slice(&bytes, &mut out[start..]).unwrap_or(0); // the room is exact
    out.truncate(start + written);
    out.push(b'"');
}

fn numbers(out: &mut Vec<u8>, vector: &[f32]) {
    out.push(b'[');
    for (at, value) in vector.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        decimal(out, *value);
    }
    out.push(b']');
}

/// Eight decimals: more than the difference of two neighbouring `f32` of a unit vector that matters. NaN is `null`,
/// infinity the double that becomes one.
fn decimal(out: &mut Vec<u8>, value: f32) {
    if value.is_nan() {
        return out.extend_from_slice(b"null");
    }
    if value.is_infinite() {
        return out.extend_from_slice(b"1e39");
    }
    if value < 0.0 {
        out.push(b'-');
    }
    let mut rest = (f64::from(value.abs()) * 1e8).round() as u64;
    let mut digits = *b"0.00000000";
    for place in (2..10).rev() {
        digits[place] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    digits[0] = b'0' + (rest % 10) as u8;
    out.extend_from_slice(&digits);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_json() {
        let mut out = Vec::new();
        numbers(&mut out, &[0.5, -0.062_5, 1.0, 0.0, f32::NAN, f32::INFINITY]);
        assert_eq!(String::from_utf8(out).unwrap(), "[0.50000000,-0.06250000,1.00000000,0.00000000,null,1e39]");
    }

    #[test]
    fn base64_is_little_endian() {
        let mut out = Vec::new();
        base64(&mut out, &[1.0]);
        assert_eq!(out, br#""AACAPw==""#);
    }

    #[test]
    fn an_unknown_field_is_refused_as_the_specification_says() {
        let read = |body: &str| EmbeddingCall::read("/v1/embeddings", body.as_bytes(), &FakeOptions::default()).is_ok();
        assert!(read(r#"{"input":["a"],"model":"m"}"#));
        assert!(!read(r#"{"input":["a"],"model":"m","truncate":true}"#));
        assert!(!read(r#"{"input":[""],"model":"m"}"#));
        assert!(!read(r#"{"input":["a"],"model":"m","dimensions":3}"#));
    }
}
