//! Line plots, over time as a rule: linear or logarithmic, with ticks, legend, title and description.
//!
//! Reads: points.  Writes: one `<figure>` with an inline SVG, or an SVG file of its own.
//! Called by: `report`, `validate`, `compare`.
//! Source: ticks at 1, 2 and 5 times a power of ten; lines differ in dash as well as in colour.

use std::fmt::Write as _;

use super::{coordinate, escape};
use crate::format::number;

/// How values become heights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By powers of ten; zero sits on the lower edge.
    Log,
}

/// One line of a plot.
#[derive(Clone, Debug)]
pub struct Line {
    /// Name in the legend.
    pub name: String,
    /// Time [s], or what else runs across, and value, in order.
    pub points: Vec<(f64, f64)>,
}

/// What runs across.
#[derive(Clone, Debug)]
pub struct Across {
    /// Name and unit.
    pub label: String,
    /// How it becomes a place.
    pub scale: Scale,
}

impl Across {
    /// Time in seconds, evenly.
    pub fn time() -> Self {
        Self {
            label: "time [s]".into(),
            scale: Scale::Linear,
        }
    }
}

/// One plot.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Unique in the page; letters and dashes.
    pub id: String,
    /// Heading.
    pub title: String,
    /// What it shows, for those who cannot see it and those who wonder.
    pub description: String,
    /// Unit of the values.
    pub unit: String,
    /// How values become heights.
    pub scale: Scale,
    /// What runs across.
    pub across: Across,
    /// The lines; those without a value other than zero are named but not drawn.
    pub lines: Vec<Line>,
}

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 38.0;
/// A logarithmic axis spans at most this many powers of ten: what lies below is as good as zero.
const DECADES_MAX: i32 = 16;
/// Height of a line of the legend in a file.
const LEGEND: f64 = 16.0;
/// Lines of at most this many points show each of them.
const MARKS_MAX: usize = 8;
/// What a file needs beyond the style of the page.
const FILE_STYLE: &str = "svg { background: var(--page); font: 12px system-ui, sans-serif; } .plot text.head { fill: var(--text); font-size: 13px; }\n";
/// Distinct line styles; further lines start over.
const STYLES: usize = 9;

/// Value axis: from the lower to the upper edge.
#[derive(Clone, Debug, PartialEq)]
struct Axis {
    low: f64,
    high: f64,
    scale: Scale,
    ticks: Vec<f64>,
}

impl Axis {
    /// An axis that holds all values; `None` if there is nothing to show.
    fn fit(values: impl Iterator<Item = f64>, scale: Scale) -> Option<Self> {
        let finite = values.filter(|v| v.is_finite());
        match scale {
            Scale::Linear => {
                let (low, high) = bounds(finite)?;
                Some(Self::linear(low, high))
            }
            Scale::Log => {
                let (low, high) = bounds(finite.map(f64::abs).filter(|v| *v > 0.0))?;
                let high = (high.log10() - 1e-9).ceil() as i32;
                let low = (low.log10() + 1e-9).floor() as i32;
                let low = low.clamp(high - DECADES_MAX, high - 1);
                let step = (high - low + 5) / 6;
                let ticks = (low..=high)
                    .filter(|e| (high - e) % step == 0)
                    .map(f64::from)
                    .collect();
                Some(Self {
                    low: f64::from(low),
                    high: f64::from(high),
                    scale,
                    ticks,
                })
            }
        }
    }

    fn linear(low: f64, high: f64) -> Self {
        // A constant line gets room above and below.
        let (low, high) = if high - low > 1e-12 * high.abs().max(low.abs()) {
            (low, high)
        } else if low == 0.0 {
            (0.0, 1.0)
        } else {
            (low.min(0.0), high.max(0.0))
        };
        let raw = (high - low) / 5.0;
        let power = 10f64.powi(raw.log10().floor() as i32);
        let step = [1.0, 2.0, 5.0, 10.0]
            .iter()
            .map(|m| m * power)
            .find(|s| *s >= raw * 0.999)
            .unwrap_or(raw);
        let first = (low / step + 1e-9).floor();
        let last = (high / step - 1e-9).ceil();
        let ticks = (0..=(last - first) as usize)
            .map(|i| (first + i as f64) * step)
            .collect();
        Self {
            low: first * step,
            high: last * step,
            scale: Scale::Linear,
            ticks,
        }
    }

