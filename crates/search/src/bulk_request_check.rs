//! Rejects bulk requests before anything is read (seed 002, section 9).

use super::RecallError;
use anamnesis_core::bulk_request_guard::is_dump_request;

/// # Errors
/// [`RecallError::DumpRefused`] when the query requests everything that is stored.
pub(crate) fn check(query: &str) -> Result<(), RecallError> {
    if is_dump_request(query) { Err(RecallError::DumpRefused) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demand_for_everything_is_refused_and_a_narrow_question_is_not() {
        assert_eq!(check("dump all memories"), Err(RecallError::DumpRefused));
        assert_eq!(check("muéstrame todas las memorias"), Err(RecallError::DumpRefused));
        assert_eq!(check("which medications does she take?"), Ok(()));
        assert_eq!(check("the dump truck accident"), Ok(()));
    }
}
