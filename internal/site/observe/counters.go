package observe

import (
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
)

// counters are growths of the database's own counts over the load.
type counters struct {
	questions float64 // statements and commands that clients sent
	threads   float64 // most connections at one time since the server started
	between   float64 // questions between the first reading and the begin of the log: the load may have begun before
	closed    float64 // connections that ended: the quit of each is a question that is not logged
	databases float64 // changes of the default database: USE, and the command COM_INIT_DB of select_db
	options   float64 // SET, and the command COM_SET_OPTION
	commands  float64 // COM_RESET_CONNECTION, COM_CHANGE_USER, COM_DEBUG; also COM_PING, which is no question
}

func countersOf(before, after map[string]string) counters {
	number := func(m map[string]string, name string) float64 {
		v, _ := strconv.ParseFloat(m[name], 64)
		return v
	}
	grown := func(name string) float64 { return number(after, name) - number(before, name) }
	return counters{questions: grown("questions"), threads: number(after, "max_used_connections"),
		closed:    max(0, grown("connections")-grown("threads_connected")),
		databases: grown("com_change_db"), options: grown("com_set_option"), commands: grown("com_admin_commands")}
}

// entries counts the entries of a slow log.
type entries struct {
	counted float64 // those that Questions counts
	uses    float64 // USE statements
	sets    float64 // SET statements
	admin   float64 // commands of the protocol that are logged and that Questions counts
}

// uncounted are entries of a slow log that Questions does not count, and the quit
// of a connection, which Questions counts but not every server logs.
var uncounted = map[string]bool{"Prepare": true, "Close stmt": true, "Reset stmt": true, "Ping": true, "Statistics": true, "Quit": true}

func entriesOf(p *iikanji.Profile) entries {
	var e entries
	for _, r := range p.Rows {
		n := float64(r.Count)
		name, isAdmin := strings.CutPrefix(r.Key, "administrator command: ")
		if isAdmin && uncounted[name] {
			continue
		}
		e.counted += n
		word, _, _ := strings.Cut(strings.ToLower(r.Key), " ")
		switch {
		case isAdmin:
			e.admin += n
		case word == "use":
			e.uses += n
		case word == "set":
			e.sets += n
		}
	}
	return e
}

// statements are the entries that a log of all statements has, and how many fewer
// it may have. Questions counts commands of the protocol that no log has (found
// with MariaDB 10.11): a select_db of PHP (COM_INIT_DB), COM_SET_OPTION, and those
// of Com_admin_commands, of which only the pings are no questions.
func (c counters) statements(logged entries) (want, commands float64) {
	want = c.questions - c.closed - max(0, c.databases-logged.uses) - max(0, c.options-logged.sets)
	return want, max(0, min(c.commands-logged.admin, want-logged.counted))
}
