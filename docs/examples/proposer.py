#!/usr/bin/env python3
"""An example of a proposer: reads what iikanji found, answers with changes.

    iikanji tune isucondition --proposer docs/examples/proposer.py

It proposes the index of the first missing-index finding (DB101) and one
setting of nginx. What it was told to have been tried, it leaves out.
docs/proposer.md tells the two documents field by field.
"""

import json
import sys


def index_for(question):
    """The remedy of the first DB101, as the finding has it."""
    for finding in question["findings"]:
        if finding["code"] != "DB101":
            continue
        for remedy in finding["remedies"]:
            if remedy["kind"] == "ddl":
                return {**remedy, "answers": "DB101"}
    return None


def more_connections(question):
    """More connections for each of nginx's workers."""
    for service in question["target"]["services"]:
        if service["kind"] == "nginx":
            return {
                "kind": "nginxconf",
                "target": service["name"],
                "args": {"act": "set", "directive": "worker_connections", "value": "4096"},
                "says": "room for more connections per worker",
            }
    return None


def tried(question, change):
    """Whether a change of that kind was tried for the same finding."""
    return any(
        (t["kind"], t["target"], t.get("answers", "")) == (change["kind"], change["target"], change.get("answers", ""))
        for t in question["trials"]
    )


def main():
    question = json.load(sys.stdin)
    if question["version"] != 1:
        sys.exit(f"this proposer knows version 1 of the question, not {question['version']}")
    known = {kind["name"] for kind in question["kinds"]}
    changes = [index_for(question), more_connections(question)]
    changes = [c for c in changes if c and c["kind"] in known and not tried(question, c)]
    print("proposing", len(changes), "changes", file=sys.stderr)  # shown when something goes wrong
    json.dump({"version": 1, "changes": changes}, sys.stdout, indent=2, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
