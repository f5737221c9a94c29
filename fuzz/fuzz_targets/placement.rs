//! The place of our arguments among the user's words: behind all that is judged, before the first `--`, and where they
//! stand they are read as what they are.

#![no_main]

use libfuzzer_sys::fuzz_target;
use squire_fuzz::pieces;
use squire_strategies::{AGENTS, Spot};

const OURS: [&[&[u8]]; 3] =
    [&[b"--mcp-config=/f"], &[b"--strict-mcp-config"], &[b"-c", b"mcp_servers.a.enabled=true"]];

fuzz_target!(|data: &[u8]| {
    let words = pieces(data);
    for (strategy, placement) in AGENTS.iter().filter_map(|agent| Some((agent, agent.placement()?))) {
        let _ = (placement.knows(&words), placement.refuses_tools(&words));
        let Spot::Before(index) = placement.spot(&words) else { continue };
        assert!(words.get(index).is_none_or(|word| *word == b"--"), "{index}");
        let (before, behind) = words.split_at(index);
        assert_eq!(placement.spot(before), Spot::Before(index), "what stands behind `--` was judged");
        let is_codexs = strategy.name() == "codex";
        for ours in OURS.iter().filter(|ours| (ours[0] == b"-c") == is_codexs) {
            let all = [before, ours, behind].concat();
            assert_eq!(
                placement.spot(&all),
                Spot::Before(index + ours.len()),
                "ours were taken for another thing"
            );
        }
    }
});
