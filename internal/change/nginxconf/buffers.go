package nginxconf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Bounds of buffers. Each request under way may have them, so that these are
// generous for an answer and small beside a machine's memory.
const (
	maxBody   = 16 << 20
	maxAnswer = 16 << 20
	maxHeader = 128 << 10
)

// editBuffers makes buffers hold what nginx would write to temporary files.
// Sizes only grow: who wrote a larger one had a reason.
func editBuffers(t *task) error {
	http, err := t.http()
	if err != nil {
		return err
	}
	spill, err := t.word("spill", "", "off")
	if err != nil {
		return err
	}
	var says []string
	if t.args["body"] != "" {
		n, err := t.size("body", maxBody)
		if err != nil {
			return err
		}
		t.atLeast(http, "client_body_buffer_size", n, 16<<10)
		says = append(says, "requests of "+sizeOf(n))
	}
	if t.args["answer"] != "" || t.args["header"] != "" {
		said, err := t.answerBuffers(http)
		if err != nil {
			return err
		}
		says = append(says, said)
	}
	if spill == "off" {
		if err := setDirective(t.conf, "proxy_max_temp_file_size", "http", []string{"0"}, everywhere); err != nil {
			return err
		}
		says = append(says, "answers of any size")
	}
	if len(says) == 0 {
		return fmt.Errorf("want a size for body, answer or header, or spill off")
	}
	t.says = "keep in memory: " + strings.Join(says, ", ")
	return nil
}

// atLeast raises a size wherever it stands, and adds it where nothing says it
// and nginx's own is less.
func (t *task) atLeast(http *directive, name string, n, builtIn int64) {
	found := false
	t.walk(t.root(), nil, func(p place) {
		if p.name() != name {
			return
		}
		found = found || p.within("http")
		if now, ok := bytesOf(p.arg(0)); ok && now < n {
			p.setArgs(sizeOf(n))
		}
	})
	if !found && n > builtIn {
		http.add(newDirective(name, sizeOf(n)))
	}
}

// answerBuffers sets the buffers of an answer. nginx wants: the busy ones at
// least as large as the header's and one of the others, and smaller than all
// of the others but one.
func (t *task) answerBuffers(http *directive) (string, error) {
	header, piece := int64(4<<10), int64(4<<10)
	var answer int64
	if t.args["header"] != "" {
		n, err := t.size("header", maxHeader)
		if err != nil {
			return "", err
		}
		header = n
	}
	if t.args["answer"] != "" {
		n, err := t.size("answer", maxAnswer)
		if err != nil {
			return "", err
		}
		answer = n
	}
	if now, ok := bytesOf(t.value([]*directive{http}, "proxy_buffer_size")); ok {
		header = max(header, now)
	}
	for piece < 64<<10 && piece*8 < answer { // not more buffers than it takes
		piece *= 2
	}
	count := max(8, (answer+piece-1)/piece)
	if v := t.get(http, "proxy_buffers"); len(v) > 0 {
		n, err := strconv.ParseInt(v[0].arg(0), 10, 64)
		if size, ok := bytesOf(v[0].arg(1)); ok && err == nil && n*size >= answer && n*size >= count*4096 {
			count, piece = n, size
		}
	}
	busy := max(header, piece) * 2
	for count*piece-piece < busy {
		count++
	}
	around := []*directive{http}
	wanted := [][]string{{"proxy_buffers", strconv.FormatInt(count, 10), sizeOf(piece)}, {"proxy_buffer_size", sizeOf(header)}, {"proxy_busy_buffers_size", sizeOf(busy)}}
	if t.enough(around, answer, header) {
		wanted = nil
	}
	for _, w := range wanted {
		t.holdsValue(around, w[0], w[1:]...)
	}
	if answer > 0 {
		return "answers of " + sizeOf(answer), nil
	}
	return "headers of answers of " + sizeOf(header), nil
}

// enough says whether the buffers in effect hold an answer and its header.
func (t *task) enough(around []*directive, answer, header int64) bool {
	have, count, size := int64(4<<10), int64(8), int64(4<<10)
	if now, ok := bytesOf(t.value(around, "proxy_buffer_size")); ok {
		have = now
	}
	if v, _ := t.effective(around, "proxy_buffers"); len(v) > 0 {
		count, _ = strconv.ParseInt(v[0].arg(0), 10, 64)
		size, _ = bytesOf(v[0].arg(1))
	}
	return have >= header && count*size >= answer
}

// holdsValue is holds, but leaves what means the same.
func (t *task) holdsValue(around []*directive, name string, args ...string) {
	if found, _ := t.effective(around, name); len(found) > 0 && slices.EqualFunc(found[0].args(), args, sameValue) {
		return
	}
	t.holds(around, name, args...)
}
