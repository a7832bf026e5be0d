package accesslog

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/unwrap"
)

// formatOf finds what carries the log of an input, lets the input remove it, and returns
// the format of the lines; nil if the log has no lines.
func (r *reading) formatOf(in *lines.Input, overrides []override) (format, error) {
	head, err := in.Beginning(headSize)
	if err != nil {
		return nil, err
	}
	c := unwrap.Find(head)
	text := c.Apply(head)
	if len(text) == 0 && len(head) == headSize && in.Size() < 0 { // a stream cannot be read ahead of its hole
		return nil, &UnknownFormatError{Name: in.Name, Content: ContentHole}
	}
	f, err := r.formatIn(in, text, overrides)
	if f == nil && err == nil {
		return nil, nil
	}
	if n := share(f, text); errors.As(err, new(*UnknownFormatError)) || err == nil && n < 0.5 {
		for _, possible := range append(c.Possible(head), unwrap.Chain{}) {
			text := possible.Apply(head)
			g, err2 := r.formatIn(in, text, overrides)
			if m := share(g, text); err2 == nil && g != nil && m > n {
				c, f, err, n = possible, g, nil, m
			}
		}
	}
	if err != nil {
		return nil, err
	}
	c, f = r.withTimes(in, c, f, head, overrides)
	return f, in.Unwrap(c)
}

// withTimes gives lines without a time that of their wrapper, if it has one.
func (r *reading) withTimes(in *lines.Input, c unwrap.Chain, f format, head []byte, overrides []override) (unwrap.Chain, format) {
	plain := sampleOfLines(c.Apply(head))
	if !c.HasTimes() || stamped(f, plain) > 0 {
		return c, f
	}
	timed := c.WithTimes()
	text := timed.Apply(head)
	sample := sampleOfLines(text)
	if stamped(f, sample) >= readable(f, plain) {
		return timed, f
	}
	if g, err := r.formatIn(in, text, overrides); err == nil && g != nil && stamped(g, sample) >= readable(f, plain) {
		return timed, g
	}
	return c, f
}

// stamped counts the lines of the sample of which a format reads the time.
func stamped(f format, sample [][]byte) (n int) {
	p := f.parser(optional)
	var rec record
	rec.clear()
	for _, line := range sample {
		if p.parse(line, &rec) == 0 && rec.at != noTime {
			n++
		}
	}
	return n
}

// share is the share of the lines of a text that a format reads, without messages of
// programs.
func share(f format, text []byte) float64 {
	if f == nil {
		return 0
	}
	sample := sampleOfLines(text)
	n := len(sample) - others(f, sample)
	if n <= 0 {
		return 0
	}
	return float64(readable(f, sample)) / float64(n)
}

// formatIn returns the format of a log with the first bytes head, which nothing carries;
// nil if it has no lines.
func (r *reading) formatIn(in *lines.Input, head []byte, overrides []override) (format, error) {
	sample := sampleOfLines(head)
	if c := contentOf(head); c != ContentText {
		return nil, &UnknownFormatError{Name: in.Name, Content: c}
	}
	unfinished := r.opt.Whole && len(head) < headSize && bytes.IndexByte(head, '\n') < 0
	if len(sample) == 0 || unfinished {
		return nil, nil
	}
	var f format
	var err error
	if r.opt.Format != "" {
		if f, err = requestedFormat(r.opt.Format, sample, overrides); err != nil {
			return nil, err
		}
	} else if r.opt.Nginx != nil {
		if f, err = configuredFormat(r.opt.Nginx, in.Name, sample); err != nil {
			return nil, err
		}
	} else if f = detect(sample, overrides); f == nil {
		if err := in.Cut(); err != nil {
			return nil, err // the readable part is too short to detect a format
		}
		kind, keys := keysOf(sample)
		return nil, &UnknownFormatError{Name: in.Name, Kind: kind, Keys: keys, First: quote(sample[0]), proposed: propose(sample)}
	}
	if l, ok := f.(interface{ keysWithoutPath() []string }); ok {
		if keys := l.keysWithoutPath(); keys != nil {
			return nil, &UnknownFormatError{Name: in.Name, Kind: f.name(), Keys: keys, First: quote(sample[0])}
		}
	}
	return f, nil
}

// formatName is the name of the format of an input with what carries its lines.
func (r *reading) formatName(i int) string {
	if w := r.inputs[i].Wrapper(); w != "" {
		return fmt.Sprintf("%s in %s", r.formats[i].name(), w)
	}
	return r.formats[i].name()
}
