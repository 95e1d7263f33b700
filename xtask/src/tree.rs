//! The work tree as a map from path to text, so that checks are functions of it and their tests need no disk.
//!
//! Reads: files below the workspace folder.  Writes: `Tree`.
//! Called by: `main`, the tests of the checks.
//! Source: none.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;

/// Folders that hold results, not sources.
const NOT_SOURCES: [&str; 5] = [".git", "target", "out", "node_modules", "__pycache__"];

/// Endings of the files whose text the checks look at; of the others only the path counts.
const TEXT_ENDINGS: [&str; 3] = [".md", ".rs", ".toml"];

/// All files of the repository, by path from its top, with `/` between folders.
#[derive(Debug, Default)]
pub struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// Reads the tree below a folder.
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            // In a linked work tree `.git` is a file; it is no source either.
            if NOT_SOURCES.contains(&name.as_str()) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                self.read_folder(&entry.path(), &format!("{path}/"))?;
            } else {
                let is_text = TEXT_ENDINGS.iter().any(|ending| path.ends_with(ending));
                // Bad scenes that are not UTF-8 live here on purpose.
                let bytes = if is_text {
                    std::fs::read(entry.path())?
                } else {
                    Vec::new()
                };
                self.files
                    .insert(path, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        Ok(())
    }

    /// A tree made of the given paths and texts.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let own = |&(path, text): &(&str, &str)| (path.to_owned(), text.to_owned());
        Self {
            files: files.iter().map(own).collect(),
        }
    }

    /// Number of files.
    pub fn file_count(&self) -> usize {
        self.files.len()
    }

    /// Whether there is a file or a folder of that path.
    pub fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.files.contains_key(path)
            || self.paths().any(|p| {
                p.strip_prefix(path)
                    .is_some_and(|rest| rest.starts_with('/'))
            })
    }

    /// The text of a file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// All paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Paths and texts of the files with an ending, sorted by path.
    pub fn ending_in<'a>(&'a self, ending: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files
            .iter()
            .filter(move |(path, _)| path.ends_with(ending))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }
}

/// Something to mend, and where.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// What is wrong and what to do about it.
    pub what: String,
}

impl Problem {
    pub fn new(file: &str, line: usize, what: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}
