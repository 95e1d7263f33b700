//! The committed page of results names every case and every part that exists.

use tippe_validate::all_cases;

#[test]
fn fidelity_page_matches_the_cases() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fidelity.md");
    let page = std::fs::read_to_string(path).unwrap_or_default();
    let hint =
        "run `cargo run --release -p tippe-validate --example cases -- --doc > docs/fidelity.md`";
    for case in all_cases() {
        let head = format!("## {} {}\n", case.id, case.name);
        let section = page
            .split("\n## ")
            .find(|s| head.ends_with(&format!("{}\n", s.lines().next().unwrap_or_default())));
        let section = section.unwrap_or_else(|| panic!("no section `{}`: {hint}", head.trim_end()));
        for part in case.parts() {
            let named =
                section.contains(&format!("**{}**", part.name)) && section.contains(part.measure);
            assert!(named, "{} {}: {hint}", case.id, part.name);
        }
    }
    assert_eq!(
        page.matches("\n## F").count(),
        all_cases().len(),
        "a section of a case that is no more: {hint}"
    );
}
