//! The steps against the same in f64, and the cutting against a search through every way to cut.

use proptest::prelude::*;

use super::codes::Codes;
use super::layers::{erf, exp, gelu, softmax};
use super::matmul::{MatrixView, Right, Scale, multiply, weigh};
use super::pieces::Pieces;

/// The error function by its series, in f64.
fn error_function(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

#[test]
fn the_exponential_and_the_error_function_are_those_of_the_books() {
    for i in -40_000..=40_000 {
        let x = i as f32 / 10_000.0;
        assert!((f64::from(erf(x)) - error_function(f64::from(x))).abs() < 1e-6, "erf {x}");
        let (power, x) = (exp(20.0 * x), f64::from(20.0 * x));
        assert!((f64::from(power) / x.exp() - 1.0).abs() < 2.5e-7, "exp {x}");
    }
    assert_eq!((exp(0.0), erf(0.0)), (1.0, 0.0));
    assert!(exp(-1e9) > 0.0 && exp(1e9).is_finite() && (erf(9.0) - 1.0).abs() < 1e-6);
}

#[test]
fn logits_become_probabilities_and_a_row_with_one_far_above_the_others_stays_finite() {
    let mut row = vec![3.0, 1.0, -2.0, 0.5, 0.0, 0.0, 0.0, 0.0, 3.0];
    softmax(&mut row);
    assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6);
    assert_eq!(row[0], row[8]);
    assert!((row[0] / row[1] - 2f32.exp()).abs() < 1e-5);
    let mut steep = vec![1e30, 0.0, -1e30];
    softmax(&mut steep);
    assert!((steep[0] - 1.0).abs() < 1e-6 && steep.iter().all(|value| value.is_finite()));
    softmax(&mut []);
}

#[test]
fn the_gate_is_the_exact_one() {
    let mut row = vec![-3.0, -0.5, 0.0, 1.0, 2.0];
    gelu(&mut row);
    for (got, x) in row.iter().zip([-3.0f64, -0.5, 0.0, 1.0, 2.0]) {
        let exact = 0.5 * x * (1.0 + error_function(x / std::f64::consts::SQRT_2));
        assert!((f64::from(*got) - exact).abs() < 2e-6, "{x}");
    }
}

#[test]
fn a_product_takes_its_right_side_as_it_lies_or_transposed_and_writes_between_other_columns() {
    let left = [1.0, 2.0, 3.0, 4.0];
    let right = [1.0, 10.0, 9.0, 2.0, 20.0, 9.0];
    let (left, right) = (MatrixView::dense(&left, 2), MatrixView { data: &right, rows: 2, cols: 2, stride: 3 });
    let mut out = [7.0; 6];
    multiply(left, Right::Plain(right), Scale { factor: 1.0, keep: 0.0 }, &mut out, 3);
    assert_eq!(out, [5.0, 50.0, 7.0, 11.0, 110.0, 7.0]);
    multiply(left, Right::Transposed(right), Scale { factor: 2.0, keep: 1.0 }, &mut out, 3);
    assert_eq!(out, [47.0, 134.0, 7.0, 97.0, 282.0, 7.0]);
}

fn pieces() -> Pieces {
    let texts = ["", "a", "b", "ab", "ba", "aab", "ñ", "bañ"];
    let scores = vec![0.0, -2.0, -3.0, -4.0, -4.5, -5.0, -6.0, -7.0];
    Pieces::new(&texts, scores, &[0], (0, -20.0)).unwrap()
}

/// The score of the best way to cut, by trying all.
fn best(pieces: &[(&str, f64)], text: &str) -> f64 {
    let Some(first) = text.chars().next() else { return 0.0 };
    let known = pieces.iter().filter_map(|(piece, score)| Some(score + best(pieces, text.strip_prefix(piece)?)));
    known.fold(best(pieces, &text[first.len_utf8()..]) - 20.0, f64::max)
}

#[test]
fn a_vocabulary_that_does_not_fit_its_scores_or_fears_no_unknown_is_refused() {
    assert!(Pieces::new(&["", "a"], vec![0.0], &[0], (0, -20.0)).is_none());
    assert!(Pieces::new(&["", "a"], vec![0.0, -30.0], &[0], (0, -20.0)).is_none());
    assert!(Pieces::new(&["", "a"], vec![0.0, -3.0], &[2], (2, -20.0)).is_none());
    assert!(Pieces::new(&["", ""], vec![0.0, -3.0], &[0], (0, -20.0)).is_none());
    assert!(Pieces::new(&[""], vec![0.0], &[0], (0, -20.0)).is_none());
}

proptest! {
    #[test]
    fn the_cut_is_the_most_probable_one(text in "[abñx]{0,9}") {
        let known =
            [("a", -2.0), ("b", -3.0), ("ab", -4.0), ("ba", -4.5), ("aab", -5.0), ("ñ", -6.0), ("bañ", -7.0)];
        let scores = [-20.0, -2.0, -3.0, -4.0, -4.5, -5.0, -6.0, -7.0];
        let mut cuts = Vec::new();
        pieces().cut(&text, &mut Vec::new(), &mut cuts);
        let score: f64 = cuts.iter().map(|cut| scores[cut.id as usize]).sum();
        prop_assert!((score - best(&known, &text)).abs() < 1e-9);
        prop_assert_eq!(cuts.last().map_or(0, |cut| cut.end), text.len());
        prop_assert!(cuts.iter().all(|cut| text.is_char_boundary(cut.end)));
    }
}

