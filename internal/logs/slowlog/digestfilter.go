package slowlog

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
)

// fieldsOfDigests are the fields of filters that digests have. The others are those of one
// execution, of which digests keep sums only.
var fieldsOfDigests = []string{"db", "user", "statement", "digest"}

// checkDigestFilter reports a filter that cannot be applied to digests.
func (opt *Options) checkDigestFilter() error {
	hints := []string{"digests can be filtered by " + strings.Join(fieldsOfDigests, ", ")}
	if !opt.Since.IsZero() || !opt.Until.IsZero() {
		return &Error{"digests are sums since the server started: a time range cannot be cut out of them", hints}
	}
	for i := range opt.Where {
		c := &opt.Where[i]
		for _, f := range c.Fields {
			known := false
			for _, k := range fieldsOfDigests {
				known = known || k == f
			}
			if !known {
				return &Error{fmt.Sprintf("the condition %s is on single executions, and digests are sums", c.Source), hints}
			}
		}
	}
	return nil
}

// wants reports whether a digest meets a filter.
func (w Where) wants(r *iikanji.Row, text string, digest uint64) bool {
	if len(w) == 0 {
		return true
	}
	ev := event{digest: digest}
	e := Entry{collector: &collector{batch: &batch{}}, ev: &ev, db: []byte(r.Query.DB)}
	ev.sql = e.collector.batch.addText([]byte(text))
	if len(r.Query.Users) > 0 {
		e.user = []byte(r.Query.Users[0].Name)
	}
	return w.holds(&e)
}
