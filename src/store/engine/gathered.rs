//! A column of all rows in one: what `{all …}` asks for.

use uuid::Uuid;

use super::{Cell, DbError, Row};

/// One row of a statement of `{all …}`: each column holds what all rows have there. Of no rows every column is empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Gathered(pub(super) Option<Row>);

impl Gathered {
    /// Packed bytes of a column, or nothing.
    fn packed(&self, index: usize) -> Result<&[u8], DbError> {
        match self.0.as_ref().and_then(|row| row.0.get(index)) {
            None | Some(Cell::Null) => Ok(&[]),
            Some(Cell::Blob(bytes)) => Ok(bytes),
            Some(_) => Err(DbError::Decode { index }),
        }
    }

    fn chunks<const N: usize>(&self, index: usize) -> Result<&[[u8; N]], DbError> {
        let (all, rest) = self.packed(index)?.as_chunks::<N>();
        if rest.is_empty() { Ok(all) } else { Err(DbError::Decode { index }) }
    }

    fn list(&self, index: usize) -> Option<&str> {
        match self.0.as_ref().and_then(|row| row.0.get(index)) {
            Some(Cell::Text(list)) => Some(list),
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

    /// `{all bytes …}` of [`super::ColumnType::Ints`], cut at these `lengths` in bytes.
    pub fn lists(&self, index: usize, lengths: &[i64]) -> Result<Vec<Vec<i64>>, DbError> {
        let mut all = self.chunks::<8>(index)?;
        let mut cut = |length: &i64| {
            let (own, rest) = all.split_at_checked(usize::try_from(*length).ok()? / 8)?;
            all = rest;
            Some(own.iter().map(|bytes| i64::from_be_bytes(*bytes)).collect())
        };
        lengths.iter().map(|length| cut(length).ok_or(DbError::Decode { index })).collect()
    }

    /// `{all similarities …}`: dot products, −1.0–1.0 of unit vectors; `None` for what is no number.
    pub fn similarities(&self, index: usize) -> Result<Vec<Option<f64>>, DbError> {
        let found = self.chunks::<8>(index)?.iter().map(|bytes| f64::from_be_bytes(*bytes));
        Ok(found.map(|found| found.is_finite().then(|| found.clamp(-1.0, 1.0))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cells: Vec<Cell>) -> Gathered {
        Gathered(Some(Row(cells)))
    }

    #[test]
    fn of_no_rows_every_column_is_empty() {
        for none in [Gathered(None), of(vec![Cell::Null])] {
            assert_eq!(none.uuids(0).unwrap(), Vec::<Uuid>::new());
            assert_eq!(none.ints(0).unwrap(), Vec::<i64>::new());
            assert_eq!(none.texts(0), Vec::<&str>::new());
            assert_eq!(none.lists(0, &[]).unwrap(), Vec::<Vec<i64>>::new());
            assert_eq!(none.similarities(0).unwrap(), []);
        }
    }

    #[test]
    fn numbers_read_the_same_from_a_list_and_packed() {
        let packed: Vec<u8> = [-5i64, 7].iter().flat_map(|n| n.to_be_bytes()).collect();
        assert_eq!(of(vec![Cell::Text("-5,7".to_owned())]).ints(0).unwrap(), [-5, 7]);
        assert_eq!(of(vec![Cell::Blob(packed.clone())]).ints(0).unwrap(), [-5, 7]);
        assert_eq!(of(vec![Cell::Blob(packed)]).lists(0, &[0, 8, 8]).unwrap(), [vec![], vec![-5], vec![7]]);
    }

    #[test]
    fn what_does_not_fit_is_refused_and_never_cut() {
        let odd = of(vec![Cell::Blob(vec![0; 9])]);
        assert_eq!(odd.uuids(0), Err(DbError::Decode { index: 0 }));
        assert_eq!(odd.ints(0), Err(DbError::Decode { index: 0 }));
        assert_eq!(odd.similarities(0), Err(DbError::Decode { index: 0 }));
        let short = of(vec![Cell::Blob(vec![0; 8])]);
        assert_eq!(short.lists(0, &[16]), Err(DbError::Decode { index: 0 }));
        assert_eq!(of(vec![Cell::Text("1,x".to_owned())]).ints(0), Err(DbError::Decode { index: 0 }));
    }
}
