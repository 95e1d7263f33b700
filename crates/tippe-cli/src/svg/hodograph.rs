//! The path of the contact velocity through an impact: in the plane of slip, and in space.
//!
//! Reads: a path.  Writes: one SVG document.
//! Called by: `impact`.
//! Source: [Mirtich94] figs 5 and 7. Colour tells slip, dashes tell restitution, so that neither is needed alone.

use std::fmt::Write as _;

use tippe::Vec3;
use tippe::dynamics::impact::{Path, PathPoint, Phase, Slip};

use super::{coordinate, escape};
use crate::format::number;

/// What to draw.
pub struct Hodograph<'a> {
    /// Heading.
    pub title: String,
    /// Unit normal.
    pub normal: Vec3,
    /// The path; nothing but axes if it is empty.
    pub path: &'a Path,
}

const PANEL: f64 = 380.0;
const MARGIN: f64 = 40.0;
const TOP: f64 = 48.0;
const LEGEND: f64 = 92.0;

const STYLE: &str = "text{font:12px sans-serif;fill:#222}.h{font-size:14px;font-weight:bold}.a{stroke:#888;stroke-width:1;fill:none}\
.p{fill:none;stroke-width:2.2;stroke-linejoin:round}.slides{stroke:#385cad}.sticks{stroke:#cc4f4d}.resumes{stroke:#1a7f4b}.restitution{stroke-dasharray:6 3}\
.m{fill:#fff;stroke:#222;stroke-width:1.5}text.n{fill:#777}.s{stroke:#bbb;stroke-width:1;fill:none}";

/// Two tangents that are x and y where the normal is z.
fn tangents(n: Vec3) -> (Vec3, Vec3) {
    let axis = if n.x.abs() < 0.9 { Vec3::X } else { Vec3::Y };
    let t = axis - n * n.dot(axis);
    let t = t / t.length();
    (t, n.cross(t))
}

/// One of the two drawings: where a velocity (along t1, t2 and n) lies, in m/s, y upwards.
struct Panel {
    left: f64,
    heading: &'static str,
    axes: &'static [(Vec3, &'static str)],
    project: fn(Vec3) -> (f64, f64),
}

const PANELS: [Panel; 2] = [
    Panel {
        left: 0.0,
        heading: "slip (u_x, u_y) [m/s]",
        axes: &[(Vec3::X, "u_x"), (Vec3::Y, "u_y")],
        project: |u| (u.x, u.y),
    },
    Panel {
        left: PANEL,
        heading: "contact velocity (u_x, u_y, u_n) [m/s]",
        axes: &[(Vec3::X, "u_x"), (Vec3::Y, "u_y"), (Vec3::Z, "u_n")],
        // Oblique: y goes back to the right at half length.
        project: |u| (u.x + 0.45 * u.y, u.z + 0.3 * u.y),
    },
];

/// Draws.
pub fn draw(h: &Hodograph) -> String {
    let (t1, t2) = tangents(h.normal);
    let local = |u: Vec3| Vec3::new(t1.dot(u), t2.dot(u), h.normal.dot(u));
    let points: Vec<PathPoint> = h
        .path
        .points
        .iter()
        .map(|p| PathPoint {
            velocity: local(p.velocity),
            ..*p
        })
        .collect();
    let height = TOP + PANEL + LEGEND;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {height}\" role=\"img\"><title>{}</title><desc>Path of the contact velocity through one impact.</desc><style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text class=\"h\" x=\"{MARGIN}\" y=\"22\">{}</text>\n",
        2.0 * PANEL,
        escape(&h.title),
        escape(&h.title)
    );
    for panel in &PANELS {
        draw_panel(&mut out, panel, &points);
    }
    legend(&mut out);
    out.push_str("</svg>\n");
    out
}

/// A map from m/s to the picture that shows all points and the origin, the same for both axes.
struct Frame {
    scale: f64,
    middle: (f64, f64),
    center: (f64, f64),
    /// Largest coordinate [m/s].
    reach: f64,
}

impl Frame {
    fn new(panel: &Panel, points: &[PathPoint]) -> Self {
        let (mut low, mut high) = ((0.0_f64, 0.0_f64), (0.0_f64, 0.0_f64));
        let mut reach = 0.0_f64;
        for p in points {
            let (x, y) = (panel.project)(p.velocity);
            low = (low.0.min(x), low.1.min(y));
            high = (high.0.max(x), high.1.max(y));
            reach = reach.max(p.velocity.abs().max_element());
        }
        let span = (high.0 - low.0).max(high.1 - low.1);
        let span = if span > 0.0 && span.is_finite() {
            span
        } else {
            1.0
        };
        Self {
            scale: (PANEL - 2.5 * MARGIN) / span,
            middle: (0.5 * (low.0 + high.0), 0.5 * (low.1 + high.1)),
            center: (panel.left + 0.5 * PANEL, TOP + 0.5 * PANEL),
            reach: if reach > 0.0 { reach } else { 1.0 },
        }
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (
            self.center.0 + (x - self.middle.0) * self.scale,
            self.center.1 - (y - self.middle.1) * self.scale,
        )
    }
}

