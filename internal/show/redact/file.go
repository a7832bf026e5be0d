package redact

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"unicode/utf8"
)

// File returns the content of a file of a history without secrets and without the
// literals of statements: the same bytes if there are none. name has the file's form
// by its ending: one JSON document, or one a line (.jsonl). A file that is not text
// (it has a zero byte) is returned as it is.
func File(name string, content []byte) []byte {
	if !utf8.Valid(content) {
		return notUTF8(content)
	}
	switch filepath.Ext(name) {
	case ".json":
		if json.Valid(content) {
			return document(content)
		}
	case ".jsonl":
		var b bytes.Buffer
		for line := range bytes.Lines(content) {
			body := bytes.TrimSuffix(line, []byte("\n"))
			if json.Valid(body) {
				b.Write(bytes.TrimSuffix(document(body), []byte("\n")))
			} else {
				b.WriteString(anyText(string(body)))
			}
			b.Write(line[len(body):])
		}
		return b.Bytes()
	}
	return []byte(anyText(string(content)))
}

// notUTF8 redacts a text in another encoding, such as a configuration with comments.
func notUTF8(content []byte) []byte {
	if bytes.IndexByte(content, 0) >= 0 {
		return content
	}
	text := strings.ToValidUTF8(string(content), "\uFFFD")
	if without := anyText(text); without != text {
		return []byte(without)
	}
	return content
}

// document redacts every string of a JSON document, whatever its length. The text of a
// document without secrets stays as it is.
func document(text []byte) []byte {
	before, after := decoded(text), decoded(text)
	if after = leaves("", after); reflect.DeepEqual(before, after) {
		return text
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if bytes.Contains(text, []byte("\n ")) { // indented, for comparisons by line
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(after); err != nil {
		panic("BUG: " + err.Error()) // it was decoded from JSON
	}
	return b.Bytes()
}

// decoded is a JSON document that is valid.
func decoded(text []byte) (tree any) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		panic("BUG: " + err.Error())
	}
	return tree
}

// leaves returns a value without secrets. name is its key; "" for an element of a list.
func leaves(name string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[Text(k)] = leaves(k, e)
		}
		return out
	case []any:
		for i := range v {
			v[i] = leaves(name, v[i])
		}
	case string:
		if secretPair(name, v) {
			return Removed
		}
		return lineByLine(v)
	}
	return v
}

// lineByLine redacts a text that may be a whole configuration: a statement in one line
// has nothing about the others.
func lineByLine(text string) string {
	if isJSON(text) || isDiff(text) || !strings.Contains(text, "\n") {
		return anyText(text)
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimSuffix(line, "\n")
		b.WriteString(Prose(body) + line[len(body):])
	}
	return b.String()
}
