//! One test binary with modules.

#[cfg(test)]
mod cases;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod law;
#[cfg(test)]
mod sample_village;
