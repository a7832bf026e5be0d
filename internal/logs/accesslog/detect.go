package accesslog

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	// headSize is how many bytes of a log are examined to find its format;
	// headLines limits the lines.
	headSize  = 256 << 10
	headLines = 1000
)

// formatNames are the format names that a user may give, with their format
// strings. Formats without a string are detected from the lines.
var formatNames = map[string]string{
	"common":      `%h %l %u %t "%r" %>s %b`,
	"combined":    `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`,
	"combined+s":  `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %{s}T`,
	"combined+us": `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %D`,
	"combined+ms": `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %{ms}T`,
	"tomcat":      `%h %l %u %t "%r" %s %b %{ms}T`,
	"vhost":       `%v %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i"`,
	"h2o":         `%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-agent}i"`,
	"varnishncsa": `%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-agent}i"`,
	"envoy":       envoyDefault,
	"istio":       istioDefault,
	"ltsv":        "",
	"json":        "",
	"logfmt":      "",
	"docker":      "",
	"alb":         "",
	"elb":         "",
	"haproxy":     "",
	"squid":       "",
	"gin":         "",
	"uvicorn":     "",
	"w3c":         "",
}

// requestedFormat returns the format that the user named or described.
func requestedFormat(format string, sample [][]byte, overrides []override) (format, error) {
	text, named := formatNames[format]
	switch {
	case named && text == "":
		f := namedFormat(format, sample, overrides)
		if f == nil {
			return nil, fmt.Errorf("the lines are not %s", strings.ToUpper(format))
		}
		return f, nil
	case !named:
		text = format
		if f := fromDescription(text); f != nil {
			return f, nil
		}
	}
	read, language := dialectOf(text)
	if read == nil {
		return nil, fmt.Errorf("%q is neither the name of a format nor a format string with $names or %%letters", format)
	}
	title := format
	if !named {
		title = "given (" + language + ")"
	}
	l, err := read(text, title)
	if err != nil {
		return nil, fmt.Errorf("reading the format %q: %w", text, err)
	}
	return l, nil
}

// namedFormat returns a format that has no format string, or nil if it does not
// fit the lines.
func namedFormat(name string, sample [][]byte, overrides []override) format {
	switch name {
	case "ltsv":
		if f := detectLTSV(sample, overrides); f != nil {
			return f
		}
	case "json":
		if f := detectJSON(sample, overrides); f != nil {
			return f
		}
	case "logfmt":
		if f := detectLogfmt(sample, overrides); f != nil {
			return f
		}
	case "docker": // the record is removed already
		if f := detect(sample, overrides); f != nil {
			return f
		}
	case "w3c":
		if f := detectW3C(sample); f != nil {
			return f
		}
	case "alb", "elb":
		return best(sample, func(try func(format)) {
			for _, l := range awsLayouts() {
				if l.title == name {
					try(l)
				}
			}
		})
	}
	for _, f := range lineReaders {
		if strings.EqualFold(f.title, name) {
			return f
		}
	}
	return nil
}

// best returns the format that reads most lines of the sample, the first one of
// equals; nil if none reads a line.
func best(sample [][]byte, each func(try func(format))) (best format) {
	most := 0
	each(func(f format) {
		if n := readable(f, sample); n > most {
			best, most = f, n
		}
	})
	return best
}

// fromDescription reads a log_format that writes LTSV or JSON. Its keys may be
// any words: the variables define what they mean.
func fromDescription(text string) format {
	var pairs [][2]string
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") {
		if pairs = jsonPairs([]byte(trimmed)); len(pairs) > 1 {
			return newJSON(sampleKeys([][][2]string{pairs}), labelled{title: "JSON", fields: described(pairs)})
		}
		return nil
	}
	text = strings.ReplaceAll(text, `\t`, "\t")
	if !strings.Contains(text, "\t") {
		return nil
	}
	if pairs = ltsvPairs([]byte(text)); len(pairs) > 1 {
		return newLTSV(sampleKeys([][][2]string{pairs}), labelled{title: "LTSV", fields: described(pairs)})
	}
	return nil
}

// configured returns the log_format of the configuration that reads most lines
// of the sample.
func configuredFormat(n *NginxLog, name string, sample [][]byte) (format, error) {
	var best format
	most := -1
	for _, c := range n.candidates(name) {
		f := fromDescription(c.Text)
		if f == nil {
			l, err := nginxLayout(c.Text, "log_format "+c.Name)
			if err != nil {
				continue // the format of a stream block, or one without a request
			}
			f = l
		}
		if k := readable(f, sample); k > most {
			best, most = f, k
		}
	}
	if best == nil {
		return nil, fmt.Errorf("the configuration has no log_format for %s", name)
	}
	return best, nil
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// detect returns the format that reads most lines of the sample, or nil if no
// format reads half of them.
func detect(sample [][]byte, overrides []override) format {
	f := best(sample, func(try func(format)) {
		for _, name := range []string{"json", "ltsv", "w3c"} {
			if f := namedFormat(name, sample, overrides); f != nil {
				try(f)
			}
		}
		if sample[0][0] == '[' {
			for _, name := range []string{"envoy", "istio"} {
				if l, err := envoyLayout(formatNames[name], name); err == nil {
					try(l)
				}
			}
		}
		if l := inferText(sample); l != nil {
			if l.title == "combined" && absolute(sample) {
				l.title = "combined (varnishncsa)"
			}
			try(l)
		}
		for _, l := range awsLayouts() {
			try(l)
		}
		for _, f := range lineReaders {
			try(f)
		}
		if f := detectLogfmt(sample, overrides); f != nil {
			try(f)
		}
	})
	if f != nil && readable(f, sample)*2 >= len(sample)-others(f, sample) {
		return f
	}
	if l := inferColumns(sample); l != nil && readable(l, sample)*10 >= 9*(len(sample)-others(l, sample)) {
		return l
	}
	return nil
}

// readable counts the lines of the sample that a format reads.
func readable(f format, sample [][]byte) (n int) {
	p := f.parser(optional)
	var rec record
	rec.clear()
	for _, line := range sample {
		if p.parse(line, &rec) == 0 {
			n++
		}
	}
	return n
}

// others counts the lines of the sample that are messages among requests.
func others(f format, sample [][]byte) (n int) {
	p := f.parser(fieldSet{})
	var rec record
	rec.clear()
	for _, line := range sample {
		if why := p.parse(line, &rec); why == otherLine || why > 0 && isMessage(line) {
			n++
		}
	}
	return n
}

// absolute reports whether most requests have whole URLs, as varnishncsa logs
// them.
func absolute(sample [][]byte) bool {
	n := 0
	for _, line := range sample {
		if bytes.Contains(line, []byte(` http://`)) || bytes.Contains(line, []byte(` https://`)) {
			n++
		}
	}
	return n*2 > len(sample)
}

// sampleOfLines splits the head of a log into lines, without an unfinished last
// line.
func sampleOfLines(head []byte) (sample [][]byte) {
	for len(head) > 0 && len(sample) < headLines {
		line := head
		if i := bytes.IndexByte(head, '\n'); i >= 0 {
			line, head = head[:i], head[i+1:]
		} else if len(sample) > 0 {
			break
		} else {
			head = nil
		}
		if line = bytes.TrimSuffix(line, []byte("\r")); len(line) > 0 {
			sample = append(sample, line)
		}
	}
	return sample
}
