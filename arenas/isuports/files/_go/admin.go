package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/labstack/echo/v4"
)

const (
	mysqlDuplicate = 1062
	mysqlDeadlock  = 1213

	dispenseTries = 100
	billingPage   = 10
)

var tenantName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,61}[a-z0-9]$`)

// dispenseID makes an id that is unique in the whole system.
func (a *app) dispenseID(ctx context.Context) (string, error) {
	var last error
	for range dispenseTries {
		result, err := a.admin.ExecContext(ctx, "REPLACE INTO id_generator (stub) VALUES (?)", "a")
		var refused *mysql.MySQLError
		if errors.As(err, &refused) && refused.Number == mysqlDeadlock {
			last = err
			continue
		}
		if err != nil {
			return "", fmt.Errorf("making an id: %w", err)
		}
		id, err := result.LastInsertId()
		if err != nil {
			return "", fmt.Errorf("reading the new id: %w", err)
		}
		if id != 0 {
			return strconv.FormatInt(id, 16), nil
		}
	}
	return "", fmt.Errorf("making an id: %d tries: %w", dispenseTries, last)
}

type tenantWithBilling struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
	BillingYen  int64  `json:"billing"`
}

// addTenant registers a tenant.
func (a *app) addTenant(c echo.Context) error {
	v, err := a.parseViewer(c)
	if err != nil {
		return err
	}
	if v.tenant.Name != adminName {
		return refuse(http.StatusNotFound, "%s has no such API", v.tenant.Name)
	}
	if v.role != roleAdmin {
		return refuse(http.StatusForbidden, "role admin required")
	}
	name, displayName := c.FormValue("name"), c.FormValue("display_name")
	if !tenantName.MatchString(name) {
		return refuse(http.StatusBadRequest, "invalid tenant name %q", name)
	}

	ctx := c.Request().Context()
	now := time.Now().Unix()
	result, err := a.admin.ExecContext(ctx, "INSERT INTO tenant (name, display_name, created_at, updated_at) VALUES (?, ?, ?, ?)",
		name, displayName, now, now)
	var refused *mysql.MySQLError
	if errors.As(err, &refused) && refused.Number == mysqlDuplicate {
		return refuse(http.StatusBadRequest, "duplicate tenant %q", name)
	}
	if err != nil {
		return fmt.Errorf("storing tenant %q: %w", name, err)
	}
	id, err := result.LastInsertId()
	if err != nil {
		return fmt.Errorf("reading the new tenant's id: %w", err)
	}
	if err := createTenantFile(ctx, id); err != nil {
		return err
	}
	return answer(c, map[string]any{"tenant": tenantWithBilling{strconv.FormatInt(id, 10), name, displayName, 0}})
}

// tenantsBilling lists ten tenants, the newest first, with what they owe.
func (a *app) tenantsBilling(c echo.Context) error {
	if host := c.Request().Host; host != env("ISUCON_ADMIN_HOSTNAME", "admin.t.isucon.dev") {
		return refuse(http.StatusNotFound, "%s has no such API", host)
	}
	v, err := a.parseViewer(c)
	if err != nil {
		return err
	}
	if v.role != roleAdmin {
		return refuse(http.StatusForbidden, "role admin required")
	}
	var before int64
	if text := c.QueryParam("before"); text != "" {
		if before, err = strconv.ParseInt(text, 10, 64); err != nil {
			return refuse(http.StatusBadRequest, "before is %q", text)
		}
	}

	ctx := c.Request().Context()
	var all []tenantRow
	if err := a.admin.SelectContext(ctx, &all, "SELECT * FROM tenant ORDER BY id DESC"); err != nil {
		return fmt.Errorf("reading the tenants: %w", err)
	}
	tenants := make([]tenantWithBilling, 0, billingPage)
	for _, t := range all {
		if before != 0 && before <= t.ID {
			continue
		}
		yen, err := a.tenantYen(ctx, t.ID)
		if err != nil {
			return err
		}
		tenants = append(tenants, tenantWithBilling{strconv.FormatInt(t.ID, 10), t.Name, t.DisplayName, yen})
		if len(tenants) >= billingPage {
			break
		}
	}
	return answer(c, map[string]any{"tenants": tenants})
}

// tenantYen is what a tenant owes for all its competitions.
func (a *app) tenantYen(ctx context.Context, id int64) (int64, error) {
	db, err := a.connectTenant(id)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	var competitions []competitionRow
	if err := db.SelectContext(ctx, &competitions, "SELECT * FROM competition WHERE tenant_id = ?", id); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("reading the competitions of tenant %d: %w", id, err)
	}
	var sum int64
	for _, comp := range competitions {
		report, err := a.billingReport(ctx, db, id, comp.ID)
		if err != nil {
			return 0, err
		}
		sum += report.BillingYen
	}
	return sum, nil
}
