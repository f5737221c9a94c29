//! The order as linkers take it.

const BEGINNING: &str = "\
/* The functions that launches and gateways call, side by side; made by `cargo bench --profile dev --bench layout`.
 * What no line matches lies where the linker puts it. */
SECTIONS
{
  .text.frequent :
  {
";
/// lld and the linker of GNU put it there and leave everything else as it is.
const END: &str = "\n  }\n}\nINSERT BEFORE .text;\n";

pub(super) fn script(patterns: &[String]) -> String {
    let lines: Vec<String> = patterns.iter().map(|pattern| format!("    {pattern}")).collect();
    format!("{BEGINNING}{}{END}", lines.join("\n"))
}
