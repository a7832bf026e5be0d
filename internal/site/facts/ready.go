package facts

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// readyTail is the number of bytes, at the end of a log, that are searched for starts.
const readyTail = 1 << 20

// started and answers match the lines that MariaDB and MySQL write into their error
// logs when they start and when they accept connections.
var (
	started = regexp.MustCompile(`(?i)\bstarting .*\bas process \d+`)
	answers = regexp.MustCompile(`(?i)\bready for connections\b`)
)

// ReadyFacts are the start times of the databases of a target that run on a host,
// from their error logs. A log that cannot be read has no fact.
func ReadyFacts(h host.Host, t iikanji.Target) []iikanji.Fact {
	var out []iikanji.Fact
	for _, s := range t.Services {
		if !s.Engine.MySQLFamily() || s.Host != h.Name() {
			continue
		}
		for _, l := range s.Logs {
			if l.Kind != "error" {
				continue
			}
			text, err := tail(h, l.Path, readyTail)
			if took, ok := longestStart(text); err == nil && ok {
				out = append(out, fact.TopicReady.Fact(s.Name, "seconds", took.Seconds(), true))
			}
		}
	}
	return out
}

// longestStart is the time of the slowest start. If the log has only whole seconds,
// as in MariaDB, one second is added, because the start may have taken up to one
// second longer.
func longestStart(text string) (longest time.Duration, ok bool) {
	var from time.Time
	for line := range strings.Lines(text) {
		switch {
		case started.MatchString(line):
			from, _ = logTime(line)
		case answers.MatchString(line) && !strings.Contains(line, "X Plugin") && !from.IsZero():
			if at, good := logTime(line); good && !at.Before(from) {
				took := at.Sub(from)
				if from.Nanosecond() == 0 && at.Nanosecond() == 0 {
					took += time.Second
				}
				longest, ok = max(longest, took), true
			}
			from = time.Time{}
		}
	}
	return longest, ok
}

// logTime parses the time at the start of a line, in the format of MariaDB, whose
// hours may have no leading zero, or of MySQL.
func logTime(line string) (time.Time, bool) {
	if len(line) >= 19 {
		if at, err := time.Parse("2006-01-02 15:04:05", strings.Replace(line[:19], "  ", " 0", 1)); err == nil {
			return at, true
		}
	}
	first, _, _ := strings.Cut(line, " ")
	at, err := time.Parse(time.RFC3339Nano, first)
	return at, err == nil
}

// tail reads the last n bytes of a file.
func tail(h host.Host, path string, n int64) (string, error) {
	f, err := h.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading the end of a log: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("reading the end of a log: %w", err)
	}
	text, err := io.ReadAll(io.NewSectionReader(f, max(0, st.Size()-n), n))
	if err != nil {
		return "", fmt.Errorf("reading the end of a log: %w", err)
	}
	return string(text), nil
}
