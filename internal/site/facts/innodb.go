package facts

import (
	"context"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// An InnoDB is the content of SHOW ENGINE INNODB STATUS at one moment.
type InnoDB struct {
	Deadlock *fact.Deadlock // the latest one since the server start, nil for none
	// Numbers that the server prints, by name; see [ParseInnoDB].
	Numbers map[string]float64
}

// InnoDB reads the engine's status. Without the engine the result is empty.
func (s *Server) InnoDB(ctx context.Context) (InnoDB, error) {
	rows, err := s.rows(ctx, "SHOW ENGINE INNODB STATUS")
	if err != nil {
		return InnoDB{}, err
	}
	var out InnoDB
	for _, r := range rows {
		out = InnoDB{Deadlock: ParseDeadlock(r["status"]), Numbers: ParseInnoDB(r["status"])}
	}
	return out, nil
}

// A statusLine is a line of one section of the status and the numbers in it.
type statusLine struct {
	section string
	line    *regexp.Regexp
	names   []string // names of the pattern's groups
	adds    bool     // there may be several such lines; their numbers are summed
}

// statusLines are the numbers that the counters (SHOW GLOBAL STATUS) do not
// contain, or not on every server. The patterns match MariaDB 10.2 to 11 and MySQL
// 5.7 to 8.4.
var statusLines = []statusLine{
	{"SEMAPHORES", regexp.MustCompile(`^OS WAIT ARRAY INFO: reservation count (\d+)`), []string{"semaphore_waits"}, false},
	{"SEMAPHORES", regexp.MustCompile(`^RW-\w+ spins \d+, rounds \d+, OS waits (\d+)`), []string{"latch_waits"}, true},
	{"SEMAPHORES", regexp.MustCompile(`^(-)-Thread \d+ has waited at `), []string{"latch_waiting"}, true},
	{"TRANSACTIONS", regexp.MustCompile(`^Trx id counter (\d+)$`), []string{"transaction_id"}, false},
	{"TRANSACTIONS", regexp.MustCompile(`^Purge done for trx's n:o < (\d+) `), []string{"purged_to"}, false},
	{"TRANSACTIONS", regexp.MustCompile(`^History list length (\d+)$`), []string{"history_list_length"}, false},
	{"FILE I/O", regexp.MustCompile(`^Pending flushes \(fsync\)(?: log)?: (\d+)(?:; buffer pool: (\d+))?`), []string{"pending_fsyncs", "pending_fsyncs"}, false},
	{"FILE I/O", regexp.MustCompile(`^(\d+) OS file reads, (\d+) OS file writes, (\d+) OS fsyncs`), []string{"file_reads", "file_writes", "file_fsyncs"}, false},
	{"INSERT BUFFER AND ADAPTIVE HASH INDEX", regexp.MustCompile(`^(\d+(?:\.\d+)?) hash searches/s, (\d+(?:\.\d+)?) non-hash searches/s`), []string{"hash_searches_per_second", "tree_searches_per_second"}, false},
	{"LOG", regexp.MustCompile(`^Log sequence number +(\d+)$`), []string{"log_sequence"}, false},
	{"LOG", regexp.MustCompile(`^Log flushed up to +(\d+)$`), []string{"log_flushed"}, false},
	{"LOG", regexp.MustCompile(`^Pages flushed up to +(\d+)$`), []string{"pages_flushed"}, false},
	{"LOG", regexp.MustCompile(`^Last checkpoint at +(\d+)$`), []string{"checkpoint"}, false},
	{"LOG", regexp.MustCompile(`^(\d+) pending log (?:flushes|writes), (\d+) pending chkp writes`), []string{"pending_log", "pending_checkpoints"}, false},
	{"BUFFER POOL AND MEMORY", regexp.MustCompile(`^Modified db pages +(\d+)$`), []string{"dirty_pages"}, false},
	{"BUFFER POOL AND MEMORY", regexp.MustCompile(`^Pending reads +(\d+)$`), []string{"pending_reads"}, false},
	{"BUFFER POOL AND MEMORY", regexp.MustCompile(`^Pending writes: LRU (\d+), flush list (\d+)`), []string{"pending_writes", "pending_writes"}, false},
	{"ROW OPERATIONS", regexp.MustCompile(`^(\d+) queries inside InnoDB, (\d+) queries in queue`), []string{"queries_inside", "queries_queued"}, false},
	{"ROW OPERATIONS", regexp.MustCompile(`^(\d+) read views open inside InnoDB`), []string{"read_views"}, false},
	{"ROW OPERATIONS", regexp.MustCompile(`^Number of rows inserted (\d+), updated (\d+), deleted (\d+), read (\d+)`), []string{"rows_inserted", "rows_updated", "rows_deleted", "rows_read"}, false},
}

var (
	dashes      = regexp.MustCompile(`^-{3,}$`)
	sectionName = regexp.MustCompile(`^[A-Z][A-Z/ ]+$`)
)

// ParseInnoDB reads the numbers in the output of SHOW ENGINE INNODB STATUS, each
// from its section: positions in the redo log in bytes; pages; reads, writes and
// syncs, either since the server start or pending at this moment. A number that
// the server does not print is missing. Two numbers are added: "checkpoint_age"
// is the number of bytes of redo log that crash recovery would have to read, and
// "purge_lag" the number of transactions that purge is behind.
//
// Statements in the output may contain lines that look like a section, so the
// result may then be wrong. The last section of a name counts, because InnoDB
// prints the statements before most of its numbers.
func ParseInnoDB(status string) map[string]float64 {
	out := map[string]float64{}
	section, name, rule := "", "", false // rule: the line before name consisted of dashes
	for line := range strings.Lines(status) {
		line = strings.TrimRight(line, " \r\n")
		switch isRule := dashes.MatchString(line); {
		case isRule && name != "":
			section, name = name, ""
			forget(out, section)
			rule = false
			continue
		case isRule:
			rule = true
			continue
		case rule && sectionName.MatchString(line):
			name, rule = line, false
			continue
		default:
			name, rule = "", false
		}
		for _, p := range statusLines {
			if p.section == section {
				p.read(line, out)
			}
		}
	}
	difference(out, "checkpoint_age", "log_sequence", "checkpoint")
	difference(out, "purge_lag", "transaction_id", "purged_to")
	return out
}

// forget deletes the numbers of an earlier section of the same name.
func forget(out map[string]float64, section string) {
	for _, p := range statusLines {
		if p.section == section {
			for _, name := range p.names {
				delete(out, name)
			}
		}
	}
}

// read records the numbers of a line. Groups of the same name are summed.
func (p statusLine) read(line string, out map[string]float64) {
	m := p.line.FindStringSubmatch(line)
	if m == nil {
		return
	}
	sums := map[string]float64{}
	for i, name := range p.names {
		text := m[i+1]
		if text == "-" { // the number of such lines is counted
			text = "1"
		}
		if text == "" {
			continue
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(n, 0) {
			return
		}
		sums[name] += n
	}
	for name, n := range sums {
		if p.adds {
			n += out[name]
		}
		out[name] = n
	}
}

// difference records how far one position is ahead of another, if both are known.
func difference(out map[string]float64, name, ahead, behind string) {
	a, known1 := out[ahead]
	b, known2 := out[behind]
	if known1 && known2 && a >= b {
		out[name] = a - b
	}
}

// InnoDBFacts are the numbers that both readings contain, as pairs, and the
// deadlock if it is new.
func InnoDBFacts(target string, before, after InnoDB) []iikanji.Fact {
	var out []iikanji.Fact
	for _, name := range slices.Sorted(maps.Keys(after.Numbers)) {
		if b, known := before.Numbers[name]; known {
			out = append(out, fact.TopicInnoDB.Fact(target, name, fact.Moved{Before: b, After: after.Numbers[name]}, true))
		}
	}
	return append(out, DeadlockFacts(target, before.Deadlock, after.Deadlock)...)
}
