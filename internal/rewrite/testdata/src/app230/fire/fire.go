package fire

import (
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
)

// An upload is stored under its number.
func Store(w http.ResponseWriter, r *http.Request) {
	file, header, err := r.FormFile("file")
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	defer file.Close()
	if err := store(header, "files/"+r.FormValue("id")); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func store(header *multipart.FileHeader, name string) error {
	file, err := header.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := io.ReadAll(file) // want `a file is read whole, only to be written to another one`
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

// A body is stored as it comes.
func put(r *http.Request) (string, error) {
	err := r.ParseForm()
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(r.Body) // want `a file is read whole, only to be written to another one`
	if err != nil {
		return "", fmt.Errorf("reading: %w", err)
	}
	if err := os.WriteFile("body", data, 0o600); err != nil {
		return "", fmt.Errorf("writing: %w", err)
	}
	return "body", nil
}

func Put(w http.ResponseWriter, r *http.Request) {
	if _, err := put(r); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// The error of the write takes the variable of the read.
func Keep(w http.ResponseWriter, r *http.Request) error {
	data, readErr := io.ReadAll(r.Body) // want `a file is read whole, only to be written to another one`
	if readErr != nil {
		return readErr
	}
	err := os.WriteFile("kept", data, 0o600)
	return err
}

// A file is sent.
func Send(w http.ResponseWriter, r *http.Request) {
	data, err := os.ReadFile("files/" + r.FormValue("id")) // want `a file is read whole, only to be written on`
	if err != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Write(data)
}

// A file is copied by its name.
func Copy(w http.ResponseWriter, r *http.Request) {
	data, err := os.ReadFile("from") // want `a file is read whole, only to be written to another one`
	if err != nil {
		return
	}
	os.WriteFile("to", data, 0o600)
}