fn draw_panel(out: &mut String, panel: &Panel, points: &[PathPoint]) {
    let frame = Frame::new(panel, points);
    let at = |u: Vec3| {
        let (x, y) = frame.at((panel.project)(u));
        (coordinate(x), coordinate(y))
    };
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\">{}</text>",
        panel.left + MARGIN,
        TOP - 6.0,
        escape(panel.heading)
    );
    let length = 0.35 * frame.reach;
    let (x0, y0) = at(Vec3::ZERO);
    for (axis, name) in panel.axes {
        let (x, y) = at(*axis * length);
        let _ = writeln!(
            out,
            "<path class=\"a\" d=\"M{x0} {y0}L{x} {y}\"/><text class=\"n\" x=\"{x}\" y=\"{y}\" dx=\"-4\" dy=\"14\" text-anchor=\"end\">{name} {}</text>",
            number(length)
        );
    }
    // In space, the shadow of the path on the plane u_n = 0 helps the eye.
    if panel.axes.len() == 3 {
        let shadow = points
            .iter()
            .map(|p| Vec3::new(p.velocity.x, p.velocity.y, 0.0));
        let _ = writeln!(out, "<path class=\"s\" d=\"{}\"/>", line(shadow.map(at)));
    }
    let mut start = 0;
    for end in 1..points.len() {
        let kind = |i: usize| (points[i].slip, points[i].phase);
        if end + 1 < points.len() && kind(end + 1) == kind(end) {
            continue;
        }
        let (slip, phase) = kind(end);
        let stretch = points[start..=end].iter().map(|p| at(p.velocity));
        let _ = writeln!(
            out,
            "<path class=\"p {} {}\" d=\"{}\"/>",
            slip_class(slip),
            if phase == Phase::Restitution {
                "restitution"
            } else {
                ""
            },
            line(stretch)
        );
        start = end;
    }
    marks(out, points, &|u| frame.at((panel.project)(u)));
}

/// Marks nearer than this share one label.
const MARKS_APART: f64 = 14.0;

/// Arrival, end of compression, stop of slip, end.
fn marks(out: &mut String, points: &[PathPoint], at: &dyn Fn(Vec3) -> (f64, f64)) {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return;
    };
    let mut marks = vec![(first, "arrival")];
    for pair in points.windows(2) {
        let [a, b] = [&pair[0], &pair[1]];
        if a.slip == Slip::Slides && b.slip != Slip::Slides {
            marks.push((a, "slip stops"));
        }
        if a.phase == Phase::Compression && b.phase == Phase::Restitution {
            marks.push((a, "compression ends"));
        }
    }
    marks.push((last, "end"));
    // Labels in the order of events, those of one place together.
    let mut labels: Vec<((f64, f64), String)> = Vec::new();
    for (point, name) in marks {
        let (x, y) = at(point.velocity);
        let _ = writeln!(
            out,
            "<circle class=\"m\" cx=\"{}\" cy=\"{}\" r=\"4\"/>",
            coordinate(x),
            coordinate(y)
        );
        let near = labels
            .iter_mut()
            .find(|((a, b), _)| (a - x).abs() < MARKS_APART && (b - y).abs() < MARKS_APART);
        match near {
            Some((_, label)) => label.push_str(&format!(", {name}")),
            None => labels.push(((x, y), name.to_owned())),
        }
    }
    for ((x, y), label) in labels {
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" dx=\"7\" dy=\"-7\">{label}</text>",
            coordinate(x),
            coordinate(y)
        );
    }
}

const fn slip_class(slip: Slip) -> &'static str {
    match slip {
        Slip::Slides => "slides",
        Slip::Sticks => "sticks",
        Slip::Resumes => "resumes",
    }
}

fn line(points: impl Iterator<Item = (String, String)>) -> String {
    let mut d = String::new();
    for (i, (x, y)) in points.enumerate() {
        let _ = write!(d, "{}{x} {y}", if i == 0 { 'M' } else { 'L' });
    }
    d
}

fn legend(out: &mut String) {
    let y = TOP + PANEL + 24.0;
    let entries = [
        ("p slides", "slides"),
        ("p sticks", "sticks"),
        ("p resumes", "slides again"),
        ("p slides restitution", "dashed: restitution"),
    ];
    for (i, (class, name)) in entries.iter().enumerate() {
        let x = MARGIN + 165.0 * i as f64;
        let _ = writeln!(
            out,
            "<path class=\"{class}\" d=\"M{x} {y}h36\"/><text x=\"{}\" y=\"{}\">{name}</text>",
            x + 44.0,
            y + 4.0
        );
    }
}
