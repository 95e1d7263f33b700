//! Runs fidelity cases from the command line: `cargo run --release -p tippe-validate --example cases -- F01,F24 0.001`.
//!
//! `--doc` runs all cases and prints the page `docs/fidelity.md`. Both arguments may be left out (all cases; 1 ms and 1/60 s). Prints the table, then our errors beside other engines'.

use std::path::PathBuf;

use tippe_validate::{
    Case, DT_COARSE, DT_FINE, Form, Row, all_cases, doc, find_cases, peers, print_table, run,
};

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let page = arguments.iter().any(|a| a == "--doc");
    arguments.retain(|a| a != "--doc");
    let cases: Vec<Case> = match arguments.first().map(String::as_str) {
        None | Some("all") => all_cases().to_vec(),
        Some(ids) => match find_cases(&ids.split(',').collect::<Vec<_>>()) {
            Ok(cases) => cases,
            Err(unknown) => {
                eprintln!("no such case: {}", unknown.join(", "));
                std::process::exit(2);
            }
        },
    };
    let dts: Vec<f64> = match arguments.get(1) {
        None => vec![DT_FINE, DT_COARSE],
        Some(text) => text.split(',').filter_map(seconds).collect(),
    };
    let mut show = |row: &Row| eprintln!("{} {} {:?}", row.case, row.part, row.outcome);
    // The measured data of others, where it lies beside the repository.
    let data = ["..", "shared", "data"].iter().collect::<PathBuf>();
    let data = Some(data.as_path()).filter(|d| d.is_dir());
    let methods = ["sequential", "iterative"];
    let mut rows = run(&cases, &methods, Form::Maximal, &dts, data, &mut show);
    if page {
        // F22 is stated for 10 ms.
        let drift: Vec<Case> = cases.iter().filter(|c| c.id == "F22").copied().collect();
        rows.extend(run(
            &drift,
            &methods,
            Form::Maximal,
            &[0.01],
            data,
            &mut show,
        ));
        print!("{}", doc::markdown(&cases, &rows));
        return;
    }
    let mut out = std::io::stdout().lock();
    let _ = print_table(&rows, &mut out);
    println!("\n{}", peers::table(&rows));
}

/// A step as a number or as `1/60`.
fn seconds(text: &str) -> Option<f64> {
    match text.split_once('/') {
        Some((a, b)) => Some(a.trim().parse::<f64>().ok()? / b.trim().parse::<f64>().ok()?),
        None => text.trim().parse().ok(),
    }
}
