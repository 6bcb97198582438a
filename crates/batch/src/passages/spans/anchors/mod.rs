//! Places of anchors: their reading, their groups and classes, and the windows around them.

pub mod comparison;
pub mod groups;
pub mod members;
pub mod reading;
pub mod windows;
