package facts

import "strings"

// effects are functions that do more than tell a value: they take locks that
// outlive the statement, wait, count a sequence on, or read files. A session
// that is read-only does not stop them.
var effects = map[string]bool{
	"get_lock": true, "release_lock": true, "release_all_locks": true,
	"sleep": true, "benchmark": true, "load_file": true,
	"master_pos_wait": true, "master_gtid_wait": true, "source_pos_wait": true,
	"wait_for_executed_gtid_set": true, "wait_until_sql_thread_after_gtids": true,
	"nextval": true, "setval": true,
}

// acts says what a reading statement does besides reading rows, at any depth:
// it locks rows, writes files or variables, changes rows after all, or calls a
// function that does something. Such a one is neither run nor planned: a server
// may evaluate a constant while it plans. "" for none.
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
			return "it counts a sequence on"
		case top == "with" && (w.text == "update" || w.text == "delete"):
			return "it changes rows"
		case w.called && effects[w.text]:
			return "it calls " + w.text
		}
	}
	return ""
}

// endless says whether a statement brings a time limit of its own, which would
// take the place of the session's.
func endless(sql string) bool { return strings.Contains(strings.ToLower(sql), "max_execution_time") }
