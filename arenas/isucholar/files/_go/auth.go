package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"
	"golang.org/x/crypto/bcrypt"
)

const (
	userTypeStudent = "student"
	userTypeTeacher = "teacher"
)

// userRow is a row of users.
type userRow struct {
	ID             string `db:"id"`
	Code           string `db:"code"`
	Name           string `db:"name"`
	HashedPassword []byte `db:"hashed_password"`
	Type           string `db:"type"`
}

// loggedIn lets only requests with a session pass.
func (a *app) loggedIn(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		session, err := a.sessions.Get(c.Request(), sessionName)
		if err != nil || session.IsNew {
			return c.String(http.StatusUnauthorized, "You are not logged in.")
		}
		if _, ok := session.Values["userID"]; !ok {
			return c.String(http.StatusUnauthorized, "You are not logged in.")
		}
		return next(c)
	}
}

// teacherOnly lets only requests of teachers pass.
func (a *app) teacherOnly(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		session, err := a.sessions.Get(c.Request(), sessionName)
		if err != nil {
			return serverError(c, "reading the session", err)
		}
		if isAdmin, ok := session.Values["isAdmin"].(bool); !ok || !isAdmin {
			return c.String(http.StatusForbidden, "You are not a teacher.")
		}
		return next(c)
	}
}

// caller returns the user of the session.
func (a *app) caller(c echo.Context) (id, name string, isAdmin bool, err error) {
	session, err := a.sessions.Get(c.Request(), sessionName)
	if err != nil {
		return "", "", false, err
	}
	id, ok := session.Values["userID"].(string)
	if !ok {
		return "", "", false, errors.New("the session has no user ID")
	}
	if name, ok = session.Values["userName"].(string); !ok {
		return "", "", false, errors.New("the session has no user name")
	}
	if isAdmin, ok = session.Values["isAdmin"].(bool); !ok {
		return "", "", false, errors.New("the session has no role")
	}
	return id, name, isAdmin, nil
}

// postLogin begins a session.
func (a *app) postLogin(c echo.Context) error {
	var request struct {
		Code     string `json:"code"`
		Password string `json:"password"`
	}
	if err := json.NewDecoder(c.Request().Body).Decode(&request); err != nil {
		return c.String(http.StatusBadRequest, "Invalid format.")
	}

	var user userRow
	if err := a.db.Get(&user, "SELECT * FROM `users` WHERE `code` = ?", request.Code); errors.Is(err, sql.ErrNoRows) {
		return c.String(http.StatusUnauthorized, "Code or password is wrong.")
	} else if err != nil {
		return serverError(c, "reading the user", err)
	}
	if bcrypt.CompareHashAndPassword(user.HashedPassword, []byte(request.Password)) != nil {
		return c.String(http.StatusUnauthorized, "Code or password is wrong.")
	}

	// A cookie that cannot be read gives a new session beside its error.
	session, _ := a.sessions.Get(c.Request(), sessionName)
	if id, ok := session.Values["userID"].(string); ok && id == user.ID {
		return c.String(http.StatusBadRequest, "You are already logged in.")
	}
	session.Values["userID"] = user.ID
	session.Values["userName"] = user.Name
	session.Values["isAdmin"] = user.Type == userTypeTeacher
	if err := session.Save(c.Request(), c.Response()); err != nil {
		return serverError(c, "storing the session", err)
	}
	return c.NoContent(http.StatusOK)
}

// postLogout ends the session, if there is one.
func (a *app) postLogout(c echo.Context) error {
	session, _ := a.sessions.Get(c.Request(), sessionName)
	options := *session.Options
	options.MaxAge = -1
	session.Options = &options
	if err := session.Save(c.Request(), c.Response()); err != nil {
		return serverError(c, "ending the session", err)
	}
	return c.NoContent(http.StatusOK)
}

type meResponse struct {
	Code    string `json:"code"`
	Name    string `json:"name"`
	IsAdmin bool   `json:"is_admin"`
}

// getMe answers the user of the session.
func (a *app) getMe(c echo.Context) error {
	userID, userName, isAdmin, err := a.caller(c)
	if err != nil {
		return serverError(c, "reading the session", err)
	}
	var code string
	if err := a.db.Get(&code, "SELECT `code` FROM `users` WHERE `id` = ?", userID); err != nil {
		return serverError(c, "reading the code", err)
	}
	return c.JSON(http.StatusOK, meResponse{Code: code, Name: userName, IsAdmin: isAdmin})
}
