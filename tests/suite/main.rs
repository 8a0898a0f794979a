//! One test binary with modules.

#[cfg(test)]
mod documents;
#[cfg(test)]
mod profile;
#[cfg(test)]
mod sample_village;
#[cfg(test)]
mod travel;
#[cfg(test)]
mod village_ways;
#[cfg(test)]
mod why_not;
