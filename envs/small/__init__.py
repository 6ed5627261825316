"""Small games of two seats with exact answers: Kuhn poker, Leduc hold'em and liar's dice, one file each."""
