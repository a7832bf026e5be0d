package target

import (
	"encoding/json"
	"fmt"
)

// Schema is the JSON Schema of the file, for editors.
func Schema() ([]byte, error) {
	top := all()
	doc := top.schema()
	doc["$schema"] = "http://json-schema.org/draft-07/schema#"
	doc["title"] = Name
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the schema of %s: %w", Name, err)
	}
	return append(b, '\n'), nil
}

// schema describes one key.
func (f *field) schema() map[string]any {
	out := map[string]any{}
	switch f.kind {
	case text:
		out["type"] = "string"
		if f.words != nil {
			out["enum"] = f.words
		}
	case number:
		out["type"] = "integer"
	case decimal:
		out["type"] = "number"
	case list:
		element := field{kind: f.of, words: f.words}
		out["type"], out["items"] = "array", element.schema()
	case mapping:
		out["type"], out["additionalProperties"] = "object", map[string]any{"type": "string"}
	case tables:
		element := field{kind: table, fields: f.fields}
		out["type"], out["items"] = "array", element.schema()
	case table:
		properties, need := map[string]any{}, []string{}
		for i := range f.fields {
			c := &f.fields[i]
			properties[c.key] = c.schema()
			if c.need {
				need = append(need, c.key)
			}
		}
		out["type"], out["properties"], out["additionalProperties"] = "object", properties, false
		if len(need) > 0 {
			out["required"] = need
		}
	}
	if f.help != "" {
		out["description"] = f.help
	}
	return out
}
