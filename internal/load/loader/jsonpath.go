package loader

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// maxDocuments limits how many places of an output are tried as the begin of a
// JSON document.
const maxDocuments = 1000

// documents are the JSON objects and lists of a text that begin a line, the last
// one first. Log lines may stand around them.
func documents(text []byte) []any {
	var out []any
	tried := 0
	for end := len(text); end > 0 && tried < maxDocuments; {
		begin := bytes.LastIndexByte(text[:end], '\n') + 1
		line := bytes.TrimLeft(text[begin:], " \t")
		if len(line) > 0 && (line[0] == '{' || line[0] == '[') {
			tried++
			out = appendDocument(out, line)
		}
		end = max(begin-1, 0)
	}
	return out
}

// inline are the JSON objects that end a log line, the last one first.
func inline(text []byte) []any {
	var out []any
	tried := 0
	for end := len(text); end > 0 && tried < maxDocuments; {
		begin := bytes.LastIndexByte(text[:end], '\n') + 1
		if at := bytes.IndexByte(text[begin:end], '{'); at > 0 {
			tried++
			out = appendDocument(out, text[begin+at:])
		}
		end = max(begin-1, 0)
	}
	return out
}

// appendDocument appends the JSON value at the start of a text, if there is one.
func appendDocument(out []any, text []byte) []any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return out
	}
	return append(out, v)
}

// values follow a path in a document. [*] and * lead to each element of a list or
// an object.
func values(doc any, path []string) []any {
	if len(path) == 0 {
		return []any{doc}
	}
	var out []any
	switch d := doc.(type) {
	case map[string]any:
		if v, ok := d[path[0]]; ok {
			return values(v, path[1:])
		}
		if path[0] == "*" {
			for _, v := range d {
				out = append(out, values(v, path[1:])...)
			}
		}
	case []any:
		if path[0] == "*" {
			for _, v := range d {
				out = append(out, values(v, path[1:])...)
			}
			return out
		}
		if i, err := strconv.Atoi(path[0]); err == nil && i < len(d) {
			return values(d[i], path[1:])
		}
	}
	return out
}

// numberOf reads a number, also one in a string.
func numberOf(v any) (float64, bool) {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case string:
		return parseNumber(v)
	}
	return 0, false
}

// textOf is a value as one line.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return ""
	case map[string]any:
		for _, key := range []string{"message", "error", "msg", "text"} {
			if s, ok := v[key].(string); ok {
				return s
			}
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
