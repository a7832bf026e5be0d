package isucondition

import (
	"crypto/md5"
	"net/http"
	"slices"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

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

// checkEmptyOK checks an answer that consists of status 200 only.
func checkEmptyOK(res *scenario.Response) error { return scenario.WantStatus(res, http.StatusOK) }

// checkMe checks GET /api/user/me.
func checkMe(res *scenario.Response, user string) error {
	r, err := verify.OpenJSON(res, http.StatusOK)
	if err != nil {
		return err
	}
	var id string
	r.Object(func(name []byte) {
		if string(name) == "jia_user_id" {
			id = string(r.Str())
		} else {
			r.Skip()
		}
	})
	if err := verify.EndJSON(res, &r); err != nil {
		return err
	}
	if id != user {
		return scenario.Wrong(res, "me-user", "jia_user_id %q, want %q", id, user)
	}
	return nil
}

// checkIcon checks the icon of a chair. sure means that this client has already
// found the bytes in its cache to be right.
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

// checkPage checks the landing page: an HTML text that refers to exactly the
// assets of the page. The rest of its bytes is not checked.
func checkPage(res *scenario.Response, assets []Asset) error {
	var want []string
	for _, a := range assets {
		if !a.Scripted && a.Path != "/" {
			want = append(want, a.Path)
		}
	}
	slices.Sort(want)
	return verify.Page(res, want)
}
