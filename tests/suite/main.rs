//! One test binary with modules.

#[cfg(test)]
mod cases;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod sample_village;
#[cfg(test)]
mod waters;
