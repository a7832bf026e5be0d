package accesslog

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
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
	ByURL // method, path and query as sent
	ByIP
	ByHour
	ByBackend // the server behind a proxy: an instance of the app
)

var byWords = []string{"route", "status", "method", "host", "user-agent", "user", "minute", "url", "ip", "hour", "backend"}

func (b By) String() string { return byWords[b] }

// ParseBy reads the words that String prints.
func ParseBy(s string) (By, error) {
	for i, w := range byWords {
		if s == w {
			return By(i), nil
		}
	}
	return 0, fmt.Errorf("rows can be grouped by %s, not by %q", strings.Join(byWords, ", "), s)
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
	case ByIP:
		return address
	case ByBackend:
		return backend
	case ByMinute, ByHour:
		return stamp
	}
	return skipped
}

// joined is the text of several groupings.
func joined(all []By) string {
	var words []string
	for _, b := range all {
		words = append(words, b.String())
	}
	return strings.Join(words, ",")
}

// A keyer makes the keys of lines for every grouping but ByRoute alone.
type keyer struct {
	by     []By
	zone   *time.Location
	routes *Routes // of the first reading, if routes are a part of the keys
	times  [2]timeKey
	buf    []byte
}

// A timeKey is the text of the last minute or hour.
type timeKey struct {
	unit int64 // minutes or hours since 1970
	text []byte
}

var none = []byte("(none)")

// key returns the key of a line; the bytes are valid until the next call.
func (k *keyer) key(r *record) []byte {
	if len(k.by) == 1 && k.by[0] != ByStatus && k.by[0] != ByURL {
		return k.part(k.by[0], r) // without a copy
	}
	k.buf = k.buf[:0]
	for i, b := range k.by {
		if i > 0 {
			k.buf = append(k.buf, ", "...)
		}
		switch b {
		case ByStatus:
			k.buf = strconv.AppendInt(k.buf, int64(r.status), 10)
		case ByURL:
			k.buf = append(append(k.buf, r.methodText()...), ' ')
			k.buf = append(k.buf, r.uri...)
		default:
			k.buf = append(k.buf, k.part(b, r)...)
		}
	}
	return k.buf
}

func (k *keyer) part(b By, r *record) []byte {
	switch b {
	case ByRoute:
		return k.routes.find(r)
	case ByMethod:
		return r.methodText()
	case ByHost:
		return orNone(r.host)
	case ByAgent:
		return orNone(r.agent)
	case ByUser:
		return orNone(r.user)
	case ByIP:
		return orNone(withoutPort(r.addr))
	case ByBackend:
		return orNone(lastOf(r.backend))
	case ByHour:
		return k.time(&k.times[1], r.at, 3600, "2006-01-02 15:00")
	}
	return k.time(&k.times[0], r.at, 60, "2006-01-02 15:04")
}

func (k *keyer) time(t *timeKey, at, seconds int64, form string) []byte {
	if at == noTime {
		return none
	}
	if unit := at / (seconds * 1e9); unit != t.unit || len(t.text) == 0 {
		t.unit = unit
		t.text = time.Unix(unit*seconds, 0).In(k.zone).AppendFormat(t.text[:0], form)
	}
	return t.text
}

// withoutPort removes the port of an address: 10.0.0.1:80, [2001:db8::1]:80.
func withoutPort(b []byte) []byte {
	i := bytes.LastIndexByte(b, ':')
	switch {
	case i > 0 && b[0] == '[' && b[i-1] == ']':
		return b[1 : i-1]
	case i > 0 && bytes.IndexByte(b, ':') == i:
		return b[:i]
	}
	return b
}

// lastOf is the server that answered, of those that nginx has asked one after the other:
// "10.0.0.1:80, 10.0.0.2:80 : 10.0.0.3:80".
func lastOf(b []byte) []byte {
	if i := bytes.LastIndexByte(b, ' '); i >= 0 {
		return b[i+1:]
	}
	return b
}

func orNone(b []byte) []byte {
	if len(b) == 0 || len(b) == 1 && b[0] == '-' {
		return none
	}
	return b
}
