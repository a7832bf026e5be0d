package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// writeJSON prints the document of --json: indented, and with <, > and & unescaped,
// because no browser reads it as HTML.
func writeJSON(w io.Writer, document any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(document); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}
