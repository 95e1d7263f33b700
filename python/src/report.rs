//! The certificate of a step as Python reads it.
//!
//! Reads: `StepReport`.  Writes: nothing.
//! Called by: users of the package.
//! Source: docs/methods/contract.md, "The certificate".

use crate::arrays::row;
use numpy::PyArray1;
use pyo3::prelude::*;
use tippe::{EnergyLedger, StepReport};

/// Declares a class of plain numbers with their getters, `as_dict` and a readable form.
macro_rules! numbers {
    ($(#[doc = $doc:literal])+ $name:ident($inner:ty) { $($field:ident),+ $(,)? }) => {
        $(#[doc = $doc])+
        #[pyclass(module = "tippe", frozen)]
        #[derive(Clone, Copy)]
        pub struct $name(pub $inner);

        #[pymethods]
        impl $name {
            $(#[getter]
            const fn $field(&self) -> f64 {
                self.0.$field
            })+

            /// All numbers by name.
            fn as_dict(&self) -> std::collections::BTreeMap<&'static str, f64> {
                [$((stringify!($field), self.0.$field)),+].into_iter().collect()
            }

            fn __repr__(&self) -> String {
                let parts = [$((stringify!($field), self.0.$field)),+];
                let parts = parts.iter().filter(|p| p.1 != 0.0).map(|(n, v)| format!("{n}={v:.6e}"));
                format!("<tippe.{} {}>", stringify!($name), parts.collect::<Vec<_>>().join(", "))
            }
        }
    };
}

numbers! {
    /// Energies and transfers of a step, or since the start of the world [J].
    Energy(EnergyLedger) {
        kinetic, potential, elastic, gravity, external, motors, prescribed, elastic_work, friction, restitution, drag,
        joint_friction, contact_damping, shock, numerical_damping, gained, position_correction, unexplained,
    }
}

numbers! {
    /// Distances from the conditions of contacts and joints, the worst of the step.
    Residuals(tippe::Residuals) { complementarity, friction_cone, stick_slip, joint_position, joint_velocity }
}

/// What a step did and how far from right it is; over several steps, counts added up and the worst values.
#[pyclass(module = "tippe", frozen)]
#[derive(Clone, Copy)]
pub struct Report {
    /// The report of the library.
    pub inner: StepReport,
    /// Steps it is about.
    pub steps: usize,
    /// Steps of them that are certified.
    pub certified_steps: usize,
}

#[pymethods]
impl Report {
    /// Time at the end [s].
    #[getter]
    const fn time(&self) -> f64 {
        self.inner.time
    }
    /// Length of all steps together [s].
    #[getter]
    const fn dt(&self) -> f64 {
        self.inner.dt
    }
    /// Steps it is about.
    #[getter]
    const fn steps(&self) -> usize {
        self.steps
    }
    /// Steps that are certified.
    #[getter]
    const fn certified_steps(&self) -> usize {
        self.certified_steps
    }
    /// Whether every step is certified.
    #[getter]
    const fn certified(&self) -> bool {
        self.certified_steps == self.steps
    }
    /// What the worst values miss, by name.
    #[getter]
    fn missed(&self) -> Vec<&'static str> {
        self.inner.missed()
    }
    /// Contact points that carried an impulse, the most of a step.
    #[getter]
    const fn contacts(&self) -> usize {
        self.inner.contacts
    }
    /// Impacts.
    #[getter]
    const fn collisions(&self) -> usize {
        self.inner.collisions
    }
    /// Largest penetration at the end [m].
    #[getter]
    const fn penetration(&self) -> f64 {
        self.inner.penetration
    }
    /// Largest penetration that detection found [m].
    #[getter]
    const fn penetration_found(&self) -> f64 {
        self.inner.penetration_found
    }
    /// Residuals.
    #[getter]
    const fn residuals(&self) -> Residuals {
        Residuals(self.inner.residuals)
    }
    /// Where the energy went.
    #[getter]
    const fn energy(&self) -> Energy {
        Energy(self.inner.energy)
    }
    /// What errors of energy are measured by [J].
    #[getter]
    const fn energy_scale(&self) -> f64 {
        self.inner.energy_scale
    }
    /// Loops that ended at their limit and were not made good.
    #[getter]
    const fn caps_open(&self) -> u32 {
        self.inner.work.caps_open()
    }
    /// Momentum of the dynamic bodies [kg·m/s].
    #[getter]
    fn momentum<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        row(py, &self.inner.momentum.to_array())
    }
    /// Angular momentum about the origin [kg·m²/s].
    #[getter]
    fn angular_momentum<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        row(py, &self.inner.angular_momentum.to_array())
    }

    fn __repr__(&self) -> String {
        let trust = if self.certified() {
            "certified".into()
        } else {
            format!("not certified: {:?}", self.missed())
        };
        format!(
            "<tippe.Report at {:.6} s, {} steps, {} contacts, {trust}>",
            self.inner.time, self.steps, self.inner.contacts
        )
    }
}
