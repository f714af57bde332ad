//! The result of `{all …}`: one row that holds each column of all rows, packed.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::{DbError, Row, SqlValue};
use anamnesis_text::TermFilter;

/// The one row of an `{all …}` statement: each column holds the values of all rows. Without rows every column is empty.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedRows(pub(super) Option<Row>);

impl PackedRows {
    /// Packed bytes of a column, or nothing.
    fn packed(&self, index: usize) -> Result<&[u8], DbError> {
        match self.0.as_ref().and_then(|row| row.0.get(index)) {
            None | Some(SqlValue::Null) => Ok(&[]),
            Some(SqlValue::Blob(bytes)) => Ok(bytes),
            Some(_) => Err(DbError::Decode { index }),
        }
    }

    fn chunks<const N: usize>(&self, index: usize) -> Result<&[[u8; N]], DbError> {
        let (all, rest) = self.packed(index)?.as_chunks::<N>();
        if rest.is_empty() { Ok(all) } else { Err(DbError::Decode { index }) }
    }

    fn list(&self, index: usize) -> Option<&str> {
        match self.0.as_ref().and_then(|row| row.0.get(index)) {
            Some(SqlValue::Text(list)) => Some(list),
            _ => None,
        }
    }

    /// A number that is the same for all rows, such as one of another table.
    pub fn opt_i64(&self, index: usize) -> Result<Option<i64>, DbError> {
        self.0.as_ref().map_or(Ok(None), |row| row.opt_i64(index))
    }

    /// `{all uuids …}`.
    pub fn uuids(&self, index: usize) -> Result<Vec<Uuid>, DbError> {
        Ok(self.chunks::<16>(index)?.iter().map(|bytes| Uuid::from_bytes(*bytes)).collect())
    }

    /// `{all ints …}`.
    pub fn ints(&self, index: usize) -> Result<Vec<i64>, DbError> {
        match self.list(index) {
            Some(list) => list.split(',').map(|n| n.parse().map_err(|_| DbError::Decode { index })).collect(),
            None => Ok(self.chunks::<8>(index)?.iter().map(|bytes| i64::from_be_bytes(*bytes)).collect()),
        }
    }

    /// `{all texts …}`: of a closed set, none with a comma.
    pub fn texts(&self, index: usize) -> Vec<&str> {
        self.list(index).map(|list| list.split(',').collect()).unwrap_or_default()
    }

    /// `{all held …}`: of each row the terms that are `wanted`, or all, with repetitions.
    pub fn terms(&self, index: usize, wanted: Option<&BTreeSet<i64>>) -> Result<Vec<Vec<i64>>, DbError> {
        let wanted = wanted.map(|terms| TermFilter::new(terms.iter().copied()));
        let mut all = self.chunks::<8>(index)?;
        let mut found = Vec::new();
        while let Some((count, rest)) = all.split_first() {
            let count = usize::try_from(i64::from_be_bytes(*count)).map_err(|_| DbError::Decode { index })?;
            let (own, rest) = rest.split_at_checked(count).ok_or(DbError::Decode { index })?;
            all = rest;
            let terms = own.iter().map(|bytes| i64::from_be_bytes(*bytes));
            found.push(terms.filter(|term| wanted.as_ref().is_none_or(|wanted| wanted.holds(*term))).collect());
        }
        Ok(found)
    }

    /// `{all similarities …}`: dot products, −1.0–1.0 of unit vectors; `None` for values that are no number.
    pub fn similarities(&self, index: usize) -> Result<Vec<Option<f64>>, DbError> {
        let found = self.chunks::<8>(index)?.iter().map(|bytes| f64::from_be_bytes(*bytes));
        Ok(found.map(|found| found.is_finite().then(|| found.clamp(-1.0, 1.0))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed_row(cells: Vec<SqlValue>) -> PackedRows {
        PackedRows(Some(Row(cells)))
    }

    #[test]
    fn of_no_rows_every_column_is_empty() {
        for none in [PackedRows(None), packed_row(vec![SqlValue::Null])] {
            assert_eq!(none.uuids(0).unwrap(), Vec::<Uuid>::new());
            assert_eq!(none.ints(0).unwrap(), Vec::<i64>::new());
            assert_eq!(none.texts(0), Vec::<&str>::new());
            assert_eq!(none.terms(0, None).unwrap(), Vec::<Vec<i64>>::new());
            assert_eq!(none.similarities(0).unwrap(), []);
        }
    }

    #[test]
    fn numbers_read_the_same_from_a_list_and_packed() {
        let packed: Vec<u8> = [-5i64, 7].iter().flat_map(|n| n.to_be_bytes()).collect();
        assert_eq!(packed_row(vec![SqlValue::Text("-5,7".to_owned())]).ints(0).unwrap(), [-5, 7]);
        assert_eq!(packed_row(vec![SqlValue::Blob(packed)]).ints(0).unwrap(), [-5, 7]);
    }

    #[test]
    fn only_the_wanted_terms_of_each_row_are_returned() {
        let packed: Vec<u8> = [0i64, 2, -5, 7, 3, 7, 7, 9].iter().flat_map(|n| n.to_be_bytes()).collect();
        let held = packed_row(vec![SqlValue::Blob(packed)]);
        assert_eq!(held.terms(0, None).unwrap(), [vec![], vec![-5, 7], vec![7, 7, 9]]);
        assert_eq!(held.terms(0, Some(&[7].into())).unwrap(), [vec![], vec![7], vec![7, 7]]);
        assert_eq!(held.terms(0, Some(&[].into())).unwrap(), vec![Vec::<i64>::new(); 3]);
    }

    #[test]
    fn what_does_not_fit_is_refused_and_never_cut() {
        let odd = packed_row(vec![SqlValue::Blob(vec![0; 9])]);
        assert_eq!(odd.uuids(0), Err(DbError::Decode { index: 0 }));
        assert_eq!(odd.ints(0), Err(DbError::Decode { index: 0 }));
        assert_eq!(odd.similarities(0), Err(DbError::Decode { index: 0 }));
        for count in [1i64, -1] {
            let short = packed_row(vec![SqlValue::Blob(count.to_be_bytes().to_vec())]);
            assert_eq!(short.terms(0, None), Err(DbError::Decode { index: 0 }));
        }
        assert_eq!(packed_row(vec![SqlValue::Text("1,x".to_owned())]).ints(0), Err(DbError::Decode { index: 0 }));
    }
}
