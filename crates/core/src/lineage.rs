//! Where a memory comes from and what came of it (seed 001, section 4): walks over write-once links, upwards ("why do I
//! believe this?") and downwards ("what depends on it?"). Nothing is ever propagated along them.

use std::collections::{BTreeSet, VecDeque};

/// Something that can be walked: usually rows read from a store, in tests a map. Links may be broken or, in old data,
/// circular.
pub(crate) trait Links<Node> {
    /// What the node was made from.
    fn parents(&self, node: &Node) -> Vec<Node>;
    /// What was made from the node.
    fn children(&self, node: &Node) -> Vec<Node>;
}

/// One node of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<Node> {
    pub(crate) node: Node,
    /// Links between it and the start; the shortest way counts.
    pub(crate) depth: usize,
    /// From which node of the walk it was reached; `None` at the start.
    pub(crate) from: Option<Node>,
}

/// What a walk found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Walk<Node> {
    /// Nearest first; each node once, also where the links run in a circle.
    pub(crate) steps: Vec<Step<Node>>,
    /// The limit was reached: there is more than is shown.
    pub(crate) truncated: bool,
}

/// Everything that the start was made from, at most `limit` nodes besides it.
pub(crate) fn trace_up<Node: Ord + Clone>(links: &impl Links<Node>, start: &Node, limit: usize) -> Walk<Node> {
    walk(start, limit, |node| links.parents(node))
}

/// Everything that was made from the start, at most `limit` nodes besides it.
pub(crate) fn trace_down<Node: Ord + Clone>(links: &impl Links<Node>, start: &Node, limit: usize) -> Walk<Node> {
    walk(start, limit, |node| links.children(node))
}

fn walk<Node: Ord + Clone>(start: &Node, limit: usize, next: impl Fn(&Node) -> Vec<Node>) -> Walk<Node> {
    let mut seen = BTreeSet::from([start.clone()]);
    let mut waiting = VecDeque::from([Step { node: start.clone(), depth: 0, from: None }]);
    let mut walk = Walk { steps: Vec::new(), truncated: false };
    while let Some(step) = waiting.pop_front() {
        for node in next(&step.node) {
            if seen.contains(&node) {
                continue;
            }
            if seen.len() > limit {
                walk.truncated = true;
                break;
            }
            seen.insert(node.clone());
            waiting.push_back(Step { node, depth: step.depth + 1, from: Some(step.node.clone()) });
        }
        walk.steps.push(step);
    }
    walk
}

/// What a memory has to show for where it comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Origins {
    /// Its source type is known.
    pub has_source: bool,
    /// Links it was created from: how many there were, and how many still exist.
    pub derived_from: usize,
    pub derived_from_left: usize,
    /// Of the former, captures of its own words: they show that it was written down, not where it comes from.
    pub captures: usize,
    /// Supporting evidence, counted likewise.
    pub evidence: usize,
    pub evidence_left: usize,
}

impl Origins {
    /// No provenance at all (seed 001, section 8, `meta orphans`).
    pub fn is_orphan(&self) -> bool {
        !self.has_source && self.derived_from == self.captures && self.evidence == 0
    }

    /// It had sources and all of them are gone: a hypothesis until reviewed (model.md, "Change of mind").
    pub(crate) fn is_ungrounded(&self) -> bool {
        self.derived_from + self.evidence > 0 && self.derived_from_left + self.evidence_left == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// (child, parent) pairs.
    struct Pairs(Vec<(u8, u8)>);

    impl Links<u8> for Pairs {
        fn parents(&self, node: &u8) -> Vec<u8> {
            self.0.iter().filter(|(child, _)| child == node).map(|(_, parent)| *parent).collect()
        }

        fn children(&self, node: &u8) -> Vec<u8> {
            self.0.iter().filter(|(_, parent)| parent == node).map(|(child, _)| *child).collect()
        }
    }

    fn nodes(walk: &Walk<u8>) -> Vec<(u8, usize)> {
        walk.steps.iter().map(|step| (step.node, step.depth)).collect()
    }

    #[test]
    fn a_belief_leads_up_to_its_raw_captures_and_a_capture_down_to_the_belief() {
        let links = Pairs(vec![(3, 2), (2, 1), (3, 4)]);
        assert_eq!(nodes(&trace_up(&links, &3, 100)), [(3, 0), (2, 1), (4, 1), (1, 2)]);
        assert_eq!(nodes(&trace_down(&links, &1, 100)), [(1, 0), (2, 1), (3, 2)]);
        assert_eq!(trace_down(&links, &1, 100).steps[2].from, Some(2));
    }

    #[test]
    fn a_circle_ends_the_walk_and_shows_each_node_once() {
        let links = Pairs(vec![(1, 2), (2, 3), (3, 1), (1, 1)]);
        let walk = trace_up(&links, &1, 100);
        assert_eq!(nodes(&walk), [(1, 0), (2, 1), (3, 2)]);
        assert!(!walk.truncated);
    }

    #[test]
    fn a_limit_cuts_the_walk_and_says_so() {
        let links = Pairs((1..50).map(|n| (n - 1, n)).collect());
        let walk = trace_up(&links, &0, 10);
        assert_eq!((walk.steps.len(), walk.truncated), (11, true));
        assert!(!trace_up(&links, &0, 49).truncated);
    }

    #[test]
    fn orphans_never_had_a_source_and_the_ungrounded_lost_theirs() {
        let legacy = Origins::default();
        assert!(legacy.is_orphan() && !legacy.is_ungrounded());
        let captured = Origins { derived_from: 1, derived_from_left: 1, captures: 1, ..legacy };
        assert!(captured.is_orphan() && !captured.is_ungrounded(), "a capture of its own words is no provenance");
        assert!(!Origins { derived_from: 2, derived_from_left: 2, ..captured }.is_orphan());
        let told = Origins { has_source: true, ..legacy };
        assert!(!told.is_orphan() && !told.is_ungrounded());
        let derived = Origins { derived_from: 2, derived_from_left: 1, ..told };
        assert!(!derived.is_ungrounded());
        assert!(Origins { derived_from_left: 0, ..derived }.is_ungrounded());
        assert!(!Origins { derived_from_left: 0, evidence: 1, evidence_left: 1, ..derived }.is_ungrounded());
    }

    proptest! {
        #[test]
        fn up_and_down_agree(pairs in proptest::collection::vec((0u8..12, 0u8..12), 0..40), a in 0u8..12, b in 0u8..12) {
            let links = Pairs(pairs);
            let above = trace_up(&links, &a, 1000).steps.iter().any(|step| step.node == b);
            let below = trace_down(&links, &b, 1000).steps.iter().any(|step| step.node == a);
            prop_assert_eq!(above, below);
        }
    }
}
