//! Dynamics shared by all methods: free motion, response to impulses, impact laws, islands, energies.

pub mod contact_rates;
pub mod coupling;
pub mod drag;
pub mod energy;
pub mod impact;
pub mod impulse;
pub mod integrate;
pub mod island;
pub mod joint;
pub mod joint_rates;
pub mod mate;
pub mod one_step;
pub mod receding;
pub mod sleep;
