package model

import (
	"slices"
	"strconv"
	"strings"
)

// A row is one row of the table. Its group is folded as the collation compares
// groups.
type row struct {
	id    int64
	group string
	value int64
}

// A state is the table, ordered by id.
type state []row

// fold gives texts that the column's collation takes for equal one spelling: NOCASE in
// SQLite, utf8mb4_general_ci otherwise.
func (s Setup) fold(group string) string {
	group = strings.ToLower(group) // the only letter beyond ASCII is small
	if s.SQLite {
		return group
	}
	return strings.ReplaceAll(strings.TrimRight(group, " "), "é", "e")
}

func (s state) find(id int64) int {
	return slices.IndexFunc(s, func(r row) bool { return r.id == id })
}

// An effect is one write.
type effect struct {
	verb  verb
	id    int64
	group string
	value int64
	rows  []row // of insert and put
}

type verb uint8

const (
	setValue      verb = iota // of the row id
	setGroup                  // of the row id
	setValueGroup             // the values of a group's rows
	remove                    // the row id
	insert                    // rows that were not there
	put                       // rows, there or not
	clearAll
)

// apply gives the state after a write.
func (e effect) apply(s state) state {
	out := slices.Clone(s)
	switch e.verb {
	case setValue:
		if i := out.find(e.id); i >= 0 {
			out[i].value = e.value
		}
	case setGroup:
		if i := out.find(e.id); i >= 0 {
			out[i].group = e.group
		}
	case setValueGroup:
		for i := range out {
			if out[i].group == e.group {
				out[i].value = e.value
			}
		}
	case remove:
		out = slices.DeleteFunc(out, func(r row) bool { return r.id == e.id })
	case insert, put:
		for _, r := range e.rows {
			if i := out.find(r.id); i >= 0 {
				out[i].value = r.value
				continue
			}
			out = append(out, r)
		}
		slices.SortFunc(out, func(a, b row) int { return int(a.id - b.id) })
	case clearAll:
		out = nil
	}
	return out
}

// A question is one read.
type question struct {
	ask   ask
	id    int64
	ids   []int64
	group string
}

type ask uint8

const (
	byID ask = iota
	byIDs
	byGroup
	whole
	countRow // whether the row id is in the group
	pair     // the row id of a self join
)

// appendAnswer adds what a state gives to a question.
func (q question) appendAnswer(out []byte, s state) []byte {
	switch q.ask {
	case byID, pair:
		if i := s.find(q.id); i >= 0 {
			out = appendValue(out, s[i].value)
		}
	case countRow:
		n := int64(0)
		if i := s.find(q.id); i >= 0 && s[i].group == q.group {
			n = 1
		}
		out = appendValue(out, n)
	default:
		for _, r := range s {
			if q.ask == whole || q.ask == byGroup && r.group == q.group || q.ask == byIDs && slices.Contains(q.ids, r.id) {
				out = appendRow(out, r.id, r.value)
			}
		}
	}
	return out
}

// appendValue adds a row of one column to an answer.
func appendValue(out []byte, value int64) []byte {
	return append(strconv.AppendInt(out, value, 10), ';')
}

// appendRow adds a row of two columns to an answer.
func appendRow(out []byte, id, value int64) []byte {
	return appendValue(append(strconv.AppendInt(out, id, 10), '/'), value)
}

// mostID is the largest id of a row.
const mostID = 4

// only is the state of one row.
func (s state) only(id int64) state {
	return slices.DeleteFunc(slices.Clone(s), func(r row) bool { return r.id != id })
}

// effectsOn are writes as far as they concern a row.
func effectsOn(id int64, all []effect) []effect {
	out := slices.Clone(all)
	for i := range out {
		out[i].rows = slices.DeleteFunc(slices.Clone(out[i].rows), func(r row) bool { return r.id != id })
	}
	return out
}

// seenOf is what an answer shows of a row.
func (q question) seenOf(id int64, answer string) (seen string, concerned bool) {
	switch q.ask {
	case byID, pair, countRow:
		return answer, q.id == id
	case byIDs:
		concerned = slices.Contains(q.ids, id)
	default:
		concerned = true
	}
	mark := strconv.FormatInt(id, 10) + "/"
	for part := range strings.SplitAfterSeq(answer, ";") {
		if strings.HasPrefix(part, mark) {
			seen = part
		}
	}
	return seen, concerned
}
