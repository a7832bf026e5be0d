package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// A client calls a portal.
type client struct {
	url   string
	token string
	http  *http.Client
}

func newClient(url, token string) *client {
	return &client{url: strings.TrimSuffix(url, "/"), token: token,
		// A redirect would carry the token elsewhere.
		http: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// maxAnswer bounds an answer.
const maxAnswer = 4 << 20

// A StatusError is an answer that is no success.
type StatusError struct {
	Status int
	Text   string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("the portal answered %d: %s", e.Status, e.Text)
}

// call posts a request and reads its answer into out. found is false for 204, no content.
func (c *client) call(ctx context.Context, name string, limit time.Duration, in, out any) (found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	body, err := json.Marshal(in)
	if err != nil {
		return false, fmt.Errorf("calling %s: %w", name, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/worker/v1/"+name, bytes.NewReader(body))
	if err != nil {
		return false, fmt.Errorf("calling %s: %w", name, err)
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := c.http.Do(r)
	if err != nil {
		return false, fmt.Errorf("calling %s: %w", name, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch {
	case err != nil:
		return false, fmt.Errorf("calling %s: %w", name, err)
	case answer.StatusCode == http.StatusNoContent:
		return false, nil
	case answer.StatusCode != http.StatusOK:
		return false, fmt.Errorf("calling %s: %w", name, &StatusError{answer.StatusCode, strings.TrimSpace(string(text[:min(len(text), 300)]))})
	}
	if err := json.Unmarshal(text, out); err != nil {
		return false, fmt.Errorf("reading the answer of %s: %w", name, err)
	}
	return true, nil
}
