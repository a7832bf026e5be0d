package unit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// property is the name under which systemctl show has a setting: of times, in microseconds.
func property(key string) string {
	switch key {
	case "RestartSec":
		return "RestartUSec"
	case "StartLimitIntervalSec":
		return "StartLimitIntervalUSec"
	case "ConditionPathExists":
		return "Conditions"
	}
	return key
}

// shown reports whether systemctl show prints the value of a setting. Lists have further
// elements.
func shown(s setting, now string) bool {
	switch s.key {
	case "After", "Wants", "Requires", "RuntimeDirectory":
		have := strings.Fields(now)
		return !slices.ContainsFunc(strings.Fields(s.value), func(name string) bool { return !slices.Contains(have, name) })
	case "Environment":
		return slices.Contains(strings.Fields(now), s.value)
	case "RestartSec", "StartLimitIntervalSec":
		n, err := strconv.Atoi(s.value)
		return err == nil && seconds(now) == n
	case "CPUAffinity":
		return cpuSet(now) == cpuSet(s.value)
	case "ConditionPathExists":
		return true // how it is shown differs between versions of systemd
	}
	return now == s.value
}

// seconds reads a span of time of systemctl show, as in "1min 30s", "500ms" or "0"; -1 for
// one that is no whole number of seconds.
func seconds(text string) int {
	units := map[string]int{"d": 86400, "h": 3600, "min": 60, "s": 1}
	all := 0
	for word := range strings.FieldsSeq(text) {
		digits := strings.TrimRight(word, "abcdefghijklmnopqrstuvwxyz")
		n, err := strconv.Atoi(digits)
		unit, known := units[word[len(digits):]]
		if err != nil || !known && word != "0" {
			return -1
		}
		all += n * unit
	}
	return all
}

// cpuSet lists the CPUs of a list with ranges, separated by commas or blanks.
func cpuSet(text string) string {
	var all []int
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		from, to, isRange := strings.Cut(part, "-")
		lo, err := strconv.Atoi(from)
		hi := lo
		if isRange && err == nil {
			hi, err = strconv.Atoi(to)
		}
		if err != nil || hi-lo > 10000 {
			return "?" + text
		}
		for n := lo; n <= hi; n++ {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return fmt.Sprint(slices.Compact(all))
}

// limitLines are the lines of /proc/PID/limits by the settings.
var limitLines = map[string]string{"LimitNOFILE": "Max open files", "LimitNPROC": "Max processes", "LimitMEMLOCK": "Max locked memory", "LimitCORE": "Max core file size"}

// limited reports whether a process has a hard limit, by its /proc/PID/limits. A program may
// lower its own limits, as Redis does with that of files: younger tells that it was started
// after the limit was set, and a lower one is its own then.
func limited(s setting, limits string, younger bool) bool {
	name, ok := limitLines[s.key]
	if !ok {
		return true
	}
	want := s.value
	if want == "infinity" {
		want = "unlimited"
	}
	for line := range strings.Lines(limits) {
		rest, ok := strings.CutPrefix(line, name)
		if values := strings.Fields(rest); ok && len(values) >= 2 {
			return values[1] == want || younger && number.MatchString(values[1]) && lower(values[1], want)
		}
	}
	return false
}

func lower(limit, than string) bool {
	a, err := strconv.ParseInt(limit, 10, 64)
	b, err2 := strconv.ParseInt(than, 10, 64)
	return err == nil && (than == "unlimited" || err2 == nil && a < b)
}
