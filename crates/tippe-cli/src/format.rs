//! Numbers as people read them.
//!
//! Reads: numbers.  Writes: strings.
//! Called by: everything that prints.
//! Source: four significant digits; powers of ten outside 0.001 … 1,000,000.

/// A number with at most four significant digits.
pub fn number(x: f64) -> String {
    let a = x.abs();
    if x == 0.0 {
        "0".into()
    } else if !x.is_finite() {
        format!("{x}")
    } else if (1e-3..1e6).contains(&a) {
        let digits = (3 - a.log10().floor() as i32).clamp(0, 6) as usize;
        let text = format!("{x:.digits$}");
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_string()
        } else {
            text
        }
    } else {
        let text = format!("{x:.3e}");
        // 1.000e-9 reads better as 1e-9.
        match text.split_once('e') {
            Some((mantissa, power)) if mantissa.contains('.') => {
                format!(
                    "{}e{power}",
                    mantissa.trim_end_matches('0').trim_end_matches('.')
                )
            }
            _ => text,
        }
    }
}

/// A step length: as a fraction where it is one that decimals cannot write shortly.
pub fn step_length(dt: f64) -> String {
    let rate = (1.0 / dt).round();
    let short = format!("{dt}").len() <= 8;
    if !short && rate <= 1e6 && (1.0 / rate - dt).abs() < 1e-15 {
        format!("1/{rate} s")
    } else {
        format!("{} s", number(dt))
    }
}

/// A part of a whole; tiny parts stay readable.
pub fn share(part: f64, whole: f64) -> String {
    if whole <= 0.0 || !whole.is_finite() {
        return "-".into();
    }
    let s = part.abs() / whole;
    if s == 0.0 {
        "0".into()
    } else if s >= 1e-4 {
        format!("{:.2} %", 100.0 * s)
    } else {
        format!("{s:.1e}")
    }
}

/// A number of things: `1 step`, `2 steps`.
pub fn count(n: u64, thing: &str) -> String {
    let more = if n == 1 { "" } else { "s" };
    format!("{n} {thing}{more}")
}

/// Reads a positive number of seconds, written as a decimal or as a fraction such as `1/60`.
///
/// # Errors
/// What is wrong with the text.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    let one = |t: &str| {
        t.trim()
            .parse::<f64>()
            .map_err(|_| format!("`{t}` is no number; write 0.001 or 1/60"))
    };
    let value = match text.split_once('/') {
        Some((a, b)) => one(a)? / one(b)?,
        None => one(text)?,
    };
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err("must be positive and finite, such as 0.001 or 1/60".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (1234.56, "1235"),
            (0.012_345_6, "0.01235"),
            (-9.81, "-9.81"),
            (1e-9, "1e-9"),
            (1.234_56e-12, "1.235e-12"),
            (2.5e7, "2.5e7"),
            (999_999.9, "1000000"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(number(x), text);
        }
    }

    #[test]
    fn step_lengths_read_as_written() {
        assert_eq!(step_length(1.0 / 60.0), "1/60 s");
        assert_eq!(step_length(0.001), "0.001 s");
        assert_eq!(step_length(1.0 / 240.0), "1/240 s");
    }

    #[test]
    fn seconds_are_decimals_or_fractions() {
        assert_eq!(parse_seconds("1/60"), Ok(1.0 / 60.0));
        assert_eq!(parse_seconds("0.001"), Ok(0.001));
        for bad in ["", "x", "1/0", "-1", "0", "nan", "inf", "1/2/3", "1e-400"] {
            assert!(parse_seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn shares_are_percent_until_they_are_tiny() {
        assert_eq!(share(-1.0, 4.0), "25.00 %");
        assert_eq!(share(1e-9, 1.0), "1.0e-9");
        assert_eq!(share(1.0, 0.0), "-");
    }
}
