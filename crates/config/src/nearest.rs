//! The known name that is nearest to a mistyped one.

use super::shape::Shape;

/// The nearest of the known names, where one is near enough to be meant.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let most = (name.chars().count() / 3).clamp(1, 3);
    known.map(|known| (distance(&name, known), known)).filter(|(far, _)| *far <= most).min().map(|(_, known)| known)
}

/// A key of another section that has this name.
pub(crate) fn nearest_key(name: &str) -> Option<String> {
    fn find(shape: &Shape, path: &str, name: &str) -> Option<String> {
        let fields = shape.fields()?;
        let at = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        if fields.contains_key(name) && !path.is_empty() {
            return Some(at(name));
        }
        fields.iter().find_map(|(key, field)| find(&field.shape, &at(key), name))
    }
    find(Shape::of_settings(), "", name)
}

/// Letters to change, add, leave out or swap with a neighbour.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let change = rows[i][j] + usize::from(a != b);
            let mut best = change.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swapped_pair_or_a_missing_letter_is_near_and_another_word_is_not() {
        assert_eq!(distance("paht", "path"), 1);
        assert_eq!(distance("batch_document", "batch_documents"), 1);
        assert_eq!(nearest("paht", ["url", "path", "keys"].into_iter()), Some("path"));
        assert_eq!(nearest("something", ["url", "path", "keys"].into_iter()), None);
        assert_eq!(nearest_key("prefix").as_deref(), Some("broker.prefix"));
    }
}
