package main

import (
	"errors"
	"net/http"
	"strings"

	"github.com/golang-jwt/jwt/v5"
	"github.com/labstack/echo/v4"
)

var errNotSignedIn = errors.New("not signed in")

// userID returns the user who sent the request. The user must still be in the
// database, because initialize replaces the users.
func (a *app) userID(c echo.Context) (string, error) {
	session, err := a.sessions.Get(c.Request(), sessionName)
	if err != nil {
		return "", errNotSignedIn
	}
	id, ok := session.Values["jia_user_id"].(string)
	if !ok {
		return "", errNotSignedIn
	}

	var count int
	if err := a.db.Get(&count, "SELECT COUNT(*) FROM `user` WHERE `jia_user_id` = ?", id); err != nil {
		return "", err
	}
	if count == 0 {
		return "", errNotSignedIn
	}
	return id, nil
}

// refuse answers a request whose user is unknown.
func refuse(c echo.Context, err error) error {
	if errors.Is(err, errNotSignedIn) {
		return c.String(http.StatusUnauthorized, "you are not signed in")
	}
	return serverError(c, "looking up the user", err)
}

// postAuthentication signs a user in with a token of JIA, and registers a new user.
func (a *app) postAuthentication(c echo.Context) error {
	text := strings.TrimPrefix(c.Request().Header.Get("Authorization"), "Bearer ")
	token, err := jwt.Parse(text, func(*jwt.Token) (any, error) { return a.jiaKey, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodES256.Alg()}), jwt.WithIssuedAt())
	if err != nil {
		return c.String(http.StatusForbidden, "forbidden")
	}
	claims, ok := token.Claims.(jwt.MapClaims)
	if !ok {
		return c.String(http.StatusBadRequest, "invalid JWT payload")
	}
	id, ok := claims["jia_user_id"].(string)
	if !ok {
		return c.String(http.StatusBadRequest, "invalid JWT payload")
	}

	if _, err := a.db.Exec("INSERT IGNORE INTO `user` (`jia_user_id`) VALUES (?)", id); err != nil {
		return serverError(c, "storing the user", err)
	}

	session, err := a.sessions.New(c.Request(), sessionName)
	if err != nil {
		// A cookie of another key is replaced: it does not prevent the login.
		c.Logger().Debugf("reading the old session: %v", err)
	}
	session.Values["jia_user_id"] = id
	if err := session.Save(c.Request(), c.Response()); err != nil {
		return serverError(c, "saving the session", err)
	}
	return c.NoContent(http.StatusOK)
}

// postSignout ends the session.
func (a *app) postSignout(c echo.Context) error {
	if _, err := a.userID(c); err != nil {
		return refuse(c, err)
	}
	session, err := a.sessions.Get(c.Request(), sessionName)
	if err != nil {
		return serverError(c, "reading the session", err)
	}
	options := *session.Options
	options.MaxAge = -1
	options.Path = "/"
	session.Options = &options
	if err := session.Save(c.Request(), c.Response()); err != nil {
		return serverError(c, "saving the session", err)
	}
	return c.NoContent(http.StatusOK)
}

// getMe answers the user who is signed in.
func (a *app) getMe(c echo.Context) error {
	id, err := a.userID(c)
	if err != nil {
		return refuse(c, err)
	}
	return c.JSON(http.StatusOK, map[string]string{"jia_user_id": id})
}