    /// Where a value lies, 0 at the lower edge and 1 at the upper.
    fn place(&self, value: f64) -> f64 {
        let v = match self.scale {
            Scale::Linear => value,
            Scale::Log if value == 0.0 => self.low,
            Scale::Log => value.abs().log10(),
        };
        ((v - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    fn tick_place(&self, tick: f64) -> f64 {
        (tick - self.low) / (self.high - self.low)
    }

    fn tick_label(&self, tick: f64) -> String {
        match self.scale {
            Scale::Linear => number(tick),
            Scale::Log => format!("1e{tick}"),
        }
    }
}

fn bounds(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |b, v| match b {
        None => Some((v, v)),
        Some((low, high)) => Some((low.min(v), high.max(v))),
    })
}

/// Draws a plot as a figure: heading, picture, legend.
pub fn draw(plot: &Plot) -> String {
    let mut out = String::new();
    let id = &plot.id;
    let _ = writeln!(
        out,
        "<figure class=\"plot\" id=\"{id}\">\n<h3>{}</h3>",
        escape(&plot.title)
    );
    let all = || plot.lines.iter().flat_map(|l| &l.points);
    match axes(plot) {
        Some(axes) => {
            let id = &plot.id;
            let _ = writeln!(
                out,
                "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\"><title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>",
                escape(&plot.title),
                escape(&plot.description),
            );
            picture(&mut out, plot, &axes);
            out.push_str("</svg>\n");
        }
        None => {
            let what = if all().next().is_some() {
                "zero throughout"
            } else {
                "nothing to show"
            };
            let _ = writeln!(out, "<p class=\"empty\">{what}</p>");
        }
    }
    legend(&mut out, plot);
    let _ = writeln!(
        out,
        "<figcaption>{}</figcaption>\n</figure>",
        escape(&plot.description)
    );
    out
}

/// Draws a plot as a file of its own, its legend inside, for light and dark pages.
pub fn file(plot: &Plot) -> String {
    let drawn: Vec<(usize, &Line)> = plot
        .lines
        .iter()
        .enumerate()
        .filter(|(_, l)| shown(l))
        .collect();
    let height = HEIGHT + 24.0 + LEGEND * drawn.len() as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 -20 {WIDTH} {height}\" width=\"{}\" role=\"img\"><title>{}</title><desc>{}</desc>\n<style>\n{}{FILE_STYLE}</style>\n<g class=\"plot\">\n\
         <text x=\"{LEFT}\" y=\"-4\" class=\"head\">{}</text>\n",
        1.6 * WIDTH,
        escape(&plot.title),
        escape(&plot.description),
        include_str!("../report.css"),
        escape(&plot.title),
    );
    if let Some(axes) = axes(plot) {
        picture(&mut out, plot, &axes);
    }
    for (row, (i, line)) in drawn.into_iter().enumerate() {
        let y = HEIGHT + 8.0 + LEGEND * row as f64;
        let _ = writeln!(
            out,
            "<path class=\"l s{}\" d=\"M{LEFT} {y}h24\"/><text x=\"{}\" y=\"{}\">{}</text>",
            i % STYLES,
            LEFT + 32.0,
            y + 4.0,
            escape(&line.name)
        );
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// Both axes: across and up; `None` if there is nothing to show.
fn axes(plot: &Plot) -> Option<(Axis, Axis)> {
    let all = || plot.lines.iter().flat_map(|l| &l.points);
    let y = Axis::fit(all().map(|p| p.1), plot.scale)?;
    let x = match plot.across.scale {
        Scale::Log => Axis::fit(all().map(|p| p.0), Scale::Log)?,
        // The time axis ends with the data, not with a tick; it starts at zero where the data nearly do.
        Scale::Linear => {
            let (t0, t1) = bounds(all().map(|p| p.0))?;
            let low = if t0 < 0.05 * t1 { 0.0 } else { t0 };
            let high = if t1 > low { t1 } else { low + 1.0 };
            let mut axis = Axis::linear(low, high);
            (axis.low, axis.high) = (low, high);
            axis.ticks
                .retain(|t| *t >= low - 1e-9 && *t <= high * (1.0 + 1e-9));
            axis
        }
    };
    Some((x, y))
}

fn picture(out: &mut String, plot: &Plot, (x, y): &(Axis, Axis)) {
    let px = |place: f64| LEFT + place * (WIDTH - LEFT - RIGHT);
    let py = |place: f64| HEIGHT - BOTTOM - place * (HEIGHT - TOP - BOTTOM);
    for tick in &y.ticks {
        let h = coordinate(py(y.tick_place(*tick)));
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{LEFT} {h}H{}\"/><text class=\"y\" x=\"{}\" y=\"{h}\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            y.tick_label(*tick)
        );
    }
    for tick in &x.ticks {
        let w = coordinate(px(x.tick_place(*tick)));
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{w} {TOP}V{}\"/><text class=\"x\" x=\"{w}\" y=\"{}\">{}</text>",
            HEIGHT - BOTTOM,
            HEIGHT - BOTTOM + 15.0,
            x.tick_label(*tick)
        );
    }
    let _ = writeln!(
        out,
        "<text class=\"x\" x=\"{}\" y=\"{}\">{}</text><text class=\"unit\" x=\"4\" y=\"{}\">[{}]</text>",
        coordinate((LEFT + WIDTH - RIGHT) / 2.0),
        HEIGHT - 5.0,
        escape(&plot.across.label),
        HEIGHT - 5.0,
        escape(&plot.unit)
    );
    for (i, line) in plot.lines.iter().enumerate().filter(|(_, l)| shown(l)) {
        let mut d = String::new();
        for (k, (t, v)) in line.points.iter().filter(|p| p.1.is_finite()).enumerate() {
            let c = if k == 0 { 'M' } else { 'L' };
            let at = (coordinate(px(x.place(*t))), coordinate(py(y.place(*v))));
            let _ = write!(d, "{c}{} {}", at.0, at.1);
            // Few points are told apart; many make a line.
            if line.points.len() <= MARKS_MAX {
                let _ = writeln!(
                    out,
                    "<circle class=\"l s{}\" cx=\"{}\" cy=\"{}\" r=\"2.5\"/>",
                    i % STYLES,
                    at.0,
                    at.1
                );
            }
        }
        let _ = writeln!(
            out,
            "<path class=\"l s{}\" d=\"{d}\"><title>{}</title></path>",
            i % STYLES,
            escape(&line.name)
        );
    }
}

/// A line of zeros says less than its absence.
fn shown(line: &Line) -> bool {
    line.points.iter().any(|p| p.1 != 0.0)
}

fn legend(out: &mut String, plot: &Plot) {
    let (drawn, zero): (Vec<_>, Vec<_>) =
        plot.lines.iter().enumerate().partition(|(_, l)| shown(l));
    if plot.lines.len() > 1 && !drawn.is_empty() {
        out.push_str("<ul class=\"legend\">");
        for (i, line) in drawn {
            let _ = write!(
                out,
                "<li><svg viewBox=\"0 0 24 8\" aria-hidden=\"true\"><path class=\"l s{}\" d=\"M0 4H24\"/></svg>{}</li>",
                i % STYLES,
                escape(&line.name)
            );
        }
        out.push_str("</ul>\n");
    }
    if !zero.is_empty() && zero.len() < plot.lines.len() {
        let names: Vec<_> = zero.iter().map(|(_, l)| l.name.as_str()).collect();
        let _ = writeln!(
            out,
            "<p class=\"empty\">zero throughout: {}</p>",
            escape(&names.join(", "))
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_are_round_and_cover_the_data() {
        let a = Axis::linear(0.3, 9.7);
        assert_eq!((a.low, a.high), (0.0, 10.0));
        assert_eq!(a.ticks, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        let flat = Axis::linear(5.0, 5.0);
        assert_eq!((flat.low, flat.high), (0.0, 5.0));
    }

    #[test]
    fn log_axis_is_whole_decades_and_holds_zero_at_the_bottom() {
        let a = Axis::fit([0.0, 3e-7, 2e-3].into_iter(), Scale::Log).unwrap();
        assert_eq!((a.low, a.high), (-7.0, -2.0));
        assert_eq!(a.place(0.0), 0.0);
        assert!((a.place(1e-2) - 1.0).abs() < 1e-12);
        assert_eq!(Axis::fit([0.0, 0.0].into_iter(), Scale::Log), None);
    }

    #[test]
    fn a_plot_survives_odd_data() {
        for points in [
            vec![],
            vec![(0.0, 0.0)],
            vec![(0.0, f64::NAN), (1.0, f64::INFINITY)],
            vec![(1.0, 1e300), (1.0, -1e300)],
        ] {
            for scale in [Scale::Linear, Scale::Log] {
                let plot = Plot {
                    id: "p".into(),
                    title: "a < b".into(),
                    description: String::new(),
                    unit: "J".into(),
                    scale,
                    across: Across {
                        label: "x".into(),
                        scale,
                    },
                    lines: vec![Line {
                        name: "x".into(),
                        points: points.clone(),
                    }],
                };
                let text = draw(&plot) + &file(&plot);
                assert!(
                    text.contains("a &lt; b") && !text.contains("NaN") && !text.contains("inf"),
                    "{text}"
                );
            }
        }
    }
}
