//! The page: one file with all charts and tables, for a desk and a phone, light and dark.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::ReportError;
use super::charts::{self, Lines, Scale, time};
use super::groups::{Group, groups};
use super::parts::{Done, Size};
use super::rows::{Rows, number, text};
use crate::output::human::{machine, version};

const STYLE: &str = include_str!("report.css");

const PEERS: [&str; 9] =
    ["papaya", "scc", "dashmap", "flurry", "hashbrown", "parking_lot", "spin", "seqlock", "foldhash"];

/// The percentiles that rows have, in order, with what they are called: of calls, of inserts, of reads.
const PERCENTILES: [(&str, &[(&str, &str)]); 3] = [
    ("single accesses", &[("p50", "p50_ns"), ("p99", "p99_ns"), ("p99.9", "p999_ns"), ("max", "max_ns")]),
    (
        "inserts",
        &[
            ("p50", "insert_p50_ns"),
            ("p99", "insert_p99_ns"),
            ("p99.9", "insert_p999_ns"),
            ("p99.99", "insert_p9999_ns"),
            ("max", "insert_max_ns"),
        ],
    ),
    ("reads", &[("p50", "read_p50_ns"), ("p99.9", "read_p999_ns"), ("max", "read_max_ns")]),
];

/// The page of these parts.
///
/// # Errors
///
/// If a chart can't be drawn.
pub fn page(parts: &[Done], size: Size) -> Result<String, ReportError> {
    let sections = parts.iter().map(section).collect::<Result<Vec<_>, _>>()?;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "latchfree beside its peers" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "latchfree beside its peers" }
                (facts(parts, size))
                (losses(parts))
                @for section in &sections { (section) }
            }
        }
    };
    Ok(page.into_string())
}

fn facts(parts: &[Done], size: Size) -> Markup {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string();
    let peers = PEERS.map(|name| format!("{name} {}", version(name))).join(", ");
    html! {
        p { (now) ", " (machine()) }
        p { "Versions: " (peers) }
        @if size != Size::Full {
            p.lost { "A short run: the intervals are wide, and the tables small." }
        }
        p {
            "All contestants take turns in rounds within one process; bars are medians, the line on a bar is where the \
             median lies with 95 % confidence (bootstrap), percentiles are of single operations. Every answer was \
             checked. " b.ours { "Ours" } ", " b.peer { "others" } ", " b.ahead { "others that are ahead of ours" } "."
        }
        details {
            summary { "Commands" }
            ul { @for part in parts { li { code { (part.command) } } } }
        }
    }
}

/// Where ours are behind, all parts together.
fn losses(parts: &[Done]) -> Markup {
    let groups: Vec<(&str, Group)> = parts
        .iter()
        .flat_map(|part| groups(&part.rows).into_iter().map(|group| (part.part.name, group)))
        .collect();
    let compared = groups.iter().filter(|(_, group)| group.best().is_some()).count();
    let lost =
        || groups.iter().filter_map(|(part, group)| Some((part, group, group.lost_to()?, group.best()?.0)));
    html! {
        h2 { "Where we lose" }
        p { (lost().count()) " of " (compared) " comparisons." }
        @if lost().next().is_some() {
            div.wide.wraps { table {
                tr { th { "part" } th { "comparison" } th { "ours" } th { "ahead" } th { "times its time" } }
                @for (part, group, (peer, times), ours) in lost() {
                    tr.lost {
                        td { (part) } td { (group.title) }
                        td { (ours.name) " " (time(ours.ns)) } td { (peer.name) " " (time(peer.ns)) }
                        td { (format!("{times:.2}")) }
                    }
                }
            } }
        }
    }
}

fn section(done: &Done) -> Result<Markup, ReportError> {
    let bars = groups(&done.rows).iter().map(figure).collect::<Result<Vec<_>, _>>()?;
    let charts = [bars, percentiles(&done.rows)?, growth(&done.series)?].concat();
    Ok(html! {
        h2 id=(done.part.name) { (done.part.title) }
        p { code { (done.command) } }
        p { "Figures: " (done.part.kind) "." }
        div.charts { @for chart in &charts { (chart) } }
        details { summary { "Aims, and what was reached" } div.wide { pre { (done.said) } } }
        details open[charts.is_empty()] {
            summary { "All figures" }
            @for (name, _) in done.tables() { p { a href=(format!("{name}.csv")) { (name) ".csv" } } }
            div.wide { (table(&done.rows)) }
        }
    })
}

