//! One test binary with modules.

#[cfg(test)]
mod cases;
#[cfg(test)]
mod corrections;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod repairs;
#[cfg(test)]
mod sample_village;
