//! What can go wrong with a provider, by name and rate.

use std::str::FromStr;

use axum::http::StatusCode;

/// One way to go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderFault {
    /// 429, asking for a pause in seconds.
    TooManyRequests { retry_after: Option<u64> },
    /// Any other status.
    Status(u16),
    /// One vector too few.
    WrongCount,
    /// Every vector one number longer.
    WrongDimension,
    /// `null` in place of a number.
    NotANumber,
    /// 1e39, which no `f32` holds.
    TooBig,
    /// Only zeros.
    Zero,
    /// Items in reverse; their `index` is right.
    WrongOrder,
    /// The same `index` twice.
    DoubleIndex,
    /// Half of the body, then a long silence.
    SlowBody,
    /// Half of the body, then the connection is cut.
    Reset,
    /// 256 MiB of white space.
    Oversize,
    /// A proxy's page with status 200.
    NotJson,
}

impl ProviderFault {
    pub(super) fn refusal(self) -> Option<StatusCode> {
        match self {
            Self::TooManyRequests { .. } => Some(StatusCode::TOO_MANY_REQUESTS),
            Self::Status(code) => StatusCode::from_u16(code).ok(),
            _ => None,
        }
    }
}

/// Shares of requests, 0.0–1.0 each, their sum at most 1.0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FaultRates(Vec<(ProviderFault, f64)>);

impl FaultRates {
    pub fn new(rates: impl IntoIterator<Item = (ProviderFault, f64)>) -> Self {
        Self(rates.into_iter().collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn pick(&self, random: u64) -> Option<ProviderFault> {
        let mut left = random as f64 / u64::MAX as f64;
        for (fault, rate) in &self.0 {
            if left < *rate {
                return Some(*fault);
            }
            left -= rate;
        }
        None
    }
}

/// The flag names no fault, or a rate outside 0.0–1.0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "give faults as NAME=RATE,…: a status such as 429 or 500 (429:SECONDS asks for a pause), count, dimension, nan, big, zero, \
     order, index, slow, reset, oversize, html"
)]
pub struct UnknownFault;

/// `429:2=0.05,500=0.01,reset=0.01`
impl FromStr for FaultRates {
    type Err = UnknownFault;

    fn from_str(text: &str) -> Result<Self, UnknownFault> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let rates = parts.map(one).collect::<Result<Vec<_>, _>>()?;
        if rates.iter().map(|(_, rate)| rate).sum::<f64>() > 1.0 {
            return Err(UnknownFault);
        }
        Ok(Self(rates))
    }
}

fn one(part: &str) -> Result<(ProviderFault, f64), UnknownFault> {
    let (name, rate) = part.split_once('=').ok_or(UnknownFault)?;
    let rate: f64 = rate.parse().ok().filter(|rate| (0.0..=1.0).contains(rate)).ok_or(UnknownFault)?;
    let fault = match name {
        "count" => ProviderFault::WrongCount,
        "dimension" => ProviderFault::WrongDimension,
        "nan" => ProviderFault::NotANumber,
        "big" => ProviderFault::TooBig,
        "zero" => ProviderFault::Zero,
        "order" => ProviderFault::WrongOrder,
        "index" => ProviderFault::DoubleIndex,
        "slow" => ProviderFault::SlowBody,
        "reset" => ProviderFault::Reset,
        "oversize" => ProviderFault::Oversize,
        "html" => ProviderFault::NotJson,
        "429" => ProviderFault::TooManyRequests { retry_after: None },
        status => match status.strip_prefix("429:") {
            Some(seconds) => {
                ProviderFault::TooManyRequests { retry_after: Some(seconds.parse().map_err(|_| UnknownFault)?) }
            }
            None => {
                ProviderFault::Status(status.parse().ok().filter(|code| (400..600).contains(code)).ok_or(UnknownFault)?)
            }
        },
    };
    Ok((fault, rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_from_a_flag() {
        let rates: FaultRates = "429:2=0.25, 503=0.25,reset=0.5".parse().unwrap();
        assert_eq!(rates.pick(0), Some(ProviderFault::TooManyRequests { retry_after: Some(2) }));
        assert_eq!(rates.pick(u64::MAX / 3), Some(ProviderFault::Status(503)));
        assert_eq!(rates.pick(u64::MAX / 4 * 3), Some(ProviderFault::Reset));
        assert!("".parse::<FaultRates>().unwrap().is_empty());
        for wrong in ["x=0.1", "500", "500=2", "200=0.1", "500=0.9,reset=0.2"] {
            assert_eq!(wrong.parse::<FaultRates>(), Err(UnknownFault), "{wrong}");
        }
    }
}
