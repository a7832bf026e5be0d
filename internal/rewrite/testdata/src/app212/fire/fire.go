package fire

import (
	"encoding/json"
	"io"
	"net/http"
	"time"
)

func Unclosed(client *http.Client) (int, error) {
	res, err := client.Get("http://127.0.0.1/") // want `the body of an answer is not closed; close it`
	if err != nil {
		return 0, err
	}
	return res.StatusCode, nil
}

func UnclosedRead(client *http.Client, req *http.Request) ([]byte, error) {
	res, err := client.Do(req) // want `the body of an answer is not closed`
	if err != nil {
		return nil, err
	}
	return io.ReadAll(res.Body)
}

func UnclosedDecode(client *http.Client) (v map[string]int, err error) {
	res, err := client.Get("http://127.0.0.1/") // want `the body of an answer is not closed`
	if err != nil {
		return nil, err
	}
	err = json.NewDecoder(res.Body).Decode(&v)
	return v, err
}

func Unread(client *http.Client) (bool, error) {
	res, err := client.Post("http://127.0.0.1/", "text/plain", nil) // want `closed unread`
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusOK, nil
}

func UnreadAtOnce(client *http.Client) error {
	res, err := client.Get("http://127.0.0.1/") // want `closed unread`
	if err != nil {
		return err
	}
	res.Body.Close()
	return nil
}

func Blank(client *http.Client) {
	_, _ = client.Get("http://127.0.0.1/") // want `the body of an answer is not closed; name the answer`
}

func InLoop(client *http.Client, urls []string) (n int) {
	for _, u := range urls {
		res, err := client.Get(u) // want `the body of an answer is not closed`
		if err != nil {
			continue
		}
		n += res.StatusCode
	}
	return n
}

func Default(w http.ResponseWriter, r *http.Request) {
	res, err := http.Get("http://127.0.0.1/") // want `the default client keeps 2 idle connections`
	if err != nil {
		return
	}
	defer res.Body.Close()
	io.Copy(w, res.Body)
}

func DefaultPost(w http.ResponseWriter, r *http.Request) {
	res, err := http.Post("http://127.0.0.1/", "text/plain", r.Body) // want `the default client keeps 2 idle connections`
	if err != nil {
		return
	}
	defer res.Body.Close()
	io.Copy(w, res.Body)
}

func DefaultDo(w http.ResponseWriter, r *http.Request) {
	res, err := http.DefaultClient.Do(r) // want `the default client keeps 2 idle connections`
	if err != nil {
		return
	}
	defer res.Body.Close()
	io.Copy(w, res.Body)
}

func Transport() *http.Transport {
	return &http.Transport{IdleConnTimeout: time.Minute} // want `a transport keeps 2 idle connections`
}

func Transports() (*http.Client, *http.Transport) {
	return &http.Client{Transport: &http.Transport{ // want `a transport keeps 2 idle connections`
		MaxIdleConns: 10,
	}}, &http.Transport{} // want `a transport keeps 2 idle connections`
}

func Closing() *http.Transport {
	return &http.Transport{DisableKeepAlives: true} // want `closes every connection`
}
