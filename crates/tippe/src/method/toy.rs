//! A method of a few lines, in tests alone: what a new method has to touch, and what follows from its table by itself.
//!
//! Reads: Model.  Writes: State.
//! Called by: `method`, in tests.
//! Source: ARCHITECTURE.md, "A new method".

use crate::error::StepError;
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;
use crate::work::Work;
use crate::{param_words, params};

param_words! {
    /// How the toy treats gravity.
    Pull {
        /// As it is.
        Full = "full",
        /// Not at all.
        Off = "off",
    }
}

params! {
    /// Parameters of `toy`.
    ToyParams of "toy" {
        /// Share of its velocity that a body loses in a second.
        drag: f64 = 0.25, "1/s", Between(0.0, 1.0), "a quarter is easy to check";
        /// Equal pieces of a step.
        pieces: u32 = 2, "1", AtLeast(1.0), "the least number that is not one";
        /// What gravity does.
        pull: Pull = Pull::Full, "", Any, "as on earth";
        /// Nothing reads it.
        seed: Option<u64> = None, "", Any, "none is needed";
    }
    renamed { slices => pieces; }
    dropped { gain: "nothing is gained"; }
}

pub(super) fn step(
    model: &Model,
    params: &ToyParams,
    dt: f64,
    state: &mut State,
    _: &mut Work,
) -> Result<StepReport, StepError> {
    let h = dt / f64::from(params.pieces);
    for _ in 0..params.pieces {
        for (i, _) in model.present().filter(|(_, b)| b.is_awake()) {
            let body = &mut state.bodies[i];
            if params.pull == Pull::Full {
                body.velocity += model.gravity * h;
            }
            body.velocity *= 1.0 - params.drag * h;
            body.position += body.velocity * h;
        }
    }
    state.time += dt;
    state.step_count += 1;
    Ok(StepReport::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BodyDesc, Method, ParamValue, Shape, SnapshotError, Vec3, World};

    #[test]
    fn a_new_method_needs_its_folder_and_one_entry() {
        let mut method = Method::from_name("toy").expect("in the list");
        assert_eq!(method.name(), "toy");
        assert!(Method::TABLES.iter().any(|t| t.method == "toy"));
        method
            .params_mut()
            .set("pull", ParamValue::Word("off"))
            .expect("a word of its list");
        method
            .params_mut()
            .set("seed", ParamValue::Whole(7))
            .expect("a number");
        let mut world = World::new(method.clone()).expect("good parameters");
        let desc = BodyDesc {
            velocity: Vec3::X,
            ..BodyDesc::dynamic(Shape::Sphere { radius: 0.5 }, Vec3::ZERO)
        };
        let ball = world.add_body(&desc).expect("a good body");
        world.step(1.0).expect("a good step");
        // Two halves with 1/8 lost in each: v = (7/8)^2, x = (7/8 + (7/8)^2) / 2.
        let body = world.body_state(ball).expect("it is there");
        assert_eq!(body.velocity, Vec3::X * 0.875 * 0.875);
        assert_eq!(body.position, Vec3::X * (0.875 + 0.875 * 0.875) / 2.0);
        let bytes = world.snapshot();
        let back = World::restore(&bytes).expect("its own bytes");
        assert_eq!(*back.method(), method);
        assert_eq!(back.snapshot(), bytes);
    }

    #[test]
    fn its_table_checks_values_and_snapshots() {
        let mut method = Method::Toy(ToyParams::default());
        let refused = |method: &mut Method, name: &str, value| {
            let error = method.params_mut().set(name, value).expect_err("nonsense");
            (error.field, error.reason)
        };
        let (field, reason) = refused(&mut method, "drag", ParamValue::Number(2.0));
        assert_eq!(
            (field.as_str(), reason.as_str()),
            ("drag", "must be between 0 and 1")
        );
        for (name, value) in [
            ("drag", ParamValue::Number(f64::NAN)),
            ("drag", ParamValue::Whole(0)),
            ("drag", ParamValue::None),
            ("pieces", ParamValue::Whole(0)),
            ("pieces", ParamValue::Whole(1 << 40)),
            ("pull", ParamValue::Word("sideways")),
            ("slices", ParamValue::Whole(3)),
        ] {
            assert_eq!(refused(&mut method, name, value).0, name);
        }
        assert_eq!(method, Method::Toy(ToyParams::default()));
        let bad = ToyParams {
            pieces: 0,
            ..ToyParams::default()
        };
        assert!(World::new(Method::Toy(bad)).is_err());

        // Bytes of a table with other parameters are refused by name; the fingerprint follows magic, version, checksum, family and the
        // method's byte.
        let mut bytes = World::new(method).expect("good parameters").snapshot();
        bytes[8 + 4 + 8 + 4 + 1] ^= 1;
        crate::snapshot::seal(&mut bytes);
        let refused = World::restore(&bytes).expect_err("another table");
        assert_eq!(refused, SnapshotError::Parameters { method: "toy" });
    }
}
