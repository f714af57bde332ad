//! How often: "twice daily", "cada 8 horas", "c/12h", "dos veces al día", "bid", in one form.

use super::normalize::TextItem;

/// The rhythm that the items begin with, and how many they are: "3/day", "1/week", "every 5 hour".
pub(crate) fn read(items: &[TextItem]) -> Option<(usize, String)> {
    counted(items).or_else(|| every(items)).or_else(|| code(items)).or_else(|| {
        let (length, period) = period(items)?;
        Some((length, format!("1/{period}")))
    })
}

/// "once a day", "3 times per week", "una vez al día".
fn counted(items: &[TextItem]) -> Option<(usize, String)> {
    let (count, used) = match items {
        [first, ..] if first.is(&["once"]) => (1, 1),
        [first, ..] if first.is(&["twice"]) => (2, 1),
        [first, ..] if first.is(&["thrice"]) => (3, 1),
        [number, times, ..] if times.is(&["time", "times", "vez", "veces", "x"]) => (number.whole()?, 2),
        _ => return None,
    };
    let (length, period) = period(&items[used..])?;
    Some((used + length, format!("{count}/{period}")))
}

/// "every 8 hours", "cada 12 horas", "cada dos días".
fn every(items: &[TextItem]) -> Option<(usize, String)> {
    let [every, number, unit, ..] = items else { return None };
    let count = number.whole().filter(|count| *count > 0 && every.is(&["every", "each", "cada", "q"]))?;
    let unit = if unit.is(&["h", "hr", "hrs", "hour", "hours", "hora", "horas"]) { "hour" } else { span(unit)? };
    let text = match (unit, 24 % count) {
        ("hour", 0) => format!("{}/day", 24 / count),
        _ if count == 1 => format!("1/{unit}"),
        _ => format!("every {count} {unit}"),
    };
    Some((3, text))
}

/// Prescribers' Latin.
fn code(items: &[TextItem]) -> Option<(usize, String)> {
    let count = match items.first()?.word()? {
        "qd" | "od" => 1,
        "bid" => 2,
        "tid" => 3,
        "qid" => 4,
        _ => return None,
    };
    Some((1, format!("{count}/day")))
}

fn span(item: &TextItem) -> Option<&'static str> {
    match item.word()? {
        "day" | "days" | "dia" | "dias" => Some("day"),
        "week" | "weeks" | "semana" | "semanas" => Some("week"),
        "month" | "months" | "mes" | "meses" => Some("month"),
        "year" | "years" | "ano" | "anos" => Some("year"),
        "hour" | "hours" | "hora" | "horas" => Some("hour"),
        _ => None,
    }
}

fn period(items: &[TextItem]) -> Option<(usize, &'static str)> {
    match items {
        [first, ..] if first.is(&["daily", "diario", "diaria", "diarios", "diarias", "diariamente"]) => {
            Some((1, "day"))
        }
        [first, ..] if first.is(&["weekly", "semanal", "semanales", "semanalmente"]) => Some((1, "week")),
        [first, ..] if first.is(&["monthly", "mensual", "mensuales", "mensualmente"]) => Some((1, "month")),
        [a, b, c, ..] if a.is(&["todos", "todas"]) && b.is(&["los", "las"]) => span(c).map(|unit| (3, unit)),
        [a, b, c, ..] if a.is(&["a"]) && b.is(&["la"]) => span(c).map(|unit| (3, unit)),
        [a, b, ..] if a.is(&["a", "al", "per", "por", "every", "each", "cada"]) => span(b).map(|unit| (2, unit)),
        _ => None,
    }
}
