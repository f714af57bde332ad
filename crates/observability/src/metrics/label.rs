//! Labels are closed: a label is a type whose values are all known when the program is built. Nothing that a message
//! says (an organisation, a patient, an id, a text) can become one.

/// One label with its closed set of values.
pub trait Label: Copy + 'static {
    /// The label's name as Prometheus sees it.
    const NAME: &'static str;
    /// Every value, in the order of [`Label::index`].
    const ALL: &'static [Self];

    /// The value as Prometheus sees it.
    fn code(self) -> &'static str;

    /// Position in [`Label::ALL`].
    fn index(self) -> usize;

    /// The value with this code.
    fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.code() == code)
    }
}

/// The labels of one metric: none, one, two or three, or a type that lists the combinations that exist.
pub trait LabelSet: Copy + 'static {
    const NAMES: &'static [&'static str];
    /// How many series there are.
    const COUNT: usize;

    /// Position of this combination, below [`LabelSet::COUNT`].
    fn index(self) -> usize;

    /// The label values at a position, in the order of [`LabelSet::NAMES`].
    fn values(index: usize) -> Vec<&'static str>;
}

impl LabelSet for () {
    const NAMES: &'static [&'static str] = &[];
    const COUNT: usize = 1;

    fn index(self) -> usize {
        0
    }

    fn values(_index: usize) -> Vec<&'static str> {
        Vec::new()
    }
}

impl<A: Label> LabelSet for A {
    const NAMES: &'static [&'static str] = &[A::NAME];
    const COUNT: usize = A::ALL.len();

    fn index(self) -> usize {
        Label::index(self)
    }

    fn values(index: usize) -> Vec<&'static str> {
        vec![A::ALL[index].code()]
    }
}

impl<A: Label, B: Label> LabelSet for (A, B) {
    const NAMES: &'static [&'static str] = &[A::NAME, B::NAME];
    const COUNT: usize = A::ALL.len() * B::ALL.len();

    fn index(self) -> usize {
        self.0.index() * B::ALL.len() + self.1.index()
    }

    fn values(index: usize) -> Vec<&'static str> {
        vec![A::ALL[index / B::ALL.len()].code(), B::ALL[index % B::ALL.len()].code()]
    }
}

impl<A: Label, B: Label, C: Label> LabelSet for (A, B, C) {
    const NAMES: &'static [&'static str] = &[A::NAME, B::NAME, C::NAME];
    const COUNT: usize = A::ALL.len() * <(B, C)>::COUNT;

    fn index(self) -> usize {
        self.0.index() * <(B, C)>::COUNT + (self.1, self.2).index()
    }

    fn values(index: usize) -> Vec<&'static str> {
        let mut values = vec![A::ALL[index / <(B, C)>::COUNT].code()];
        values.extend(<(B, C)>::values(index % <(B, C)>::COUNT));
        values
    }
}

/// Declares a closed label: `label!(/// doc Queue as "queue" { File = "file", … })`.
macro_rules! label {
    ($(#[$doc:meta])* $name:ident as $label:literal { $($variant:ident = $code:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(unreachable_pub)] // some labels are used in this crate alone
        pub enum $name { $($variant),+ }

        impl $crate::metrics::label::Label for $name {
            const NAME: &'static str = $label;
            const ALL: &'static [Self] = &[$($name::$variant),+];

            fn code(self) -> &'static str {
                match self { $($name::$variant => $code),+ }
            }

            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

/// Makes an enum of another module a label. It must be fieldless, with `ALL` in the order of declaration and `code`.
macro_rules! label_of {
    ($name:ty as $label:literal) => {
        impl $crate::metrics::label::Label for $name {
            const NAME: &'static str = $label;
            const ALL: &'static [Self] = <$name>::ALL;

            fn code(self) -> &'static str {
                <$name>::code(self)
            }

            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

pub(crate) use {label, label_of};

#[cfg(test)]
mod tests {
    use super::*;

    label!(Colour as "colour" { Red = "red", Green = "green", Blue = "blue" });
    label!(Size as "size" { Small = "small", Large = "large" });

    fn positions<L: LabelSet>(all: &[L]) -> Vec<usize> {
        all.iter().map(|l| l.index()).collect()
    }

    #[test]
    fn every_combination_has_its_own_position_and_reads_back_as_itself() {
        let mut all = Vec::new();
        for colour in Colour::ALL {
            for size in Size::ALL {
                all.push((*colour, *size));
            }
        }
        assert_eq!(positions(&all), (0..<(Colour, Size)>::COUNT).collect::<Vec<_>>());
        for (colour, size) in all {
            assert_eq!(<(Colour, Size)>::values((colour, size).index()), vec![colour.code(), size.code()]);
        }
    }

    #[test]
    fn three_labels_number_their_combinations_without_a_gap() {
        let mut seen: Vec<usize> = Vec::new();
        for a in Size::ALL {
            for b in Colour::ALL {
                for c in Size::ALL {
                    seen.push((*a, *b, *c).index());
                    let values = <(Size, Colour, Size)>::values((*a, *b, *c).index());
                    assert_eq!(values, vec![a.code(), b.code(), c.code()]);
                }
            }
        }
        assert_eq!(seen, (0..12).collect::<Vec<_>>());
    }
}
