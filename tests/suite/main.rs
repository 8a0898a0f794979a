//! One test binary with modules.

#[cfg(test)]
mod cases;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod layout;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod sample_village;
