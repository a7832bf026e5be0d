package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
)

// WantStatus checks the status of an answer.
func WantStatus(res *Response, status int) error {
	if res.Status == status {
		return nil
	}
	return fault(res, iikanji.FaultStatus, fmt.Sprintf("status %d, want %d", res.Status, status))
}

// WantType checks that the media type of an answer begins with prefix, as in
// "application/json".
func WantType(res *Response, prefix string) error {
	got := res.Get("content-type")
	if len(got) >= len(prefix) && strings.EqualFold(got[:len(prefix)], prefix) {
		return nil
	}
	return fault(res, iikanji.FaultContentType, fmt.Sprintf("content type %q, want %s", got, prefix))
}

// WantText checks status, type text/plain and the exact body of an answer.
func WantText(res *Response, status int, text string) error {
	if err := WantStatus(res, status); err != nil {
		return err
	}
	if err := WantType(res, "text/plain"); err != nil {
		return err
	}
	if !bytes.Equal(bytes.TrimRight(res.Body, "\n"), []byte(text)) {
		return fault(res, iikanji.FaultCheck, fmt.Sprintf("body %.80q, want %q", res.Body, text))
	}
	return nil
}

// WantJSON checks status and type application/json, and decodes the body into v.
func WantJSON(res *Response, status int, v any) error {
	if err := WantStatus(res, status); err != nil {
		return err
	}
	if err := WantType(res, "application/json"); err != nil {
		return err
	}
	if err := json.Unmarshal(res.Body, v); err != nil {
		f := fault(res, iikanji.FaultBody, "JSON: "+err.Error())
		f.Cause = err
		return f
	}
	return nil
}

func fault(res *Response, kind iikanji.FaultKind, message string) *Fault {
	return &Fault{Kind: kind, Step: res.Step, Message: message, Example: ExampleOf(res)}
}
