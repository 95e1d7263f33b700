//! The committed page of results names every case and every part that exists.

use std::path::Path;

use tippe_validate::{all_cases, cost, peers, sim_benchmark};

#[test]
fn fidelity_page_matches_the_cases() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fidelity.md");
    let page = std::fs::read_to_string(path).unwrap_or_default();
    let hint = "run `cargo run --release -- validate --doc docs/fidelity.md`";
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
    // What is measured beside the cases: both forms, every other engine, every study, every recommendation.
    let (head, _) = page.split_once("\n## F00").expect("the cases follow");
    for case in all_cases() {
        let row = format!("\n| {} {} | ", case.id, case.name);
        assert!(
            head.contains(&row),
            "no recommendation for {}: {hint}",
            case.id
        );
    }
    for (engine, _) in peers::SETTINGS {
        assert!(head.contains(&format!("- {engine}: ")), "{engine}: {hint}");
    }
    for scene in sim_benchmark::SCENES {
        assert!(head.contains(scene.measure), "{}: {hint}", scene.name);
    }
    for scene in cost::SCENES {
        let picture = format!("pictures/cost-{}.svg", scene.name);
        let file = Path::new(&path).with_file_name(&picture);
        assert!(
            head.contains(&picture) && file.is_file(),
            "{picture}: {hint}"
        );
    }
    for word in [
        "sequential, articulated",
        "iterative, articulated",
        "## Order of convergence",
    ] {
        assert!(head.contains(word), "{word}: {hint}");
    }
    assert_eq!(
        page.matches("\n## F").count(),
        all_cases().len(),
        "a section of a case that is no more: {hint}"
    );
}
