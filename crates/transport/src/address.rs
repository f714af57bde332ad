//! Which addresses may be used: encrypted ones, and unencrypted ones on this machine.

use std::net::IpAddr;

use reqwest::Url;
use secrecy::SecretString;

/// Why an address cannot be used. Reads after the name of its setting; never quotes the address, which may hold a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.rule())]
pub enum AddressError {
    NotAbsolute,
    NotEncrypted,
    Credentials,
    Suffix,
}

impl AddressError {
    /// The rule that the address breaks.
    pub fn rule(self) -> &'static str {
        match self {
            Self::NotAbsolute => "is not an absolute URL",
            Self::NotEncrypted => "must be https (http is for loopback only)",
            Self::Credentials => "holds credentials: use the settings that are made for them",
            Self::Suffix => "must end with its path: no query, no fragment",
        }
    }
}

/// Whether a host is this machine by its name alone: `localhost`, 127.0.0.0/8 or ::1, with or without brackets.
pub(crate) fn is_local_host(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether what is sent to a host stays secret: the connection is encrypted, or it never leaves this machine. The one rule
/// for HTTP and for the broker.
pub fn is_protected(encrypted: bool, host: &str) -> bool {
    encrypted || is_local_host(host)
}

/// An absolute address without its user and password, and these two as they stand. What parses an address keeps copies that
/// nobody wipes, so that the password must not be in it.
pub fn apart(text: &str) -> (String, &str) {
    let Some((scheme, rest)) = text.split_once("://") else { return (text.to_owned(), "") };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    (format!("{scheme}://{host}{path}"), user)
}

/// The checked address of a service: https, or http on loopback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    url: Url,
}

impl Endpoint {
    /// # Errors
    /// See [`AddressError`].
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let url = Url::parse(text).map_err(|_| AddressError::NotAbsolute)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::Credentials);
        }
        Self::from_url(url)
    }

    /// An address that carries the user and the password for it, as `https://user:password@host`; they are taken out.
    ///
    /// # Errors
    /// See [`AddressError`].
    pub fn with_credentials(text: &str) -> Result<(Self, String, SecretString), AddressError> {
        let (bare, user) = apart(text);
        let url = Url::parse(&bare).map_err(|_| AddressError::NotAbsolute)?;
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        let decoded = |part: &str| {
            percent_encoding::percent_decode_str(part)
                .decode_utf8()
                .map(String::from)
                .map_err(|_| AddressError::Credentials)
        };
        let user = decoded(user)?;
        let password = SecretString::from(decoded(password)?);
        Ok((Self::from_url(url)?, user, password))
    }

    /// The address of a cloud's metadata service: plain http to a link-local address, which no router forwards, or to
    /// loopback. Google's is known by one name, too.
    ///
    /// # Errors
    /// See [`AddressError`].
    pub fn metadata(text: &str) -> Result<Self, AddressError> {
        let url = Url::parse(text).map_err(|_| AddressError::NotAbsolute)?;
        let host = url.host_str().ok_or(AddressError::NotAbsolute)?;
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let near = match bare.parse::<IpAddr>() {
            Ok(IpAddr::V4(address)) => address.is_link_local(),
            Ok(IpAddr::V6(address)) => address.is_unicast_link_local(),
            Err(_) => bare == "metadata.google.internal",
        };
        if near && url.scheme() == "http" { Ok(Self { url }) } else { Self::from_url(url) }
    }

    fn from_url(url: Url) -> Result<Self, AddressError> {
        let host = url.host_str().ok_or(AddressError::NotAbsolute)?;
        if !matches!(url.scheme(), "http" | "https") || !is_protected(url.scheme() == "https", host) {
            return Err(AddressError::NotEncrypted);
        }
        Ok(Self { url })
    }

    /// Only where the address has neither query nor fragment.
    ///
    /// # Errors
    /// [`AddressError::Suffix`].
    pub fn bare(self) -> Result<Self, AddressError> {
        if self.url.query().is_some() || self.url.fragment().is_some() {
            return Err(AddressError::Suffix);
        }
        Ok(self)
    }

    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The address with further segments of a path, each encoded where it needs to be.
    pub fn join(&self, segments: &[&str]) -> Url {
        let mut url = self.url.clone();
        // http and https always have a path.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_leaves_the_machine() {
        for good in ["https://models.example/v1", "http://127.0.0.1:11434", "http://[::1]/", "http://LOCALHOST:1"] {
            assert!(Endpoint::parse(good).is_ok(), "{good}");
        }
        for (bad, why) in [
            ("http://models.example/v1", AddressError::NotEncrypted),
            ("http://10.0.0.7", AddressError::NotEncrypted),
            ("http://127.0.0.1.example", AddressError::NotEncrypted),
            ("http://localhost.example", AddressError::NotEncrypted),
            ("http://0.0.0.0:1", AddressError::NotEncrypted),
            ("http://[::ffff:10.0.0.7]", AddressError::NotEncrypted),
            ("ftp://localhost", AddressError::NotEncrypted),
            ("models.example", AddressError::NotAbsolute),
            ("https://a:b@models.example", AddressError::Credentials),
            ("https://a@models.example", AddressError::Credentials),
        ] {
            assert_eq!(Endpoint::parse(bad), Err(why), "{bad}");
        }
        let query = Endpoint::parse("https://models.example/v1?key=1").unwrap();
        assert_eq!(query.bare(), Err(AddressError::Suffix));
    }

    #[test]
    fn credentials_are_taken_out_of_an_address_and_decoded() {
        use secrecy::ExposeSecret as _;
        let (endpoint, user, password) = Endpoint::with_credentials("https://ana:a%2Fb@broker.example:15671").unwrap();
        assert_eq!(endpoint.url().as_str(), "https://broker.example:15671/");
        assert_eq!((user.as_str(), password.expose_secret()), ("ana", "a/b"));
        let plain = Endpoint::with_credentials("http://ana:b@broker.example:15672");
        assert_eq!(plain.err(), Some(AddressError::NotEncrypted));
    }

    #[test]
    fn a_metadata_service_is_link_local_or_on_this_machine() {
        for good in ["http://169.254.169.254/metadata", "http://metadata.google.internal/", "http://[fe80::1]/"] {
            assert!(Endpoint::metadata(good).is_ok() && Endpoint::parse(good).is_err(), "{good}");
        }
        assert!(Endpoint::metadata("http://127.0.0.1:80/").is_ok());
        for bad in
            ["http://10.0.0.1/", "http://169.253.1.1/", "http://metadata.google.internal.example/", "ftp://[fe80::1]"]
        {
            assert!(Endpoint::metadata(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn segments_are_encoded() {
        let endpoint = Endpoint::parse("https://broker.example/").unwrap();
        assert_eq!(endpoint.join(&["api", "/"]).as_str(), "https://broker.example/api/%2F");
    }
}
