package accesslog

import (
	"fmt"
	"path/filepath"
	"strings"
)

// An NginxLog is what an nginx configuration says of access logs.
type NginxLog struct {
	Formats []NamedFormat     // log_formats, in order
	Logs    map[string]string // path of an access_log → name of its format
}

// A NamedFormat is one log_format.
type NamedFormat struct{ Name, Text string }

// ReadNginxConf reads the log_format and access_log directives of a
// configuration, and follows its includes through read, which returns the
// texts of the files that a pattern names. The output of nginx -T will do as
// well.
func ReadNginxConf(path string, read func(pattern string) ([]string, error)) (*NginxLog, error) {
	texts, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration %s: %w", path, err)
	}
	n := &nginxReader{dir: filepath.Dir(path), read: read, log: &NginxLog{Logs: map[string]string{}}}
	for _, t := range texts {
		n.text(t, 0)
	}
	if len(n.log.Formats) == 0 && len(n.log.Logs) == 0 {
		return nil, fmt.Errorf("reading the configuration %s: it has neither a log_format nor an access_log", path)
	}
	n.log.Formats = append(n.log.Formats, NamedFormat{"combined", nginxCombined})
	return n.log, nil
}

// nginxCombined is built into nginx.
const nginxCombined = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`

type nginxReader struct {
	dir  string
	read func(pattern string) ([]string, error)
	log  *NginxLog
}

const maxInclude = 8

// text goes through the directives of a file, whatever block they are in.
func (n *nginxReader) text(s string, depth int) {
	for words := []string(nil); s != ""; {
		var w string
		var end byte
		w, s, end = nginxWord(s)
		if w != "" || end == 'q' {
			words = append(words, w)
		}
		if end == ';' || end == '{' || end == '}' {
			if end == ';' {
				n.directive(words, depth)
			}
			words = nil
		}
	}
}

func (n *nginxReader) directive(words []string, depth int) {
	if len(words) < 2 {
		return
	}
	switch words[0] {
	case "log_format":
		rest := words[2:]
		for len(rest) > 0 && strings.HasPrefix(rest[0], "escape=") {
			rest = rest[1:]
		}
		n.log.Formats = append(n.log.Formats, NamedFormat{words[1], strings.Join(rest, "")})
	case "access_log":
		name := "combined"
		if len(words) > 2 && !strings.Contains(words[2], "=") {
			name = words[2]
		}
		if words[1] != "off" {
			n.log.Logs[words[1]] = name
		}
	case "include":
		pattern := words[1]
		if !filepath.IsAbs(pattern) {
			pattern = filepath.Join(n.dir, pattern)
		}
		texts, err := n.read(pattern)
		if err != nil || depth >= maxInclude { // mime.types and modules need not be readable
			return
		}
		for _, t := range texts {
			n.text(t, depth+1)
		}
	}
}

// nginxWord reads one word and says what ended it: ';', '{', '}', 'q' for a
// quoted word, or ' '.
func nginxWord(s string) (word, rest string, end byte) {
	i := 0
	for i < len(s) {
		switch c := s[i]; c {
		case ' ', '\t', '\r', '\n':
			i++
		case '#':
			nl := strings.IndexByte(s[i:], '\n')
			if nl < 0 {
				return "", "", ' '
			}
			i += nl + 1
		case ';', '{', '}':
			return "", s[i+1:], c
		case '"', '\'':
			word, n := nginxQuoted(s[i+1:], c)
			return word, s[i+1+n:], 'q'
		default:
			start := i
			for i < len(s) && strings.IndexByte(" \t\r\n;{}", s[i]) < 0 {
				if s[i] == '$' && i+1 < len(s) && s[i+1] == '{' { // ${name}
					if brace := strings.IndexByte(s[i:], '}'); brace > 0 {
						i += brace
					}
				}
				i++
			}
			return s[start:i], s[i:], ' '
		}
	}
	return "", "", ' '
}

// nginxQuoted reads up to the closing quote and returns how much that was.
func nginxQuoted(s string, quote byte) (string, int) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			return b.String(), i + 1
		case c == '\\' && i+1 < len(s):
			i++
			switch s[i] {
			case 't':
				b.WriteByte('\t')
			case 'n':
				b.WriteByte('\n')
			case '"', '\'', '\\':
				b.WriteByte(s[i])
			default:
				b.WriteString(s[i-1 : i+1])
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), len(s)
}

// candidates are the formats that a log may have, the likeliest first: the one
// that access_log names for it, those of other logs, all others.
func (n *NginxLog) candidates(name string) (all []NamedFormat) {
	seen := map[string]bool{}
	add := func(format string) {
		for _, f := range n.Formats {
			if f.Name == format && !seen[format] {
				seen[format] = true
				all = append(all, f)
			}
		}
	}
	base := filepath.Base(name)
	for _, match := range []func(path string) bool{
		func(path string) bool { return path == name },
		func(path string) bool { return strings.HasPrefix(base, filepath.Base(path)) }, // rotated: access.log.1.gz
		func(string) bool { return true },
	} {
		for _, path := range sortedKeys(n.Logs) {
			if match(path) {
				add(n.Logs[path])
			}
		}
	}
	for _, f := range n.Formats {
		add(f.Name)
	}
	return all
}
