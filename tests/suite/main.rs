//! One test binary with modules.

#[cfg(test)]
mod cases;
#[cfg(test)]
mod corrections;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod law;
#[cfg(test)]
mod layout;
#[cfg(test)]
mod profile;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod repairs;
#[cfg(test)]
mod sample_village;
#[cfg(test)]
mod towns;
#[cfg(test)]
mod travel;
#[cfg(test)]
mod village_ways;
#[cfg(test)]
mod waters;
#[cfg(test)]
mod why_not;
