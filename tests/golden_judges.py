"""Reference values of judges (tests/files/golden/judges.json), by id; each says which program gave it."""

import json

import places

CASES = {
    case["id"]: case
    for case in json.loads((places.ROOT / "tests" / "files" / "golden" / "judges.json").read_text())["cases"]
}
