//! Charts as SVG, drawn by `plotters`.
//!
//! Text, lines and bars are drawn in colours that stand for what they are; the page's style sheet replaces them, in
//! another way where the reader wants it dark. Charts are narrow, so that their text can be read on a phone.

use std::fmt::Display;

use plotters::coord::Shift;
use plotters::coord::ranged1d::SegmentValue;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::ReportError;
use super::groups::{Bar, Group};

/// Stands for text and axes.
const INK: RGBColor = RGBColor(1, 2, 3);
/// Stands for lines behind.
const GRID: RGBColor = RGBColor(4, 5, 6);
/// Stands for our bars.
const OURS: RGBColor = RGBColor(7, 8, 9);
/// Stands for the bars of others.
const PEER: RGBColor = RGBColor(16, 17, 18);
/// Stands for bars of others that are ahead of ours.
const AHEAD: RGBColor = RGBColor(19, 20, 21);
/// Stands for the lines of tables, by their number.
const LINES: [RGBColor; 7] = [
    RGBColor(32, 1, 1),
    RGBColor(32, 2, 2),
    RGBColor(32, 3, 3),
    RGBColor(32, 4, 4),
    RGBColor(32, 5, 5),
    RGBColor(32, 6, 6),
    RGBColor(32, 7, 7),
];

const WIDTH: u32 = 480;
const HEIGHT: u32 = 260;
const BAR_HEIGHT: u32 = 26;
const FONT: (&str, i32) = ("sans-serif", 14);
/// The narrowest time that a chart in powers of ten shows.
const LEAST_NS: f64 = 10.0;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Lines of a chart: each a number of a table and its points.
pub type Lines = Vec<(usize, Vec<(f64, f64)>)>;

/// A bar for each row of a group, with its interval.
///
/// # Errors
///
/// What the library says.
pub fn bars(group: &Group) -> Result<String, ReportError> {
    let height = 40 + BAR_HEIGHT * group.bars.len() as u32;
    let lost = group.lost_to().is_some();
    let ours_ns = group.best().map_or(f64::INFINITY, |(ours, _)| ours.ns);
    let colour = |bar: &Bar| match bar.is_ours {
        true => OURS,
        false if lost && bar.is_compared && bar.ns < ours_ns => AHEAD,
        false => PEER,
    };
    let end = |bar: &Bar| bar.interval.map_or(bar.ns, |(_, high)| high.max(bar.ns));
    let most = group.bars.iter().map(end).fold(1.0, f64::max) * 1.2;
    // The first row is on top.
    let bars: Vec<&Bar> = group.bars.iter().rev().collect();
    svg(height, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(4)
            .margin_right(16)
            .x_label_area_size(30)
            .y_label_area_size(150)
            .build_cartesian_2d(0.0..most, (0..bars.len().saturating_sub(1)).into_segmented())
            .map_err(said)?;
        let name = |at: &SegmentValue<usize>| match at {
            SegmentValue::CenterOf(index) => {
                bars.get(*index).map_or_else(String::new, |bar| bar.name.clone())
            }
            _ => String::new(),
        };
        let mut mesh = chart.configure_mesh();
        mesh.disable_y_mesh().light_line_style(TRANSPARENT).bold_line_style(GRID).axis_style(GRID);
        mesh.x_labels(4).y_labels(bars.len()).y_label_formatter(&name).x_label_formatter(&|ns| time(*ns));
        mesh.label_style(FONT.into_font().color(&INK)).draw().map_err(said)?;
        let label = FONT.into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
        for (index, bar) in bars.iter().enumerate() {
            let above =
                if index + 1 == bars.len() { SegmentValue::Last } else { SegmentValue::Exact(index + 1) };
            let low = SegmentValue::Exact(index);
            let mut shape = Rectangle::new([(0.0, low), (bar.ns, above)], colour(bar).filled());
            shape.set_margin(4, 4, 0, 0);
            chart.draw_series([shape]).map_err(said)?;
            let center = SegmentValue::CenterOf(index);
            if let Some((low, high)) = bar.interval {
                let whisker =
                    PathElement::new([(low, center.clone()), (high, center.clone())], INK.stroke_width(2));
                chart.draw_series([whisker]).map_err(said)?;
            }
            let figure = Text::new(format!(" {}", time(bar.ns)), (end(bar), center), label.clone());
            chart.draw_series([figure]).map_err(said)?;
        }
        Ok(())
    })
}

/// Lines over the shares of operations: the n-th place is the n-th of `places`.
///
/// # Errors
///
/// What the library says.
pub fn percentiles(places: &[&str], lines: &Lines) -> Result<String, ReportError> {
    let at = |x: &f64| {
        let index = x.round() as usize;
        if (x - x.round()).abs() < 0.01 {
            places.get(index).copied().unwrap_or_default().to_owned()
        } else {
            String::new()
        }
    };
    chart(lines, places.len(), &at, Scale::Log)
}

/// Lines over the time in seconds.
///
/// # Errors
///
/// What the library says.
pub fn over_time(lines: &Lines, scale: Scale) -> Result<String, ReportError> {
    let digits = usize::from(ends(lines).0 < 5.0);
    chart(lines, 5, &|seconds| format!("{seconds:.digits$} s"), scale)
}