#[test]
fn weighed_values_are_the_same_product_as_the_other_library_makes_for_any_number_of_rows() {
    for rows in [1usize, 2, 63, 64, 65, 250] {
        let (inputs, outputs, stride) = (rows, 5, 7);
        let number = |n: usize| (n * 7919 % 1000) as f32 / 500.0 - 1.0;
        let weights: Vec<f32> = (0..rows * inputs).map(number).collect();
        let data: Vec<f32> = (0..inputs * stride).map(|n| number(n + 13)).collect();
        let values = MatrixView { data: &data, rows: inputs, cols: outputs, stride };
        let (mut got, mut expected) = (vec![9.0; rows * stride], vec![9.0; rows * stride]);
        weigh(&weights, values, &mut got, stride);
        let plain = Scale { factor: 1.0, keep: 0.0 };
        multiply(MatrixView::dense(&weights, inputs), Right::Plain(values), plain, &mut expected, stride);
        for (got, expected) in got.iter().zip(&expected) {
            assert!((got - expected).abs() < 1e-4, "{rows} rows: {got} is not {expected}");
        }
        // What lies between the rows of the result is left alone.
        assert!(got.chunks_exact(stride).all(|row| row[outputs..] == [9.0; 2]));
    }
    weigh(&[], MatrixView { data: &[], rows: 0, cols: 5, stride: 7 }, &mut [], 7);
}

/// Of a row, the numbers that the product sees, none of which is further than half a step from the row's own.
fn on_steps(row: &[f32]) -> Vec<f64> {
    let (least, greatest) = row.iter().fold((f32::MAX, f32::MIN), |(a, b), &value| (a.min(value), b.max(value)));
    let step = (greatest - least) / 127.0;
    let each = 1.0 / step;
    let steps = row.iter().map(|value| ((value - least) * each + 0.5) as u8);
    let seen: Vec<f64> = steps.map(|count| f64::from(least) + f64::from(step) * f64::from(count)).collect();
    for (seen, own) in seen.iter().zip(row) {
        assert!((seen - f64::from(*own)).abs() < f64::from(step) * 0.501, "{own} was rounded to {seen}");
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Sizes around the borders of what one call of the library takes.
    #[test]
    fn a_product_of_codes_is_that_of_the_rounded_rows_and_no_row_depends_on_its_neighbours(
        rows in prop_oneof![Just(1usize), Just(2), Just(63), Just(64), Just(65), Just(130)],
        inputs in prop_oneof![Just(1usize), Just(7), Just(32), Just(384), Just(1536)],
        outputs in prop_oneof![Just(1usize), Just(9), Just(127), Just(128), Just(129), Just(384)],
        seed in any::<u32>(),
    ) {
        let mut state = seed | 1;
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state
        };
        // The greatest codes stand together where a sum of 16 bits would run over.
        let codes: Vec<i8> = (0..inputs * outputs).map(|n| if n % 5 == 0 { 127 } else { (draw() % 255) as i16 as i8 }).map(|code| code.max(-127)).collect();
        let scale: Vec<f32> = (0..outputs).map(|_| (draw() % 1000) as f32 / 1e5).collect();
        let input: Vec<f32> = (0..rows * inputs).map(|_| (draw() % 2000) as f32 / 100.0 - 7.0).collect();
        let product = Codes::new(&codes, inputs, &scale).unwrap();
        let mut out = vec![0.25; rows * outputs];
        product.add_product(&input, &mut out);
        for (row, got) in input.chunks_exact(inputs).zip(out.chunks_exact(outputs)) {
            let (row, mut alone) = (row.to_vec(), vec![0.25; outputs]);
            product.add_product(&row, &mut alone);
            prop_assert_eq!(got, &alone[..]);
            if inputs == 1 {
                continue; // a single number has no step
            }
            let seen = on_steps(&row);
            for ((codes, scale), got) in codes.chunks_exact(inputs).zip(&scale).zip(got) {
                let weights = codes.iter().map(|&code| f64::from(code) * f64::from(*scale));
                let exact = 0.25 + weights.zip(&seen).map(|(weight, value)| weight * value).sum::<f64>();
                let slack = 1e-4 * (1.0 + exact.abs());
                prop_assert!((f64::from(*got) - exact).abs() < slack, "{got} is not {exact}");
            }
        }
    }
}

#[test]
fn codes_whose_sizes_do_not_fit_are_refused_and_a_row_of_one_number_is_kept() {
    assert!(Codes::new(&[1, 2, 3], 2, &[1.0]).is_none());
    assert!(Codes::new(&[], 0, &[]).is_none());
    let codes = Codes::new(&[2, -1, 127, 127], 2, &[0.5, 1.0]).unwrap();
    let mut out = vec![0.0; 2];
    codes.add_product(&[3.0, 3.0], &mut out);
    assert_eq!(out, [1.5, 762.0]);
}
