package words

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A line is one line of an output, without what carries it.
type line struct {
	text  string
	at    time.Duration // since some begin; see clock
	timed bool
	clock clock
}

// A clock is the form of a time. Times of one form can be subtracted.
type clock uint8

const (
	noClock clock = iota
	date          // since 1970
	ofDay         // since midnight
	elapsed       // since a begin that the benchmarker chose
)

// wide replaces the wide forms of digits and signs that Japanese texts have.
var wide = strings.NewReplacer("０", "0", "１", "1", "２", "2", "３", "3", "４", "4", "５", "5", "６", "6", "７", "7", "８", "8", "９", "9",
	"：", ":", "＝", "=", "，", ",", "．", ".", "（", "(", "）", ")", "／", "/", "％", "%", "　", " ")

var (
	colours = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	// dated, timeOfDay, minutes and seconds match the time at the begin of a line.
	dated     = regexp.MustCompile(`^\[?(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?\s?(?:Z|UTC|JST|[+-]\d\d:?\d\d)?\]?[\s:|]*`)
	timeOfDay = regexp.MustCompile(`^\[?(\d{1,2}):(\d\d):(\d\d)(?:[.,](\d{1,9}))?\]?[\s:|]+`)
	minutes   = regexp.MustCompile(`^\[?()(\d{1,3}):(\d\d)(?:[.,](\d{1,9}))?\]?[\s:|]+`)
	seconds   = regexp.MustCompile(`^\[?\s*\+?(\d{1,5}(?:\.\d+)?)s\]?[\s:|]+`)
	// level matches the level of a log, and a name of the program in brackets.
	level = regexp.MustCompile(`^(?i:\[?(?:debug|info|notice|warn|warning|error|err|fatal|trace|情報|警告)\]?[\s:|]+)`)
	// pair matches KEY=VALUE of logfmt.
	pair = regexp.MustCompile(`(\w+)=("(?:[^"\\]|\\.)*"|\S*)`)
)

// readLine removes what carries a line: a log of JSON or logfmt, time and level.
func readLine(raw string) line {
	text := strings.TrimSpace(wide.Replace(colours.ReplaceAllString(raw, "")))
	l := line{text: text}
	if strings.HasPrefix(text, "{") && l.object(text) {
		return l
	}
	if strings.Contains(text, "msg=") || strings.Contains(text, "message=") {
		l.logfmt(text)
		return l
	}
	l.takeTime()
	for range 2 { // "[INFO] 12:00:01 text"
		if m := level.FindString(l.text); m != "" && len(m) < len(l.text) {
			l.text = l.text[len(m):]
			if !l.timed {
				l.takeTime()
			}
		}
	}
	return l
}

// object reads a line that is a JSON object: its message with its other texts and numbers.
func (l *line) object(text string) bool {
	var doc map[string]any
	if json.Unmarshal([]byte(text), &doc) != nil {
		return false
	}
	var message string
	var rest []string
	keys := make([]string, 0, len(doc))
	for key := range doc {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		l.field(strings.ToLower(key), plainValue(doc[key]), &message, &rest)
	}
	l.text = strings.TrimSpace(message + " " + strings.Join(rest, " "))
	return true
}

func plainValue(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return "" // lists and objects are data, no words
}

// logfmt reads a line of KEY=VALUE.
func (l *line) logfmt(text string) {
	var message string
	var rest []string
	for _, m := range pair.FindAllStringSubmatch(text, -1) {
		value := m[2]
		if unquoted, err := strconv.Unquote(value); err == nil {
			value = unquoted
		}
		l.field(strings.ToLower(m[1]), value, &message, &rest)
	}
	l.text = strings.TrimSpace(message + " " + strings.Join(rest, " "))
}

// field takes one key with its value.
func (l *line) field(key, value string, message *string, rest *[]string) {
	switch key {
	case "msg", "message":
		*message = wide.Replace(value)
	case "time", "ts", "timestamp", "at":
		of := line{text: value + " "}
		of.takeTime()
		l.at, l.timed, l.clock = of.at, of.timed, of.clock
	case "level", "lvl", "severity", "caller", "logger", "source":
	default:
		if value != "" {
			*rest = append(*rest, key+"="+wide.Replace(value))
		}
	}
}

// takeTime removes the time at the begin of the text.
func (l *line) takeTime() {
	number := func(s string) time.Duration { n, _ := strconv.Atoi(s); return time.Duration(n) } // digits only
	if m := dated.FindStringSubmatch(l.text); m != nil {
		day := time.Date(int(number(m[1])), time.Month(number(m[2])), int(number(m[3])), int(number(m[4])), int(number(m[5])), int(number(m[6])), 0, time.UTC)
		l.set(date, time.Duration(day.Unix())*time.Second+fraction(m[7]), m[0])
		return
	}
	for _, try := range []struct {
		form *regexp.Regexp
		is   clock
	}{{timeOfDay, ofDay}, {minutes, elapsed}} {
		if m := try.form.FindStringSubmatch(l.text); m != nil {
			l.set(try.is, number(m[1])*time.Hour+number(m[2])*time.Minute+number(m[3])*time.Second+fraction(m[4]), m[0])
			return
		}
	}
	if m := seconds.FindStringSubmatch(l.text); m != nil {
		s, _ := strconv.ParseFloat(m[1], 64) // at most 5 digits before the point
		l.set(elapsed, time.Duration(s*float64(time.Second)), m[0])
	}
}

// set notes a time, and removes it unless the line is nothing else.
func (l *line) set(is clock, at time.Duration, matched string) {
	l.at, l.timed, l.clock = at, true, is
	if rest := l.text[len(matched):]; rest != "" {
		l.text = rest
	}
}

// fraction reads the digits behind the point of a second.
func fraction(digits string) time.Duration {
	n, _ := strconv.Atoi((digits + "000000000")[:9]) // at most 9 digits
	return time.Duration(n)
}
