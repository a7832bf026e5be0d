package fire

import (
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
)

// The errors of the two sides have answers of their own: the check of the read and the statement
// that writes stay as they are.

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

// A file of a form: each error has its log and its status.
func Form(w http.ResponseWriter, r *http.Request) {
	file, header, err := r.FormFile("picture")
	if err != nil {
		http.Error(w, "no picture", http.StatusBadRequest)
		return
	}
	defer file.Close()
	content, err := io.ReadAll(file) // want `only to be written to another one`
	if err != nil {
		log.Printf("reading: %v", err)
		http.Error(w, "cannot read", http.StatusBadRequest)
		return
	}
	if err := os.WriteFile(filepath.Join("pictures", filepath.Base(header.Filename)), content, 0o644); err != nil {
		log.Printf("writing: %v", err)
		http.Error(w, "cannot write", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusCreated)
}

// The parts of a form as they come.
func Stream(w http.ResponseWriter, r *http.Request) {
	parts, err := r.MultipartReader()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			break
		} else if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		data, err := io.ReadAll(http.MaxBytesReader(w, part, 1<<20)) // want `only to be written to another one`
		if err != nil {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		if err = os.WriteFile("part", data, 0o600); err != nil {
			http.Error(w, "disk", http.StatusInsufficientStorage)
			return
		}
	}
}
