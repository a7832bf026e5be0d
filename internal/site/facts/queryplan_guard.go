package facts

import "strings"

// effects are functions with side effects: they take locks that outlive the
// statement, wait, advance a sequence, or read files. A read-only session does
// not prevent them.
var effects = map[string]bool{
	"get_lock": true, "release_lock": true, "release_all_locks": true,
	"sleep": true, "benchmark": true, "load_file": true,
	"master_pos_wait": true, "master_gtid_wait": true, "source_pos_wait": true,
	"wait_for_executed_gtid_set": true, "wait_until_sql_thread_after_gtids": true,
	"nextval": true, "setval": true,
}

// acts names a side effect of a SELECT, at any depth, or "": it locks rows, writes
// files or variables, modifies rows, or calls a function with side effects. Such
// a statement is neither run nor planned, because a server may evaluate constant
// expressions while it plans.
func acts(sql string) string {
	words := scanAll(sql)
	top := ""
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1].text
		}
		if top == "" && w.depth == 0 && w.text != "(" {
			top = w.text
		}
		switch {
		case w.member: // a column may have any name
		case w.text == "into":
			return "it writes to a file or a variable"
		case w.text == "for" && (next == "update" || next == "share"), w.text == "lock" && next == "in":
			return "it locks rows"
		case w.text == "next" && next == "value":
			return "it advances a sequence"
		case top == "with" && (w.text == "update" || w.text == "delete"):
			return "it changes rows"
		case w.called && effects[w.text]:
			return "it calls " + w.text
		}
	}
	return ""
}

// endless reports whether a statement has a time limit of its own, which would
// replace the limit of the session.
func endless(sql string) bool { return strings.Contains(strings.ToLower(sql), "max_execution_time") }
