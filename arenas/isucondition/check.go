package isucondition

import (
	"crypto/md5"
	"net/http"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/scenario"
)

// wantReader checks status and type of a JSON answer and opens its body.
func wantReader(res *scenario.Response, status int) (jsonReader, error) {
	if err := scenario.WantStatus(res, status); err != nil {
		return jsonReader{}, err
	}
	if err := scenario.WantType(res, "application/json"); err != nil {
		return jsonReader{}, err
	}
	return jsonReader{b: res.Body}, nil
}

// wantEnd closes the body; what could not be read is a fault.
func wantEnd(res *scenario.Response, r *jsonReader) error {
	err := r.end()
	if err == nil {
		return nil
	}
	f := scenario.Wrong(res, "", "JSON: %v", err)
	f.Kind, f.Cause = iikanji.FaultBody, err
	return f
}

// wantError checks an error answer: status, type and exact text. check names
// the rule that the target broke if it answered otherwise.
func wantError(res *scenario.Response, check string, status int, text string) error {
	err := scenario.WantText(res, status, text)
	if f, ok := err.(*scenario.Fault); ok {
		f.Check = check
	}
	return err
}

// The error texts of the API.
const (
	textSignedOut   = "you are not signed in"
	textForbidden   = "forbidden"
	textBadClaims   = "invalid JWT payload"
	textBadIcon     = "bad format: icon"
	textDuplicate   = "duplicated: isu"
	textJIA         = "JIAService returned error"
	textNoISU       = "not found: isu"
	textNoDatetime  = "missing: datetime"
	textBadDatetime = "bad format: datetime"
	textBadEnd      = "bad format: end_time"
	textNoLevel     = "missing: condition_level"
	textBadStart    = "bad format: start_time"
	textBadRequest  = "bad request body"
)

// checkEmptyOK checks an answer that says nothing but 200.
func checkEmptyOK(res *scenario.Response) error { return scenario.WantStatus(res, http.StatusOK) }

// checkMe checks GET /api/user/me.
func checkMe(res *scenario.Response, user string) error {
	r, err := wantReader(res, http.StatusOK)
	if err != nil {
		return err
	}
	var id string
	r.object(func(name []byte) {
		if string(name) == "jia_user_id" {
			id = string(r.str())
		} else {
			r.skip()
		}
	})
	if err := wantEnd(res, &r); err != nil {
		return err
	}
	if id != user {
		return scenario.Wrong(res, "me-user", "jia_user_id %q, want %q", id, user)
	}
	return nil
}

// checkIcon checks the icon of a chair. sure says that this client has found
// the bytes of its cache to be right before.
func checkIcon(res *scenario.Response, c *chair, sure bool) error {
	if err := scenario.WantStatus(res, http.StatusOK); err != nil {
		return err
	}
	if sure && (res.Cached || res.NotModified) {
		return nil
	}
	if md5.Sum(res.Body) != c.icon.MD5 {
		return scenario.Wrong(res, "icon-md5", "%d bytes with another MD5 than the icon that was registered", len(res.Body))
	}
	return nil
}
