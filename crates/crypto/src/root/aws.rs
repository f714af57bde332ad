//! AWS KMS by AWS's own library: Encrypt and Decrypt with an encryption context. Credentials are the library's standard
//! chain (environment, web identity, container, instance metadata), which it refreshes before they end.

mod transport;

use async_trait::async_trait;
use aws_sdk_kms::Client;
use aws_sdk_kms::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_kms::primitives::Blob;
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use super::http::denied;
use super::{RootKey, key_of};
use crate::KeyError;
use anamnesis_config::keys::{AwsConfig, KeyLimits};

/// Name of the pair of the encryption context; its value is the key store's id, in hexadecimal digits.
const CONTEXT: &str = "anamnesis-key-store";

/// A symmetric key of AWS KMS.
pub(crate) struct AwsRoot {
    config: AwsConfig,
    limits: KeyLimits,
    place: String,
    /// Made at first use: finding the region may ask the instance. Made again when credentials are refused.
    client: Mutex<Option<Client>>,
}

impl std::fmt::Debug for AwsRoot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AwsRoot").field("key", &self.config.key).finish_non_exhaustive()
    }
}

/// What a refusal means.
enum AwsRefusal {
    /// Credentials that were good may have been replaced.
    Credentials(KeyError),
    Final(KeyError),
}

impl AwsRoot {
    /// Connects to nothing yet.
    pub(crate) fn new(config: &AwsConfig, limits: KeyLimits) -> Self {
        let place = format!("aws:{}", config.key);
        Self { config: config.clone(), limits, place, client: Mutex::new(None) }
    }

    async fn client(&self, again: bool) -> Client {
        let mut held = self.client.lock().await;
        match held.as_ref().filter(|_| !again) {
            Some(client) => client.clone(),
            None => {
                let made = transport::client(&self.config, self.limits).await;
                *held = Some(made.clone());
                made
            }
        }
    }

    async fn encrypt(&self, client: &Client, context: &str, plain: &[u8]) -> Result<Vec<u8>, AwsRefusal> {
        let answer = client
            .encrypt()
            .key_id(&self.config.key)
            .plaintext(Blob::new(plain))
            .encryption_context(CONTEXT, context)
            .send()
            .await
            .map_err(|error| self.refusal(&error))?;
        answer.ciphertext_blob.map(Blob::into_inner).ok_or(AwsRefusal::Final(KeyError::Transient))
    }

    async fn decrypt(&self, client: &Client, context: &str, wrapped: &[u8]) -> Result<Zeroizing<Vec<u8>>, AwsRefusal> {
        let answer = client
            .decrypt()
            // Named, so that a ciphertext of another key is not opened because we may use that one too.
            .key_id(&self.config.key)
            .ciphertext_blob(Blob::new(wrapped))
            .encryption_context(CONTEXT, context)
            .send()
            .await
            .map_err(|error| self.refusal(&error))?;
        answer.plaintext.map(|blob| Zeroizing::new(blob.into_inner())).ok_or(AwsRefusal::Final(KeyError::Transient))
    }

    fn refusal<E, R>(&self, error: &SdkError<E, R>) -> AwsRefusal
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
        R: std::fmt::Debug,
    {
        let denied = |reason| denied(&self.place, reason);
        let SdkError::ServiceError(answer) = error else { return self.unsent(error) };
        match answer.err().code().unwrap_or_default() {
            "ExpiredTokenException" | "UnrecognizedClientException" | "InvalidClientTokenId" => {
                AwsRefusal::Credentials(denied("the credentials are not accepted"))
            }
            "AccessDeniedException" => {
                AwsRefusal::Final(denied("the identity lacks kms:Encrypt or kms:Decrypt on the key"))
            }
            "InvalidSignatureException" | "IncompleteSignature" | "MissingAuthenticationTokenException" => {
                AwsRefusal::Final(denied(
                    "the credentials are not accepted: see the secret key and the machine's clock",
                ))
            }
            "NotFoundException" | "InvalidArnException" => AwsRefusal::Final(denied("there is no such key")),
            "DisabledException" | "KMSInvalidStateException" => {
                AwsRefusal::Final(denied("the key is disabled, or is to be deleted"))
            }
            "InvalidKeyUsageException" => AwsRefusal::Final(denied("the key is not for encryption")),
            "InvalidCiphertextException" | "IncorrectKeyException" => {
                AwsRefusal::Final(KeyError::WrongMaster { place: self.place.clone() })
            }
            _ => AwsRefusal::Final(KeyError::Transient),
        }
    }

    /// No answer of the service: the connection, its time limits, or no credentials to sign with.
    fn unsent<E: std::error::Error + 'static, R: std::fmt::Debug>(&self, error: &SdkError<E, R>) -> AwsRefusal {
        // The library hides these types; nothing of the text goes further.
        let text = DisplayErrorContext(error).to_string().to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if matches!(error, SdkError::ConstructionFailure(_)) || says(&["missing region", "invalid configuration: "]) {
            AwsRefusal::Final(denied(&self.place, "no region is configured: set keys.aws.region"))
        } else if says(&["accessdenied", "invalididentitytoken", "idprejectedclaim", "expiredtoken"]) {
            AwsRefusal::Final(denied(&self.place, "the role of the web identity or container is refused"))
        } else if says(&["no providers in chain", "not loaded", "not enabled"]) {
            AwsRefusal::Final(denied(
                &self.place,
                "no credentials are found: environment, web identity, container, instance",
            ))
        } else if says(&[transport::PLAIN]) {
            AwsRefusal::Final(denied(&self.place, transport::PLAIN))
        } else {
            AwsRefusal::Final(KeyError::Transient)
        }
    }
}

#[async_trait]
impl RootKey for AwsRoot {
    fn name(&self) -> String {
        self.place.clone()
    }

    async fn wrap(&self, context: &[u8], plain: &[u8; 32]) -> Result<Vec<u8>, KeyError> {
        let context = hex::encode(context);
        let first = self.encrypt(&self.client(false).await, &context, plain).await;
        let answer = match first {
            Err(AwsRefusal::Credentials(_)) => self.encrypt(&self.client(true).await, &context, plain).await,
            answer => answer,
        };
        answer.map_err(KeyError::from)
    }

    async fn unwrap(&self, context: &[u8], wrapped: &[u8]) -> Result<Zeroizing<[u8; 32]>, KeyError> {
        let context = hex::encode(context);
        let first = self.decrypt(&self.client(false).await, &context, wrapped).await;
        let answer = match first {
            Err(AwsRefusal::Credentials(_)) => self.decrypt(&self.client(true).await, &context, wrapped).await,
            answer => answer,
        };
        key_of(&answer.map_err(KeyError::from)?).ok_or(KeyError::Transient)
    }
}

impl From<AwsRefusal> for KeyError {
    fn from(refusal: AwsRefusal) -> Self {
        match refusal {
            AwsRefusal::Credentials(error) | AwsRefusal::Final(error) => error,
        }
    }
}
