//! Faults on purpose: ways of being wrong that the fidelity cases, and the checks of a step, must notice.
//!
//! Reads: the fault chosen, with the feature `fault-injection`; without it nothing.  Writes: that choice.
//! Called by: the few lines that can be wrong; tests of the validation crate choose.
//! Source: errors that engines have had: energy from restitution, ω held constant, friction pyramids, impulses without their counterpart.

/// A way of being wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Restitution with the wrong sign: −e in place of e.
    RestitutionSign,
    /// Free rotation without the gyroscopic term: ω stays as it is in world axes.
    NoGyroscopicTerm,
    /// Friction bounded along each tangent for itself: a pyramid in place of the round cone.
    FrictionPyramid,
    /// Body B of a contact gets half of the impulse that body A gets.
    HalfImpulse,
    /// A step whose ledger has an entry that is not a number.
    NotANumber,
}

/// The fault in force, 0 for none.
#[cfg(feature = "fault-injection")]
static CHOSEN: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(0);

/// Makes every world of this process wrong in one way, or right again.
#[cfg(feature = "fault-injection")]
pub fn inject(fault: Option<Fault>) {
    let code = fault.map_or(0, |f| 1 + f as u8);
    CHOSEN.store(code, std::sync::atomic::Ordering::SeqCst);
}

/// Whether this fault is in force; a constant without the feature, so that nothing is left of the question.
#[inline]
pub(crate) fn active(fault: Fault) -> bool {
    #[cfg(feature = "fault-injection")]
    {
        CHOSEN.load(std::sync::atomic::Ordering::Relaxed) == 1 + fault as u8
    }
    #[cfg(not(feature = "fault-injection"))]
    {
        let _ = fault;
        false
    }
}
