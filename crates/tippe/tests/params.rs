//! The tables of parameters: whole, sensible, and what docs/methods says.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test -p tippe --test params` rewrites the documents.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use std::path::Path;
use tippe::method::{Param, ParamRange};
use tippe::{Method, ParamTable, ParamValue};

const BEGIN: &str = "<!-- from the table of parameters -->\n";
const END: &str = "<!-- end of the table -->\n";

/// The table as the documents have it.
fn documented(table: &ParamTable) -> String {
    let mut text = String::from("| name | default | range | what | why |\n|---|---|---|---|---|\n");
    for p in table.params {
        let default = match p.default_value() {
            ParamValue::None => format!("none{}", p.unit_in_brackets()),
            value => format!("{value} {}", if p.unit == "1" { "" } else { p.unit }),
        };
        text += &format!(
            "| `{}` | {} | {} | {} | {} |\n",
            p.name,
            default.trim_end(),
            range(p),
            p.what.trim_end_matches('.'),
            p.reason
        );
    }
    for former in table.former {
        text += &match former.successor {
            Some(new) => format!(
                "\n`{}` is the old name of `{new}`, read with a warning.\n",
                former.name
            ),
            None => format!(
                "\n`{}` does nothing any more: {}.\n",
                former.name, former.reason
            ),
        };
    }
    text
}

fn range(p: &Param) -> String {
    match p.range {
        ParamRange::Any => String::new(),
        ParamRange::Positive => "> 0".into(),
        ParamRange::NotNegative => "≥ 0".into(),
        ParamRange::AtLeast(least) => format!("≥ {least}"),
        ParamRange::Between(least, most) => format!("{least} to {most}"),
    }
}

#[test]
fn the_documents_have_the_tables_of_parameters() {
    for table in Method::TABLES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("../../docs/methods/{}.md", table.method));
        let text = std::fs::read_to_string(&path).unwrap();
        let (head, rest) = text.split_once(BEGIN).expect("the mark before the table");
        let (_, tail) = rest.split_once(END).expect("the mark after the table");
        let wanted = format!("{head}{BEGIN}\n{}\n{END}{tail}", documented(table));
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(&path, &wanted).unwrap();
        } else {
            assert!(
                text == wanted,
                "{}: the table changed; UPDATE_SNAPSHOTS=1 rewrites it",
                path.display()
            );
        }
    }
}

#[test]
fn tables_are_whole_and_defaults_make_sense() {
    for table in Method::TABLES {
        let mut method = Method::from_name(table.method).unwrap();
        assert!(method.check().is_ok());
        let mut names: Vec<&str> = table.params.iter().map(|p| p.name).collect();
        names.extend(table.former.iter().map(|f| f.name));
        names.sort_unstable();
        assert!(names.windows(2).all(|w| w[0] != w[1]), "{names:?}");
        for former in table.former {
            assert!(
                former
                    .successor
                    .is_none_or(|new| table.index(new).is_some())
            );
        }
        for (i, p) in table.params.iter().enumerate() {
            assert!(!p.what.is_empty() && !p.reason.is_empty(), "{}", p.name);
            assert_eq!(method.params().value(i), p.default_value(), "{}", p.name);
            // A number that is not one is refused by every parameter, whatever its kind.
            let nan = method
                .params_mut()
                .set(p.name, ParamValue::Number(f64::NAN));
            assert_eq!(nan.unwrap_err().field, p.name);
        }
        let unknown = method.params_mut().set("nonsense", ParamValue::Whole(1));
        assert!(unknown.unwrap_err().reason.contains(table.params[0].name));
    }
}
