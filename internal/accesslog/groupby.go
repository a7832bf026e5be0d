package accesslog

import (
	"fmt"
	"strconv"
	"time"
)

// A By is the key that rows are grouped by.
type By uint8

const (
	ByRoute By = iota
	ByStatus
	ByMethod
	ByHost
	ByAgent
	ByUser
	ByMinute
	ByURL // method, path and query, as they were sent
)

var byWords = []string{"route", "status", "method", "host", "user-agent", "user", "minute", "url"}

func (b By) String() string { return byWords[b] }

// ParseBy reads the words that String prints.
func ParseBy(s string) (By, error) {
	for i, w := range byWords {
		if s == w {
			return By(i), nil
		}
	}
	return 0, fmt.Errorf("rows can be grouped by route, status, method, host, user-agent, user, minute or url, not by %q", s)
}

// needs is the field that a log must have for this grouping.
func (b By) needs() field {
	switch b {
	case ByStatus:
		return status
	case ByHost:
		return host
	case ByAgent:
		return agent
	case ByUser:
		return user
	case ByMinute:
		return stamp
	}
	return skipped
}

// A keyer makes the keys of lines for every grouping but ByRoute.
type keyer struct {
	by     By
	zone   *time.Location
	minute int64 // the minute since 1970 that buf holds
	buf    []byte
}

var none = []byte("(none)")

// key returns the key of a line; the bytes are valid until the next call.
func (k *keyer) key(r *record) []byte {
	switch k.by {
	case ByStatus:
		k.buf = strconv.AppendInt(k.buf[:0], int64(r.status), 10)
		return k.buf
	case ByMethod:
		return methodBytes[r.method]
	case ByHost:
		return orNone(r.host)
	case ByAgent:
		return orNone(r.agent)
	case ByUser:
		return orNone(r.user)
	case ByURL:
		k.buf = append(append(k.buf[:0], methodBytes[r.method]...), ' ')
		k.buf = append(k.buf, r.uri...)
		return k.buf
	}
	if r.at == noTime {
		return none
	}
	if m := r.at / 60e9; m != k.minute || len(k.buf) == 0 {
		k.minute = m
		k.buf = time.Unix(m*60, 0).In(k.zone).AppendFormat(k.buf[:0], "2006-01-02 15:04")
	}
	return k.buf
}

func orNone(b []byte) []byte {
	if len(b) == 0 || len(b) == 1 && b[0] == '-' {
		return none
	}
	return b
}
