package nginxconf

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// Largest buffers. Each request under way may have them: they are generous for
// an answer and small compared to the memory of a machine.
const (
	maxBody   size = 16 << 20
	maxAnswer size = 16 << 20
	maxHeader size = 128 << 10
)

// buffers makes nginx hold in memory what it would write to temporary files.
// Sizes only grow.
type buffers struct {
	Body   size   `arg:"body" help:"a size that holds the body of a request, 128k"`
	Answer size   `arg:"answer" help:"a size that holds an answer"`
	Header size   `arg:"header" help:"a size that holds the header of an answer"`
	Spill  string `arg:"spill" oneof:"off" help:"off: never write an answer to a temporary file"`
}

// Validate is called by change.Decode.
func (a *buffers) Validate() error {
	if *a == (buffers{}) {
		return errors.New("want a size for body, answer or header, or spill off")
	}
	return errors.Join(a.Body.atMost(maxBody, "body"), a.Answer.atMost(maxAnswer, "answer"), a.Header.atMost(maxHeader, "header"))
}

func (a *buffers) edit(t *task) error {
	http, err := t.HTTP()
	if err != nil {
		return err
	}
	var says []string
	if a.Body > 0 {
		t.atLeast(http, "client_body_buffer_size", a.Body, 16<<10)
		says = append(says, "requests of "+a.Body.String())
	}
	if a.Answer > 0 || a.Header > 0 {
		a.forAnswers(t, http)
		if a.Answer > 0 {
			says = append(says, "answers of "+a.Answer.String())
		} else {
			says = append(says, "headers of answers of "+a.Header.String())
		}
	}
	if a.Spill == "off" {
		if err := nginxedit.SetEverywhere(t.Conf, "proxy_max_temp_file_size", "http", []string{"0"}, nginxedit.EveryPlace); err != nil {
			return err
		}
		says = append(says, "answers of any size")
	}
	t.Says = "keep in memory: " + strings.Join(says, ", ")
	return nil
}

// atLeast raises a size wherever it is set, and adds it if it is not set in
// http and nginx's default is less.
func (t *task) atLeast(http *nginx.Directive, name string, n, builtIn size) {
	found := false
	t.Walk(t.Root(), nil, func(p nginx.Place) {
		if p.Name() != name {
			return
		}
		found = found || p.Within("http")
		if now, ok := nginx.Size(p.Arg(0)); ok && now < int64(n) {
			p.SetArgs(n.String())
		}
	})
	if !found && n > builtIn {
		http.Add(nginx.New(name, n.String()))
	}
}

// nginx's defaults for the buffers of an answer, on machines with pages of 4 KiB.
const (
	defaultHeader size = 4 << 10
	defaultPiece  size = 4 << 10
	defaultPieces size = 8
)

// forAnswers sets the buffers of an answer. nginx requires busy buffers that
// are at least as large as the header's buffer and as one of the others, and
// smaller than all of the others but one.
func (a *buffers) forAnswers(t *task, http *nginx.Directive) {
	around := []*nginx.Directive{http}
	header, piece := cmp.Or(a.Header, defaultHeader), defaultPiece
	if t.buffersHold(around, a.Answer, header) {
		return
	}
	if now, ok := nginx.Size(t.Value(around, "proxy_buffer_size")); ok {
		header = max(header, size(now))
	}
	for piece < 64<<10 && piece*8 < a.Answer { // larger pieces, so that there are fewer
		piece *= 2
	}
	count := max(8, (a.Answer+piece-1)/piece)
	if v := t.Get(http, "proxy_buffers"); len(v) > 0 {
		n, err := strconv.ParseInt(v[0].Arg(0), 10, 64)
		if of, ok := nginx.Size(v[0].Arg(1)); ok && err == nil && n*of >= int64(a.Answer) && n*of >= int64(count)*4096 {
			count, piece = size(n), size(of)
		}
	}
	busy := max(header, piece) * 2
	for count*piece-piece < busy {
		count++
	}
	t.EnsureValue(around, "proxy_buffers", strconv.FormatInt(int64(count), 10), piece.String())
	t.EnsureValue(around, "proxy_buffer_size", header.String())
	t.EnsureValue(around, "proxy_busy_buffers_size", busy.String())
}

// buffersHold reports whether the buffers in effect hold an answer and its
// header.
func (t *task) buffersHold(around []*nginx.Directive, answer, header size) bool {
	have, count, piece := int64(defaultHeader), int64(defaultPieces), int64(defaultPiece)
	if now, ok := nginx.Size(t.Value(around, "proxy_buffer_size")); ok {
		have = now
	}
	if v, _ := t.Effective(around, "proxy_buffers"); len(v) > 0 {
		count, _ = strconv.ParseInt(v[0].Arg(0), 10, 64)
		piece, _ = nginx.Size(v[0].Arg(1))
	}
	return have >= int64(header) && count*piece >= int64(answer)
}
