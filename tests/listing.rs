//! `squire list`.

use crate::support::Test;

#[test]
fn without_a_configuration_there_is_the_built_in_server() {
    Test::new()
        .args(["list"])
        .stdout("NAME    TIER     STATE  TRANSPORT  ROUTE    RUNS              ORIGIN\nsquire  builtin  on     builtin    gateway  in squire itself\n")
        .success();
}
