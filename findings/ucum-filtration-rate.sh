#!/bin/sh
# mL/min/1.73.m2, a unit of filtration rates in laboratories, is 73 mL times square metre a minute.
#
# Version:  @lhncbc/ucum-lhc 7.1.10 (npm), as UCUM itself says
# Input:    the units mL/min/1.73.m2 and K/uL (thousand a microlitre on reports of blood counts)
# Expected: an error, as UCUM has no decimal fractions, and as the codes are mL/min/{1.73_m2} and 10*3/uL
# Observed: both are valid: the first is /1, times 73, times m2; the second is kelvin a microlitre
# Source:   https://ucum.org/ucum: a point multiplies, and terms are read from the left; K is the kelvin
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @lhncbc/ucum-lhc@7.1.10 > install.log 2>&1 || { cat install.log >&2; exit 1; }
cat > run.cjs <<'END'
const assert = require("assert");
const units = require("@lhncbc/ucum-lhc").UcumLhcUtils.getInstance();

const status = ["mL/min/1.73.m2", "mL/min/{1.73_m2}", "K/uL"].map(
  (unit) => units.validateUnitString(unit).status
);
const rate = units.convertUnitTo("mL/min/1.73.m2", 90, "mL.m2/min").toVal;
const name = units.validateUnitString("K/uL").unit.name;
console.log(status, rate, name);
assert.deepStrictEqual(status, ["valid", "valid", "valid"], "ucum-lhc has changed");
assert.strictEqual(Math.round(rate), 90 * 73, "ucum-lhc has changed");
assert.match(name, /Kelvin/, "ucum-lhc has changed");
END
node run.cjs
