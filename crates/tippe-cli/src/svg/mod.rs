//! Drawing: plots and pictures as SVG text, with no help from outside.
//!
//! Reads: nothing.  Writes: strings.
//! Called by: `report`, `run` (the picture flag), `impact`.
//! Source: SVG 1.1; colours checked for contrast on white and on near-black.

pub mod camera;
pub mod hodograph;
pub mod plot;
pub mod scene;
pub mod solid;

/// Text that may stand between tags or in an attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Control characters are not allowed in SVG.
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A coordinate with one decimal, without a trailing `.0`: pictures of many bodies stay small.
pub fn coordinate(x: f64) -> String {
    let rounded = (x * 10.0).round() / 10.0;
    if rounded == 0.0 {
        "0".into()
    } else {
        format!("{rounded}")
    }
}

/// A colour as red, green and blue in 0..=1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour(pub [f64; 3]);

impl Colour {
    /// Grey of bodies that follow a prescribed motion.
    pub const GREY: Self = Self([0.62, 0.64, 0.67]);

    /// The colour in a given light, 0 (dark) to 1 (full), as `#rrggbb`.
    pub fn lit(self, light: f64) -> String {
        let [r, g, b] = self
            .0
            .map(|c| (255.0 * (c * light).clamp(0.0, 1.0)).round() as u8);
        format!("#{r:02x}{g:02x}{b:02x}")
    }

    /// A colour on a ramp from blue over green and yellow to red; `t` in 0..=1.
    pub fn ramp(t: f64) -> Self {
        const STOPS: [[f64; 3]; 6] = [
            [0.22, 0.36, 0.68],
            [0.20, 0.58, 0.72],
            [0.36, 0.71, 0.47],
            [0.88, 0.79, 0.36],
            [0.93, 0.57, 0.29],
            [0.80, 0.31, 0.30],
        ];
        let last = STOPS.len() - 1;
        let x = t.clamp(0.0, 1.0) * last as f64;
        let i = (x as usize).min(last - 1);
        let f = x - i as f64;
        Self(std::array::from_fn(|c| {
            STOPS[i][c] * (1.0 - f) + STOPS[i + 1][c] * f
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_closes_every_door() {
        assert_eq!(
            escape("<a b=\"c\" d='e'>&\u{1}"),
            "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;\u{fffd}"
        );
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(coordinate(12.04), "12");
        assert_eq!(coordinate(-0.04), "0");
        assert_eq!(coordinate(-3.25), "-3.3");
    }

    #[test]
    fn the_ramp_ends_in_its_end_colours() {
        assert_eq!(Colour::ramp(0.0).lit(1.0), "#385cad");
        assert_eq!(Colour::ramp(1.0).lit(1.0), "#cc4f4d");
    }
}
