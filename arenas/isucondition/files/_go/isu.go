package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
)

// isuRow is a row of isu. Only some of it is shown.
type isuRow struct {
	ID         int            `db:"id"`
	JIAIsuUUID string         `db:"jia_isu_uuid"`
	Name       string         `db:"name"`
	Image      []byte         `db:"image"`
	Character  sql.NullString `db:"character"`
	JIAUserID  string         `db:"jia_user_id"`
	CreatedAt  time.Time      `db:"created_at"`
	UpdatedAt  time.Time      `db:"updated_at"`
}

type isuResponse struct {
	ID         int    `json:"id"`
	JIAIsuUUID string `json:"jia_isu_uuid"`
	Name       string `json:"name"`
	Character  string `json:"character"`
}

type isuListItem struct {
	isuResponse
	LatestIsuCondition *conditionResponse `json:"latest_isu_condition"`
}

func (i *isuRow) response() isuResponse {
	return isuResponse{ID: i.ID, JIAIsuUUID: i.JIAIsuUUID, Name: i.Name, Character: i.Character.String}
}

// getIsuList lists the user's ISUs, the newest first, each with its newest condition.
func (a *app) getIsuList(c echo.Context) error {
	user, err := a.userID(c)
	if err != nil {
		return refuse(c, err)
	}

	tx, err := a.db.Beginx()
	if err != nil {
		return serverError(c, "beginning a transaction", err)
	}
	defer tx.Rollback()

	var isus []isuRow
	if err := tx.Select(&isus, "SELECT * FROM `isu` WHERE `jia_user_id` = ? ORDER BY `id` DESC", user); err != nil {
		return serverError(c, "reading the list", err)
	}

	list := []isuListItem{}
	for _, isu := range isus {
		item := isuListItem{isuResponse: isu.response()}
		var newest conditionRow
		err := tx.Get(&newest, "SELECT * FROM `isu_condition` WHERE `jia_isu_uuid` = ? ORDER BY `timestamp` DESC LIMIT 1", isu.JIAIsuUUID)
		if err == nil {
			level, err := conditionLevel(newest.Condition)
			if err != nil {
				return serverError(c, "reading the newest condition", err)
			}
			item.LatestIsuCondition = newest.response(isu.Name, level)
		} else if !errors.Is(err, sql.ErrNoRows) {
			return serverError(c, "reading the newest condition", err)
		}
		list = append(list, item)
	}

	if err := tx.Commit(); err != nil {
		return serverError(c, "committing", err)
	}
	return c.JSON(http.StatusOK, list)
}

// postIsu registers an ISU: stores it, has JIA activate it, stores its character.
func (a *app) postIsu(c echo.Context) error {
	user, err := a.userID(c)
	if err != nil {
		return refuse(c, err)
	}
	image, err := uploadedIcon(c)
	if errors.Is(err, errBadIcon) {
		return c.String(http.StatusBadRequest, "bad format: icon")
	} else if err != nil {
		return serverError(c, "reading the icon", err)
	}
	uuid := c.FormValue("jia_isu_uuid")
	name := c.FormValue("isu_name")

	tx, err := a.db.Beginx()
	if err != nil {
		return serverError(c, "beginning a transaction", err)
	}
	defer tx.Rollback()

	_, err = tx.Exec("INSERT INTO `isu` (`jia_isu_uuid`, `name`, `image`, `jia_user_id`) VALUES (?, ?, ?, ?)", uuid, name, image, user)
	if isDuplicate(err) {
		return c.String(http.StatusConflict, "duplicated: isu")
	} else if err != nil {
		return serverError(c, "storing the ISU", err)
	}

	character, status, err := a.activate(tx, uuid)
	if err != nil {
		return serverError(c, "activating the ISU", err)
	}
	if status != http.StatusAccepted {
		return c.String(status, "JIAService returned error")
	}

	if _, err := tx.Exec("UPDATE `isu` SET `character` = ? WHERE `jia_isu_uuid` = ?", character, uuid); err != nil {
		return serverError(c, "storing the character", err)
	}
	var isu isuRow
	if err := tx.Get(&isu, "SELECT * FROM `isu` WHERE `jia_user_id` = ? AND `jia_isu_uuid` = ?", user, uuid); err != nil {
		return serverError(c, "reading the ISU", err)
	}
	if err := tx.Commit(); err != nil {
		return serverError(c, "committing", err)
	}
	return c.JSON(http.StatusCreated, isu.response())
}

var errBadIcon = errors.New("bad icon")

// uploadedIcon reads the image of the form, or the default image without one.
func uploadedIcon(c echo.Context) ([]byte, error) {
	header, err := c.FormFile("image")
	if errors.Is(err, http.ErrMissingFile) {
		return os.ReadFile(noImage)
	} else if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadIcon, err)
	}
	file, err := header.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

func isDuplicate(err error) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) && my.Number == mysqlErrDuplicateName
}

// activate requests JIA to start the ISU. status is that of JIA; character is set if it is 202.
func (a *app) activate(tx *sqlx.Tx, uuid string) (character string, status int, err error) {
	body, err := json.Marshal(map[string]string{"target_base_url": a.target, "isu_uuid": uuid})
	if err != nil {
		return "", 0, err
	}
	res, err := http.Post(jiaServiceURL(tx)+"/api/activate", "application/json", bytes.NewReader(body))
	if err != nil {
		return "", 0, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return "", 0, err
	}
	if res.StatusCode != http.StatusAccepted {
		return "", res.StatusCode, nil
	}
	var activated struct {
		Character string `json:"character"`
	}
	if err := json.Unmarshal(answer, &activated); err != nil {
		return "", 0, err
	}
	return activated.Character, res.StatusCode, nil
}

// jiaServiceURL is the URL of JIA that initialize received.
func jiaServiceURL(tx *sqlx.Tx) string {
	var url string
	if err := tx.Get(&url, "SELECT `url` FROM `isu_association_config` WHERE `name` = ?", jiaServiceURLConfig); err != nil {
		return defaultJIAServiceURL
	}
	return url
}

// getIsu answers one ISU of the user.
func (a *app) getIsu(c echo.Context) error {
	user, err := a.userID(c)
	if err != nil {
		return refuse(c, err)
	}
	var isu isuRow
	err = a.db.Get(&isu, "SELECT * FROM `isu` WHERE `jia_user_id` = ? AND `jia_isu_uuid` = ?", user, c.Param("jia_isu_uuid"))
	if errors.Is(err, sql.ErrNoRows) {
		return c.String(http.StatusNotFound, "not found: isu")
	} else if err != nil {
		return serverError(c, "reading the ISU", err)
	}
	return c.JSON(http.StatusOK, isu.response())
}

// getIsuIcon answers the icon of one ISU of the user.
func (a *app) getIsuIcon(c echo.Context) error {
	user, err := a.userID(c)
	if err != nil {
		return refuse(c, err)
	}
	var image []byte
	err = a.db.Get(&image, "SELECT `image` FROM `isu` WHERE `jia_user_id` = ? AND `jia_isu_uuid` = ?", user, c.Param("jia_isu_uuid"))
	if errors.Is(err, sql.ErrNoRows) {
		return c.String(http.StatusNotFound, "not found: isu")
	} else if err != nil {
		return serverError(c, "reading the icon", err)
	}
	return c.Blob(http.StatusOK, "", image)
}