fn figure(group: &Group) -> Result<Markup, ReportError> {
    let svg = charts::bars(group)?;
    Ok(html! {
        figure {
            figcaption {
                (group.title)
                @if let Some((peer, times)) = group.lost_to() {
                    " " span.lost { "behind " (peer.name) ": " (format!("{times:.2}")) " times its time" }
                }
            }
            (PreEscaped(svg))
        }
    })
}

fn titled(title: &str, svg: String, names: &[&str]) -> Markup {
    html! {
        figure {
            figcaption { (title) }
            (PreEscaped(svg))
            @if !names.is_empty() {
                p.legend { @for (number, name) in names.iter().enumerate() {
                    span { i class=(format!("line{number}")) {} (name) } " "
                } }
            }
        }
    }
}

/// The names of a table's rows, each once.
fn names(rows: &Rows) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for row in &rows.rows {
        let name = text(row, "table");
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn percentiles(rows: &Rows) -> Result<Vec<Markup>, ReportError> {
    let names = names(rows);
    let mut threads: Vec<String> = rows.rows.iter().map(|row| text(row, "threads")).collect();
    threads.dedup();
    let mut shown = Vec::new();
    for (what, places) in PERCENTILES {
        for threads in &threads {
            let of = rows
                .rows
                .iter()
                .filter(|row| text(row, "threads") == *threads && row.contains_key(places[0].1));
            let lines: Lines = of
                .map(|row| {
                    let number_of =
                        names.iter().position(|name| *name == text(row, "table")).unwrap_or_default();
                    let ns = places.iter().map(|(_, field)| number(row, field).unwrap_or_default());
                    (number_of, ns.enumerate().map(|(at, ns)| (at as f64, ns)).collect())
                })
                .collect();
            if !lines.is_empty() {
                let on = if threads.is_empty() { String::new() } else { format!(", threads {threads}") };
                let svg =
                    charts::percentiles(&places.iter().map(|(name, _)| *name).collect::<Vec<_>>(), &lines)?;
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                shown.push(titled(&format!("percentiles of {what}{on}"), svg, &names));
            }
        }
    }
    Ok(shown)
}

/// Growth over time: the bytes of all tables, and the latest insert of each.
fn growth(series: &Rows) -> Result<Vec<Markup>, ReportError> {
    let names = names(series);
    let points = |name: &str, phase: &str, field: &str| -> Vec<(f64, f64)> {
        let of = series.rows.iter().filter(|row| text(row, "table") == name && text(row, "phase") == phase);
        of.filter_map(|row| Some((number(row, "at_ms")? / 1e3, number(row, field)?))).collect()
    };
    let mut shown = Vec::new();
    let shown_names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (phase, what) in [("insert", "while it grows"), ("remove", "while all is removed")] {
        let lines: Lines = names.iter().map(|name| points(name, phase, "bytes")).enumerate().collect();
        if lines.iter().any(|(_, points)| !points.is_empty()) {
            let svg = charts::over_time(&lines, Scale::Bytes)?;
            shown.push(titled(&format!("bytes {what}"), svg, &shown_names));
        }
    }
    let latest: Lines = names.iter().map(|name| points(name, "insert", "max_ns")).enumerate().collect();
    let scale = Scale::LogTo(charts::ends(&latest).1);
    for (line, name) in latest.into_iter().zip(&names) {
        let svg = charts::over_time(&vec![line], scale)?;
        shown.push(titled(&format!("{name}: the latest insert of every 50 ms"), svg, &[]));
    }
    Ok(shown)
}

fn table(rows: &Rows) -> Markup {
    html! {
        table {
            tr { @for name in &rows.columns { th { (name) } } }
            @for row in &rows.rows {
                tr { @for name in &rows.columns { td { (text(row, name)) } } }
            }
        }
    }
}
