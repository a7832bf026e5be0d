package still

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
)

// Data that are looked at are needed whole.
func Checked(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil || len(data) > 1<<20 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	os.WriteFile("a", data, 0o600)
}

// Data that are decoded are not passed on.
func Decoded(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var v any
	json.Unmarshal(data, &v)
}

// A buffer holds them in any case.
func Buffered(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	b.Write(data)
	w.Write(b.Bytes())
}

// Something happens between the read and the write.
func Between(w http.ResponseWriter, r *http.Request) error {
	data, err := io.ReadAll(r.Body) // want `only to be written to another one`
	if err != nil {
		return err
	}
	os.Remove("old")
	return os.WriteFile("new", data, 0o600)
}

// The error is not checked.
func Unchecked(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body) // want `only to be written to another one`
	w.Header().Set("x", "y")
	os.WriteFile("file", data, 0o600)
}

// It is written in some cases only.
func Sometimes(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body) // want `only to be written to another one`
	if err != nil {
		return
	}
	if r.FormValue("keep") != "" {
		os.WriteFile("file", data, 0o600)
	}
}

// No request is answered.
func Start(name string) {
	data, err := os.ReadFile(name)
	if err != nil {
		return
	}
	os.WriteFile("copy", data, 0o600)
}

// The file that is read may be the one that is written.
func Itself(w http.ResponseWriter, r *http.Request) error {
	p := r.FormValue("name")
	f, err := os.Open(p)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(f) // want `only to be written to another one`
	if err != nil {
		return err
	}
	return os.WriteFile(p, data, 0o644)
}

// The reader may be the file as well.
func Reader(w http.ResponseWriter, r *http.Request, from io.Reader) error {
	data, err := io.ReadAll(from) // want `only to be written to another one`
	if err != nil {
		return err
	}
	return os.WriteFile(r.FormValue("name"), data, 0o644)
}

// The check of the read begins with another statement.
func Begun(w http.ResponseWriter, r *http.Request) error {
	data, err := io.ReadAll(r.Body) // want `only to be written to another one`
	if gone := os.Remove("old"); err != nil {
		return errors.Join(gone, err)
	}
	return os.WriteFile("new", data, 0o600)
}

var uploads int

func number() string {
	uploads++
	return "upload"
}

// The name of the file is taken from a counter after the read.
func Numbered(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body) // want `only to be written to another one`
	if err != nil {
		http.Error(w, "reading", http.StatusBadRequest)
		return
	}
	if err := os.WriteFile(number(), data, 0o600); err != nil {
		http.Error(w, "writing", http.StatusInternalServerError)
	}
}

// The loop goes on with the next part after an error.
func Parts(w http.ResponseWriter, r *http.Request) error {
	parts, err := r.MultipartReader()
	if err != nil {
		return err
	}
	for {
		part, err := parts.NextPart()
		if err != nil {
			return err
		}
		data, err := io.ReadAll(part) // want `only to be written to another one`
		if err != nil {
			continue
		}
		if err := os.WriteFile("part", data, 0o600); err != nil {
			return err
		}
	}
}

// The body is one of a type of the app: it may be the file.
type message struct{ Body *os.File }

func Message(w http.ResponseWriter, r *http.Request, m message) error {
	data, err := io.ReadAll(m.Body) // want `only to be written to another one`
	if err != nil {
		return err
	}
	return os.WriteFile("message", data, 0o600)
}
