//! The little Markdown that our own pages are written in, as HTML: headings, paragraphs, lists of two levels, tables, bold, code.
//!
//! Reads: text that `tippe_validate::doc` wrote.  Writes: HTML text.
//! Called by: `validate::page`.
//! Source: none; links keep their words alone, since the page stands by itself, and pictures are left out.

use std::fmt::Write as _;

use crate::svg::escape;

/// What the lines belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    None,
    Paragraph,
    List,
    Table,
}

/// Turns a text into HTML.
pub fn html(text: &str) -> String {
    let mut out = String::new();
    let mut block = Block::None;
    for line in text.lines() {
        let kind = kind_of(line);
        if block != kind {
            close(&mut out, block);
            open(&mut out, kind);
        }
        match kind {
            Block::None => heading(&mut out, line),
            Block::Paragraph => {
                let _ = writeln!(out, "{}", inline(line));
            }
            Block::List => {
                let item = line.trim_start();
                let class = if item.len() < line.len() {
                    " class=\"inner\""
                } else {
                    ""
                };
                let _ = writeln!(out, "<li{class}>{}</li>", inline(&item[2..]));
            }
            Block::Table => row(&mut out, line, block != kind),
        }
        block = kind;
    }
    close(&mut out, block);
    out
}

fn kind_of(line: &str) -> Block {
    if line.trim().is_empty() || line.starts_with('#') || line.starts_with("![") {
        Block::None
    } else if line.trim_start().starts_with("- ") {
        Block::List
    } else if line.starts_with('|') {
        Block::Table
    } else {
        Block::Paragraph
    }
}

fn open(out: &mut String, block: Block) {
    out.push_str(match block {
        Block::None => "",
        Block::Paragraph => "<p>",
        Block::List => "<ul>\n",
        Block::Table => "<div class=\"scroll\" tabindex=\"0\">\n<table>\n<thead>\n",
    });
}

fn close(out: &mut String, block: Block) {
    out.push_str(match block {
        Block::None => "",
        Block::Paragraph => "</p>\n",
        Block::List => "</ul>\n",
        Block::Table => "</tbody>\n</table>\n</div>\n",
    });
}

/// A heading one level below the page's own, or nothing.
fn heading(out: &mut String, line: &str) {
    let words = line.trim_start_matches('#');
    let level = line.len() - words.len();
    if (2..=4).contains(&level) {
        let _ = writeln!(out, "<h{level}>{}</h{level}>", inline(words.trim()));
    }
}

/// A line of a table; the first is its head, and the line of dashes below that closes it.
fn row(out: &mut String, line: &str, first: bool) {
    let cells = || line.trim().trim_matches('|').split('|').map(str::trim);
    if cells().all(|c| !c.is_empty() && c.chars().all(|c| c == '-')) {
        out.push_str("</thead>\n<tbody>\n");
        return;
    }
    out.push_str("<tr>");
    for (i, cell) in cells().enumerate() {
        let _ = if first {
            write!(out, "<th scope=\"col\">{}</th>", inline(cell))
        } else if i == 0 {
            write!(out, "<th scope=\"row\">{}</th>", inline(cell))
        } else {
            write!(out, "<td>{}</td>", inline(cell))
        };
    }
    out.push_str("</tr>\n");
}

/// Bold, code and the words of links within a line.
fn inline(text: &str) -> String {
    let mut out = String::new();
    // Every second piece between marks is marked.
    for (i, piece) in text.split('`').enumerate() {
        if i % 2 == 1 {
            let _ = write!(out, "<code>{}</code>", escape(piece));
            continue;
        }
        for (k, part) in without_links(piece).split("**").enumerate() {
            let part = escape(part);
            let _ = if k % 2 == 1 {
                write!(out, "<strong>{part}</strong>")
            } else {
                write!(out, "{part}")
            };
        }
    }
    out
}

/// `[words](target)` as its words; brackets without a target stay.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(middle) = rest.find("](") {
        let (before, after) = rest.split_at(middle);
        let (Some(start), Some(end)) = (before.rfind('['), after.find(')')) else {
            break;
        };
        out.push_str(&before[..start]);
        out.push_str(&before[start + 1..]);
        rest = &after[end + 1..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_block_is_closed() {
        let text = "# Title\n\nwords <here>\nand **more** `co<de`\n\n## Part\n\n- one\n  - inner [a](b.md#c) [Key]\n\n| a | b |\n|---|---|\n| 1 | **2** |\n";
        let page = html(text);
        for tag in ["p", "ul", "li", "table", "thead", "tbody", "tr", "div"] {
            let opened = page.matches(&format!("<{tag}>")).count()
                + page.matches(&format!("<{tag} ")).count();
            assert_eq!(
                opened,
                page.matches(&format!("</{tag}>")).count(),
                "{tag}: {page}"
            );
        }
        assert!(
            page.contains("<h2>Part</h2>") && !page.contains("<h1>"),
            "{page}"
        );
        assert!(page.contains("words &lt;here&gt;") && page.contains("<code>co&lt;de</code>"));
        assert!(
            page.contains("<li class=\"inner\">inner a [Key]</li>"),
            "{page}"
        );
        assert!(
            page.contains("<th scope=\"row\">1</th><td><strong>2</strong></td>"),
            "{page}"
        );
    }
}
