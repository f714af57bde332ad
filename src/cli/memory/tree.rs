//! Lineage drawn for people.

use crate::cli::output::printable;
use anamnesis_search::LineageNode;

/// The tree, one node a line.
pub(crate) fn drawn(node: &LineageNode) -> String {
    let mut lines = Vec::new();
    draw(node, "", "", &mut lines);
    lines.join("\n")
}

/// `lead` precedes this node's line, `below` its children's.
fn draw(node: &LineageNode, lead: &str, below: &str, lines: &mut Vec<String>) {
    let relation = node.relation.as_ref().map(|relation| format!("{relation}: ")).unwrap_or_default();
    let repeated = if node.repeated { " (shown above)" } else { "" };
    let label = printable(&node.label).replace('\n', " ");
    lines.push(format!("{lead}{relation}{label}  [{} {}]{repeated}", node.kind, node.id));
    for (place, child) in node.children.iter().enumerate() {
        let (branch, rest) = if place + 1 == node.children.len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        draw(child, &format!("{below}{branch}"), &format!("{below}{rest}"), lines);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn node(n: u128, label: &str, children: Vec<LineageNode>) -> LineageNode {
        LineageNode {
            kind: "note".into(),
            id: Uuid::from_u128(n),
            relation: (n > 1).then(|| "derived_from".to_owned()),
            label: label.into(),
            repeated: n == 4,
            children,
        }
    }

    #[test]
    fn every_child_hangs_under_its_parent_and_a_repeated_one_says_so() {
        let tree = node(1, "a", vec![node(2, "b", vec![node(3, "c\nd", vec![])]), node(4, "e", vec![])]);
        let text = drawn(&tree);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "a line feed in a label stays in its line");
        assert!(lines[0].starts_with("a  [note "));
        assert!(lines[1].starts_with("├─ derived_from: b"));
        assert!(lines[2].starts_with("│  └─ derived_from: c d"));
        assert!(lines[3].starts_with("└─ ") && lines[3].ends_with("(shown above)"));
    }
}
