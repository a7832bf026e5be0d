package facts

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/site/fact"
)

const deadlockHead = "LATEST DETECTED DEADLOCK"

var (
	partHead   = regexp.MustCompile(`^\*\*\* \((\d+)\) TRANSACTION:$`)
	holdsHead  = regexp.MustCompile(`^\*\*\* \(\d+\) HOLDS THE LOCK\(S\):$`)
	waitsHead  = regexp.MustCompile(`^\*\*\* (?:\(\d+\) )?WAITING FOR THIS LOCK TO BE GRANTED:$`)
	victimLine = regexp.MustCompile(`^\*\*\* WE ROLL BACK TRANSACTION \((\d+)\)$`)
	threadLine = regexp.MustCompile(`^(?:MariaDB|MySQL) thread id (\d+),`)
	lockLine   = regexp.MustCompile("^(?:RECORD|TABLE) LOCKS? .*?(?:index `?([^` ]*)`? of )?table (`[^`]*`\\.`[^`]*`)(?: .*?)?trx id \\d+ (?:lock_mode|lock mode) (.*)$")
)

// Limits for the stored data of a deadlock. InnoDB prints a few transactions with the
// beginnings of their statements, but hostile text may contain anything.
const (
	mostParts = 16
	mostSQL   = 16 << 10
	mostLocks = 100
)

// ParseDeadlock reads the latest deadlock from the output of SHOW ENGINE INNODB
// STATUS; nil if there is none. MariaDB prints the locks that each transaction
// waited for, MySQL also those that it held.
//
// A statement may contain lines that look like any other line of the output. They
// cannot be distinguished, so the result may then be wrong. It is only displayed.
func ParseDeadlock(status string) *fact.Deadlock {
	_, text, ok := strings.Cut(status, deadlockHead+"\n")
	if !ok {
		return nil
	}
	p := deadlockParser{d: &fact.Deadlock{}}
	first := true
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "------") {
			if first {
				continue // the line below the heading
			}
			break
		}
		if first {
			p.d.At, first = stamp(line), false
			continue
		}
		if !p.line(line) {
			break
		}
	}
	if len(p.d.Parts) == 0 {
		return nil
	}
	for i := range p.d.Parts {
		p.d.Parts[i].SQL = strings.TrimSpace(p.d.Parts[i].SQL)
	}
	return p.d
}

// stamp is the time in "2026-11-21 12:17:40 0x7f50941cf6c0"; a thread follows it.
func stamp(line string) string {
	if i := strings.LastIndex(line, " 0x"); i > 0 {
		return line[:i]
	}
	return line
}

// A deadlockParser parses the text of one deadlock.
type deadlockParser struct {
	d       *fact.Deadlock
	part    *fact.DeadlockPart // the current part, nil before the first
	inSQL   bool               // lines belong to the statement of part
	section *[]fact.RowLock    // where locks are added; nil: ignore them
}

// line parses one line; false means the end of the deadlock.
func (p *deadlockParser) line(line string) bool {
	if strings.HasPrefix(line, "*** ") {
		return p.head(line)
	}
	if p.part == nil {
		return true
	}
	if m := threadLine.FindStringSubmatch(line); m != nil && !p.inSQL && p.part.Thread == 0 {
		p.part.Thread, _ = strconv.ParseUint(m[1], 10, 64)
		p.inSQL = true
		return true
	}
	if p.inSQL {
		if len(p.part.SQL)+len(line) < mostSQL {
			p.part.SQL += line + "\n"
		}
		return true
	}
	if p.section == nil || len(*p.section) == mostLocks {
		return true
	}
	if m := lockLine.FindStringSubmatch(line); m != nil {
		*p.section = append(*p.section, fact.RowLock{Table: strings.ReplaceAll(m[2], "`", ""), Index: m[1], Mode: strings.TrimSuffix(m[3], " waiting")})
	}
	return true
}

// head parses a line that begins a section.
func (p *deadlockParser) head(line string) bool {
	p.inSQL = false
	switch {
	case partHead.MatchString(line):
		if len(p.d.Parts) == mostParts {
			return false
		}
		p.d.Parts = append(p.d.Parts, fact.DeadlockPart{})
		p.part, p.section = &p.d.Parts[len(p.d.Parts)-1], nil
	case p.part == nil:
	case holdsHead.MatchString(line):
		p.section = &p.part.Holds
	case waitsHead.MatchString(line):
		p.section = &p.part.Waits
	default: // CONFLICTING WITH: a lock of another transaction
		p.section = nil
		if m := victimLine.FindStringSubmatch(line); m != nil {
			p.d.Victim, _ = strconv.Atoi(m[1])
			return false
		}
	}
	return true
}
