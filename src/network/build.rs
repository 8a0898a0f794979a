//! How is the network built? As a list of steps.

use crate::data_issue::DataIssue;
use crate::inventory::Inventory;

use super::options::BuildOptions;
use super::{Network, cut, direction, issues, join};

/// Builds the network, and says what is doubtful about it; issues come in the order of their codes, layers and ids.
pub fn build(inventory: &Inventory, options: &BuildOptions) -> (Network, Vec<DataIssue>) {
    let mut found = Vec::new();
    let mut joined = join::join(inventory, options, &mut found);
    let cut = cut::cut(inventory, options, &mut joined, &mut found);
    let flows = direction::decide(inventory, options, &joined, &mut found);
    let mut network = Network {
        nodes: joined.nodes,
        pieces: cut.pieces,
        flows,
        first_piece: cut.first_piece,
        structure_nodes: joined.structure_nodes,
        ..Network::default()
    };
    network.connect();
    network.gaps = issues::find(inventory, options, &network, &mut found);
    found.sort_by(|a, b| (a.code, &a.layer, &a.ids, &a.field).cmp(&(b.code, &b.layer, &b.ids, &b.field)));
    (network, found)
}
