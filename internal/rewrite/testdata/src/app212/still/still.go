package still

import (
	"encoding/json"
	"io"
	"net/http"
)

func Read(client *http.Client) ([]byte, error) {
	res, err := client.Get("http://127.0.0.1/")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}

func Decoded(client *http.Client) (v map[string]int, err error) {
	res, err := client.Get("http://127.0.0.1/")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	err = json.NewDecoder(res.Body).Decode(&v)
	return v, err
}

// The caller closes it.
func Returned(client *http.Client) (*http.Response, error) {
	return client.Get("http://127.0.0.1/")
}

func ReturnedLater(client *http.Client) (*http.Response, error) {
	res, err := client.Get("http://127.0.0.1/")
	if err != nil {
		return nil, err
	}
	return res, nil
}

func consume(body io.ReadCloser) error { return body.Close() }

// Another function closes it.
func Passed(client *http.Client) error {
	res, err := client.Get("http://127.0.0.1/")
	if err != nil {
		return err
	}
	return consume(res.Body)
}

// An answer to HEAD has no body.
func Head(client *http.Client) (int, error) {
	res, err := client.Head("http://127.0.0.1/")
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	return res.StatusCode, nil
}

func Sized() *http.Transport { return &http.Transport{MaxIdleConnsPerHost: 50} }

func Bounded() *http.Transport { return &http.Transport{MaxConnsPerHost: 50} }

// A start that no request reaches may use the default client.
func Start() error {
	res, err := http.Get("http://127.0.0.1/")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

type client struct{}

func (client) Get(url string) (*http.Response, error) { return nil, nil }

func Other(c client) int {
	res, err := c.Get("x")
	if err != nil {
		return 0
	}
	return res.StatusCode
}

func Written(c *http.Client, w io.Writer) error {
	res, err := c.Get("http://127.0.0.1/")
	if err != nil {
		return err
	}
	return res.Write(w)
}

func Keep(c *http.Client) (body io.ReadCloser, err error) {
	res, err := c.Get("http://127.0.0.1/")
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}
