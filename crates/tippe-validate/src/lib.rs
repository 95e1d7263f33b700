//! Physics against truth: fidelity cases with closed-form answers, run like a user's scene with any method.
//!
//! A case is data plus oracle (`case`), one file per family in `cases`; `analytic` holds the answers and knows no engine;
//! `run` gives one row per case, part, method and step; `row` prints them; `peers` has the figures of other engines.

pub mod analytic;
pub mod case;
pub mod cases;
pub mod columns;
pub mod convergence;
pub mod cost;
pub mod doc;
pub mod doc_studies;
pub mod form;
pub mod measure;
pub mod misses;
pub mod peers;
pub mod row;
pub mod run;
pub mod sim;
pub mod sim_benchmark;
pub mod summary;
pub mod support;
pub mod watch;

pub use case::{Case, DT_COARSE, DT_FINE, Form, Part, Setup, Stopped, Tolerance, Trial, Value};
pub use cases::{all_cases, find_cases};
pub use row::{Outcome, Row, all_pass, json_line, print_table, table};
pub use run::{row_count, run, run_case, setups};
