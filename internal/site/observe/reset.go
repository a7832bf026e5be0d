package observe

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	// mostBefore bounds the part of an access log that is searched for resets.
	mostBefore = 1 << 20
	// lateReset is how far behind the begin of the load the line of a reset may be: the
	// load begins when the client has the answer, and the line is written after that.
	lateReset = 4 << 10
)

// resets are the facts of the requests that made the data anew between the begin of the
// observation and that of the load.
func (w *webWatch) resets() []iikanji.Fact {
	if w.log == nil || w.before > w.from {
		return nil
	}
	from := max(w.before, w.from-mostBefore)
	if w.log.SeekTo(from) != nil {
		return nil
	}
	head, err := w.log.Head(int(w.from - from + lateReset))
	if again := w.log.SeekTo(w.from); err != nil || again != nil {
		return nil
	}
	var found []byte
	for line := range lines.Split(head[:bytes.LastIndexByte(head, '\n')+1]) {
		if scenario.Resets(line) {
			found = append(append(found, line...), '\n')
		}
	}
	where, err := accesslog.ParseWhere("status=200", time.UTC)
	if err != nil || len(found) == 0 {
		return nil
	}
	read, err := accesslog.ReadAll(context.Background(), []*lines.Input{lines.Bytes(w.path, found)}, []accesslog.Options{{Whole: true, By: accesslog.ByURL, Where: where}})
	if err != nil || read[0].Err != nil {
		return nil
	}
	var out []iikanji.Fact
	for _, r := range read[0].Profile.Rows {
		key, _, _ := strings.Cut(r.Key, "?")
		if scenario.Resets([]byte(key)) { // not only its referer
			out = append(out, fact.TopicReset.Fact(w.service.Name, key, r.Count, true))
		}
	}
	return out
}
