package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
)

// tenantRow is a row of tenant.
type tenantRow struct {
	ID          int64  `db:"id"`
	Name        string `db:"name"`
	DisplayName string `db:"display_name"`
	CreatedAt   int64  `db:"created_at"`
	UpdatedAt   int64  `db:"updated_at"`
}

// viewer is the account of a request.
type viewer struct {
	role     string
	playerID string // "organizer" and "admin" for those roles
	tenant   *tenantRow
}

// claims are the content of a session.
type claims struct {
	jwt.RegisteredClaims
	Role string `json:"role"`
}

// parseViewer checks the session of a request.
func (a *app) parseViewer(c echo.Context) (*viewer, error) {
	cookie, err := c.Request().Cookie(cookieName)
	if err != nil {
		return nil, refuse(http.StatusUnauthorized, "no cookie %s", cookieName)
	}
	session, err := parseSession(cookie.Value)
	if err != nil {
		return nil, err
	}
	tenant, err := a.tenantOf(c)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, refuse(http.StatusUnauthorized, "unknown tenant %s", c.Request().Host)
	}
	if err != nil {
		return nil, err
	}
	if tenant.Name == adminName && session.Role != roleAdmin {
		return nil, refuse(http.StatusUnauthorized, "role %s on the host of the admin", session.Role)
	}
	if tenant.Name != session.Audience[0] {
		return nil, refuse(http.StatusUnauthorized, "session of tenant %s on the host of %s", session.Audience[0], tenant.Name)
	}
	return &viewer{role: session.Role, playerID: session.Subject, tenant: tenant}, nil
}

// parseSession checks the text of a session by itself.
func parseSession(text string) (*claims, error) {
	file := env("ISUCON_JWT_KEY_FILE", "../public.pem")
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the public key: %w", err)
	}
	key, err := jwt.ParseRSAPublicKeyFromPEM(pem)
	if err != nil {
		return nil, fmt.Errorf("reading the public key %s: %w", file, err)
	}
	session := new(claims)
	_, err = jwt.ParseWithClaims(text, session, func(*jwt.Token) (any, error) { return key, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodRS256.Alg()}))
	if err != nil {
		return nil, refuse(http.StatusUnauthorized, "invalid session: %v", err)
	}
	if session.Subject == "" {
		return nil, refuse(http.StatusUnauthorized, "session without a subject")
	}
	switch session.Role {
	case roleAdmin, roleOrganizer, rolePlayer:
	default:
		return nil, refuse(http.StatusUnauthorized, "session with role %q", session.Role)
	}
	if len(session.Audience) != 1 {
		return nil, refuse(http.StatusUnauthorized, "session with %d audiences", len(session.Audience))
	}
	return session, nil
}

// tenantOf returns the tenant of the request's host.
func (a *app) tenantOf(c echo.Context) (*tenantRow, error) {
	name := strings.TrimSuffix(c.Request().Host, env("ISUCON_BASE_HOSTNAME", ".t.isucon.dev"))
	if name == adminName {
		return &tenantRow{Name: adminName, DisplayName: adminName}, nil
	}
	tenant := new(tenantRow)
	if err := a.admin.GetContext(c.Request().Context(), tenant, "SELECT * FROM tenant WHERE name = ?", name); err != nil {
		return nil, fmt.Errorf("reading tenant %q: %w", name, err)
	}
	return tenant, nil
}

// organizer checks that an organizer sent the request.
func (a *app) organizer(c echo.Context) (*viewer, error) {
	v, err := a.parseViewer(c)
	if err != nil {
		return nil, err
	}
	if v.role != roleOrganizer {
		return nil, refuse(http.StatusForbidden, "role organizer required")
	}
	return v, nil
}

// player checks that a player sent the request. The caller checks its row with
// authorizePlayer.
func (a *app) player(c echo.Context) (*viewer, error) {
	v, err := a.parseViewer(c)
	if err != nil {
		return nil, err
	}
	if v.role != rolePlayer {
		return nil, refuse(http.StatusForbidden, "role player required")
	}
	return v, nil
}

// authorizePlayer refuses players who do not exist or are disqualified.
func authorizePlayer(ctx context.Context, db sqlx.ExtContext, id string) error {
	p, err := retrievePlayer(ctx, db, id)
	if errors.Is(err, sql.ErrNoRows) {
		return refuse(http.StatusUnauthorized, "player not found")
	}
	if err != nil {
		return err
	}
	if p.IsDisqualified {
		return refuse(http.StatusForbidden, "player is disqualified")
	}
	return nil
}
