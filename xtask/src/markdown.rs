//! As much of Markdown as the checks need: lines in and out of fences, code spans, links, headings.
//!
//! Reads: text.  Writes: nothing.
//! Called by: `tidy`, `requirements`.
//! Source: none.

/// One line of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Counted from 1.
    pub number: usize,
    pub text: &'a str,
    /// Whether the line is inside a fenced block of code.
    pub fenced: bool,
}

/// The lines of a document without those that open or close a fence.
pub fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(i, text)| {
        let start = text.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            fenced = !fenced;
            return None;
        }
        Some(Line {
            number: i + 1,
            text,
            fenced,
        })
    })
}

/// The pieces of a line between single backticks.
pub fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    let closed = line.matches('`').count() / 2;
    line.split('`').skip(1).step_by(2).take(closed)
}

/// A line with its code spans blanked.
pub fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// Targets of the links and images of a line, without titles: `](target)` and `[name]: target`.
pub fn link_targets(line: &str) -> Vec<String> {
    let prose = without_code(line);
    let first_word = |s: &str| s.split_whitespace().next().unwrap_or("").to_owned();
    let mut targets: Vec<String> = prose
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| first_word(target))
        .collect();
    if prose.starts_with('[')
        && let Some((_, target)) = prose.split_once("]: ")
    {
        targets.push(first_word(target));
    }
    targets
}

/// A heading as an anchor: its words in lower case, joined by hyphens.
pub fn slug(title: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    let words: String = title.to_lowercase().chars().filter(kept).collect();
    words.replace(' ', "-")
}

/// The anchors of a document's headings, as code hosts make them from the words.
pub fn anchors(text: &str) -> Vec<String> {
    let mut slugs: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for line in lines(text).filter(|l| !l.fenced && l.text.starts_with('#')) {
        let slug = slug(line.text.trim_start_matches('#').trim());
        let copies = slugs.iter().filter(|s| **s == slug).count();
        found.push(if copies == 0 {
            slug.clone()
        } else {
            format!("{slug}-{copies}")
        });
        slugs.push(slug);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_their_fence() {
        let text = "a\n```rust\nb\n```\nc";
        let got: Vec<_> = lines(text).map(|l| (l.number, l.text, l.fenced)).collect();
        assert_eq!(got, [(1, "a", false), (3, "b", true), (5, "c", false)]);
    }

    #[test]
    fn code_spans_are_the_pieces_between_backticks() {
        assert_eq!(
            code_spans("a `b c` d `e`").collect::<Vec<_>>(),
            ["b c", "e"]
        );
        assert_eq!(code_spans("an open ` backtick").count(), 0);
    }

    #[test]
    fn links_lose_titles_and_code() {
        assert_eq!(
            link_targets("see [a](b.md \"title\") and ![p](c.svg), not `[x](y)`"),
            ["b.md", "c.svg"]
        );
        assert_eq!(link_targets("[name]: d.md"), ["d.md"]);
    }

    #[test]
    fn anchors_follow_the_words_of_headings() {
        assert_eq!(
            anchors("# The `World`, its ids\n## Same bits\n## Same\n## Same\n"),
            ["the-world-its-ids", "same-bits", "same", "same-1"]
        );
    }
}
