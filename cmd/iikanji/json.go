package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// writeJSON prints one document as every --json does: indented, and with
// <, > and & as they are, because no browser reads it as HTML.
func writeJSON(w io.Writer, document any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(document); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}
