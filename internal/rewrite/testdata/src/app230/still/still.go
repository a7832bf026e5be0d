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

// The error of the read is asked for again.
func Again(w http.ResponseWriter, r *http.Request) error {
	data, err := io.ReadAll(r.Body) // want `only to be written to another one`
	if err != nil {
		return err
	}
	err = os.WriteFile("new", data, 0o600)
	return err
}

// A part of an answer is read.
func Limited(w http.ResponseWriter, r *http.Request) error {
	data, err := io.ReadAll(io.LimitReader(r.Body, 100)) // want `only to be written to another one`
	if err != nil {
		return err
	}
	return os.WriteFile("part", data, 0o600)
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

// An error of the read is answered in another way than one of the write.
func Answered(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body) // want `only to be written to another one`
	if err != nil {
		http.Error(w, "too large", http.StatusBadRequest)
		return
	}
	if err := os.WriteFile("body", data, 0o600); err != nil {
		http.Error(w, "writing", http.StatusInternalServerError)
	}
}

// Nothing else uses the variable of the error.
func Declared(w http.ResponseWriter, r *http.Request) error {
	var err error
	data, err := io.ReadAll(r.Body) // want `only to be written to another one`
	if err != nil {
		return err
	}
	return os.WriteFile("body", data, 0o600)
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

type failure struct {
	status int
	text   string
}

func (f *failure) Error() string { return f.text }

func answer(w http.ResponseWriter, status int, text string) error {
	http.Error(w, text, status)
	return nil
}

// An error of the read has a status of its own.
func Status(w http.ResponseWriter, r *http.Request) error {
	data, err := io.ReadAll(r.Body) // want `only to be written to another one`
	if err != nil {
		return answer(w, http.StatusBadRequest, err.Error())
	}
	return os.WriteFile("body", data, 0o600)
}

// An error of the read is one of another type.
func Typed(w http.ResponseWriter, r *http.Request) error {
	data, err := io.ReadAll(r.Body) // want `only to be written to another one`
	if err != nil {
		return &failure{413, err.Error()}
	}
	return os.WriteFile("body", data, 0o600)
}

// An error of the write has a status of its own.
func Written(w http.ResponseWriter, r *http.Request) error {
	data, err := io.ReadAll(r.Body) // want `only to be written to another one`
	if err != nil {
		return err
	}
	if err := os.WriteFile("body", data, 0o600); err != nil {
		return answer(w, http.StatusInternalServerError, err.Error())
	}
	return nil
}

// The errors come with different results.
func both(r *http.Request) (int, error) {
	data, err := io.ReadAll(r.Body) // want `only to be written to another one`
	if err != nil {
		return http.StatusBadRequest, err
	}
	if err := os.WriteFile("body", data, 0o600); err != nil {
		return http.StatusInternalServerError, err
	}
	return http.StatusOK, nil
}

func Both(w http.ResponseWriter, r *http.Request) {
	status, _ := both(r)
	w.WriteHeader(status)
}

// An error of the write is left out.
func LeftOut(w http.ResponseWriter, r *http.Request) error {
	data, err := io.ReadAll(r.Body) // want `only to be written to another one`
	if err != nil {
		return err
	}
	os.WriteFile("body", data, 0o600)
	return nil
}

// The check of the read begins with another statement.
func Begun(w http.ResponseWriter, r *http.Request) error {
	data, err := io.ReadAll(r.Body) // want `only to be written to another one`
	if gone := os.Remove("old"); err != nil {
		return errors.Join(gone, err)
	}
	return os.WriteFile("new", data, 0o600)
}