/// How heights are shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// Times, in powers of ten.
    Log,
    /// The same up to a time, so that charts can be compared.
    LogTo(f64),
    /// Bytes, from 0.
    Bytes,
}

fn chart(
    lines: &Lines,
    x_labels: usize,
    at: &dyn Fn(&f64) -> String,
    scale: Scale,
) -> Result<String, ReportError> {
    let (right, highest) = ends(lines);
    let top = highest * 1.1;
    let decade = |ns: f64, up: f64| 10_f64.powf((ns.log10() + up).floor());
    let lowest = lines.iter().flat_map(|(_, points)| points).map(|point| point.1).fold(highest, f64::min);
    let bottom = decade(lowest.max(LEAST_NS), 0.0);
    let mb_digits = if top < 1e7 { 2 } else { 0 };
    svg(HEIGHT, |area| {
        let mut builder = ChartBuilder::on(area);
        builder.margin(4).margin_top(12).margin_right(20).x_label_area_size(30).y_label_area_size(70);
        // The two scales are types of their own.
        macro_rules! draw {
            ($range:expr, $shown:expr, $least:expr) => {{
                let mut chart = builder.build_cartesian_2d(0.0..right, $range).map_err(said)?;
                let shown = $shown;
                let mut mesh = chart.configure_mesh();
                mesh.light_line_style(TRANSPARENT).bold_line_style(GRID).axis_style(GRID);
                mesh.x_labels(x_labels).y_labels(6).x_label_formatter(&at).y_label_formatter(&shown);
                mesh.label_style(FONT.into_font().color(&INK)).draw().map_err(said)?;
                for (number, points) in lines {
                    let points = points.iter().map(|(x, y)| (*x, y.max($least)));
                    let style = LINES[number % LINES.len()].stroke_width(2);
                    chart.draw_series(LineSeries::new(points, style)).map_err(said)?;
                }
            }};
        }
        match scale {
            Scale::Log => draw!((bottom..decade(highest, 1.0)).log_scale(), |ns: &f64| time(*ns), bottom),
            Scale::LogTo(ns) => {
                draw!((LEAST_NS..decade(ns, 1.0)).log_scale(), |ns: &f64| time(*ns), LEAST_NS)
            }
            Scale::Bytes => draw!(0.0..top, |bytes: &f64| format!("{:.mb_digits$} MB", bytes / 1e6), 0.0),
        }
        Ok(())
    })
}

/// The last x, and the highest y.
#[must_use]
pub fn ends(lines: &Lines) -> (f64, f64) {
    let points = || lines.iter().flat_map(|(_, points)| points);
    (
        points().map(|point| point.0).fold(0.1, f64::max),
        points().map(|point| point.1).fold(LEAST_NS, f64::max),
    )
}

fn svg(height: u32, draw: impl FnOnce(&Area<'_>) -> Result<(), ReportError>) -> Result<String, ReportError> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        draw(&area)?;
        area.present().map_err(said)?;
    }
    Ok(svg)
}

fn said(error: impl Display) -> ReportError {
    ReportError::Chart(error.to_string())
}

/// A time in the unit that suits it.
#[must_use]
pub fn time(ns: f64) -> String {
    let digits = |value: f64| usize::from(value < 10.0 && (value * 10.0).round() % 10.0 != 0.0);
    for (unit, size) in [("s", 1e9), ("ms", 1e6), ("us", 1e3)] {
        if ns >= size {
            let value = ns / size;
            return format!("{value:.*} {unit}", digits(value));
        }
    }
    format!("{ns:.*} ns", digits(ns))
}

#[cfg(test)]
mod tests {
    use super::{Bar, Group, Scale, bars, over_time, percentiles, time};

    #[test]
    fn times_have_the_unit_that_suits_them() {
        assert_eq!(
            [0.0, 3.25, 47.0, 1_500.0, 2e6, 1.25e9].map(time),
            ["0 ns", "3.2 ns", "47 ns", "1.5 us", "2 ms", "1.2 s"]
        );
    }

    #[test]
    fn charts_have_what_they_show() {
        let bar = |name: &str, ns, is_ours| Bar {
            name: name.to_owned(),
            ns,
            interval: Some((ns - 1.0, ns + 1.0)),
            is_ours,
            is_compared: true,
        };
        let group =
            Group { title: String::new(), bars: vec![bar("lhash", 40.0, true), bar("papaya", 30.0, false)] };
        let svg = bars(&group).unwrap();
        for part in ["lhash", "papaya", " 40 ns", "#070809", "#131415", "viewBox"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        let lines = vec![(0, vec![(0.0, 50.0), (1.0, 1e6)]), (1, vec![(0.0, 0.0), (1.0, 7e3)])];
        let svg = percentiles(&["p50", "max"], &lines).unwrap();
        assert!(svg.contains("p50") && svg.contains("max") && svg.contains("#200101"), "{svg}");
        assert!(over_time(&lines, Scale::Bytes).unwrap().contains(" MB"));
        assert!(over_time(&Vec::new(), Scale::Log).is_ok(), "nothing is drawn as nothing");
    }
}
