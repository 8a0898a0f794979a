//! Headwall traces a reported discharge through a town's own storm drains to the properties it may come from.
//!
//! The modules stand in reading order, and **a module uses only modules above it** (a test keeps that true).
//! To follow a reported discharge, start at `investigate`.

pub mod error;

pub mod data_issue;

pub mod crs;

pub mod data_file;

pub mod settings;

pub mod law;

pub mod rules;

pub mod inventory;

pub mod evidence;

pub mod formats;

pub mod ingest;

pub mod network;

pub mod links;

pub mod trace;

pub mod profile;

pub mod proposals;

pub mod waters;

pub mod candidates;

pub mod investigate;

pub mod records;

pub mod town;

pub mod init;

pub mod synth;

pub mod export;

pub mod cli;
