//! The files of the page, embedded in the program; and all of them as one script, for pages that stand alone.
//!
//! Reads: nothing at run time.  Writes: nothing.
//! Called by: `view::server`, `report`.
//! Source: `viewer/`, plain modules without a build step. A module names its imports on one line and exports by the word `export`.

/// What the page may load: its own files and the socket it came with.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

macro_rules! files {
    ($($name:literal as $kind:literal,)*) => {
        const FILES: &[(&str, &str, &str)] = &[$(
            ($name, $kind, include_str!(concat!("../../../../viewer/", $name))),
        )*];
    };
}

// Modules come after those they import.
files! {
    "index.html" as "text/html; charset=utf-8",
    "style.css" as "text/css; charset=utf-8",
    "icon.svg" as "image/svg+xml",
    "vec.js" as "text/javascript; charset=utf-8",
    "dom.js" as "text/javascript; charset=utf-8",
    "recording.js" as "text/javascript; charset=utf-8",
    "shapes.js" as "text/javascript; charset=utf-8",
    "shaders.js" as "text/javascript; charset=utf-8",
    "colours.js" as "text/javascript; charset=utf-8",
    "camera.js" as "text/javascript; charset=utf-8",
    "charts.js" as "text/javascript; charset=utf-8",
    "overlay.js" as "text/javascript; charset=utf-8",
    "statistics.js" as "text/javascript; charset=utf-8",
    "connection.js" as "text/javascript; charset=utf-8",
    "batches.js" as "text/javascript; charset=utf-8",
    "draw.js" as "text/javascript; charset=utf-8",
    "pane.js" as "text/javascript; charset=utf-8",
    "panels.js" as "text/javascript; charset=utf-8",
    "chosen.js" as "text/javascript; charset=utf-8",
    "input.js" as "text/javascript; charset=utf-8",
    "page.js" as "text/javascript; charset=utf-8",
    "main.js" as "text/javascript; charset=utf-8",
}

/// A file by its name, with its kind.
pub fn file(name: &str) -> Option<(&'static str, &'static str)> {
    let name = if name.is_empty() { "index.html" } else { name };
    FILES
        .iter()
        .find(|(n, ..)| *n == name)
        .map(|(_, kind, text)| (*kind, *text))
}

/// Style and script of the whole page, for a document that holds its own recording.
pub fn bundle() -> (&'static str, String) {
    let style = file("style.css").map_or("", |f| f.1);
    let mut script = String::new();
    for (name, _, text) in FILES.iter().filter(|f| f.0.ends_with(".js")) {
        script.push_str("// ");
        script.push_str(name);
        script.push('\n');
        for line in text.lines().filter(|l| !l.starts_with("import ")) {
            script.push_str(line.strip_prefix("export ").unwrap_or(line));
            script.push('\n');
        }
    }
    (style, script)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_file_of_the_page_is_embedded() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../viewer");
        let there: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap())
            .filter(|e| e.file_type().unwrap().is_file())
            .map(|e| e.file_name().into_string().unwrap())
            .collect();
        let here: BTreeSet<String> = FILES.iter().map(|f| f.0.to_owned()).collect();
        assert_eq!(here, there);
        assert!(file("../Cargo.toml").is_none() && file("").is_some());
    }

    /// One script out of all modules needs names that are used once, and imports that come first.
    #[test]
    fn modules_fit_into_one_script() {
        let mut names = BTreeSet::new();
        let mut seen = BTreeSet::new();
        for (file, _, text) in FILES.iter().filter(|f| f.0.ends_with(".js")) {
            for line in text.lines() {
                if let Some(from) = line.strip_prefix("import ") {
                    let module = from.split("'./").nth(1).and_then(|m| m.strip_suffix("';"));
                    assert!(module.is_some_and(|m| seen.contains(m)), "{file}: {line}");
                    assert!(!from.contains(" as "), "{file}: {line}");
                }
                let line = line.strip_prefix("export ").unwrap_or(line);
                let line = line.strip_prefix("async ").unwrap_or(line);
                for word in ["const ", "let ", "function ", "class "] {
                    if let Some(rest) = line.strip_prefix(word) {
                        let name: String = rest
                            .chars()
                            .take_while(|c| c.is_alphanumeric() || *c == '_')
                            .collect();
                        assert!(names.insert(name.clone()), "{file}: {name} is there twice");
                    }
                }
            }
            seen.insert(*file);
        }
        let script = bundle().1;
        assert!(!script.contains("\nimport ") && !script.contains("\nexport "));
        assert!(!script.contains("</script"));
    }
}
