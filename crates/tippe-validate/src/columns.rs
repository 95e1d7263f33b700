//! Columns of numbers from comma-separated text, by name.
//!
//! Reads: text.  Writes: nothing.
//! Called by: `cases` that read measured data.
//! Source: none.

/// The named columns of every line that is not empty, in the order of the names.
///
/// # Errors
/// The column that is not there, or the line and column that hold no number.
pub fn columns<const N: usize>(text: &str, names: [&str; N]) -> Result<Vec<[f64; N]>, String> {
    let mut lines = text.lines();
    let head: Vec<&str> = lines
        .next()
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .collect();
    let mut places = [0; N];
    for (place, name) in places.iter_mut().zip(names) {
        *place = head
            .iter()
            .position(|h| *h == name)
            .ok_or_else(|| format!("no column `{name}`"))?;
    }
    let mut rows = Vec::new();
    for (i, line) in lines.enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let mut row = [0.0; N];
        for (x, place) in row.iter_mut().zip(places) {
            *x = cells
                .get(place)
                .and_then(|c| c.parse::<f64>().ok())
                .filter(|x| x.is_finite())
                .ok_or_else(|| format!("line {}: `{}` is no number", i + 2, head[place]))?;
        }
        rows.push(row);
    }
    Ok(rows)
}
