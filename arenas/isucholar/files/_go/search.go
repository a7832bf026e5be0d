package main

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

const pageSize = 20

// getCourses searches courses: one page, in the order of their codes.
func (a *app) getCourses(c echo.Context) error {
	page, ok := pageNumber(c)
	if !ok {
		return c.String(http.StatusBadRequest, "Invalid page.")
	}
	condition, args := searchCondition(c)

	query := "SELECT `courses`.*, `users`.`name` AS `teacher`" +
		" FROM `courses` JOIN `users` ON `courses`.`teacher_id` = `users`.`id`" +
		" WHERE 1=1" + condition +
		" ORDER BY `courses`.`code`" +
		" LIMIT ? OFFSET ?"
	args = append(args, pageSize+1, pageSize*(page-1)) // one more row tells of a next page

	courses := []courseDetail{}
	if err := a.db.Select(&courses, query, args...); err != nil {
		return serverError(c, "searching", err)
	}
	setLink(c, page, len(courses) > pageSize)
	if len(courses) > pageSize {
		courses = courses[:pageSize]
	}
	return c.JSON(http.StatusOK, courses)
}

// searchCondition has the conditions of the query string. It ignores values that no course can have.
func searchCondition(c echo.Context) (condition string, args []any) {
	if value := c.QueryParam("type"); slices.Contains(courseTypes, value) {
		condition += " AND `courses`.`type` = ?"
		args = append(args, value)
	}
	if value, err := strconv.Atoi(c.QueryParam("credit")); err == nil && value > 0 {
		condition += " AND `courses`.`credit` = ?"
		args = append(args, value)
	}
	if value := c.QueryParam("teacher"); value != "" {
		condition += " AND `users`.`name` = ?"
		args = append(args, value)
	}
	if value, err := strconv.Atoi(c.QueryParam("period")); err == nil && value > 0 {
		condition += " AND `courses`.`period` = ?"
		args = append(args, value)
	}
	if value := c.QueryParam("day_of_week"); slices.Contains(daysOfWeek, value) {
		condition += " AND `courses`.`day_of_week` = ?"
		args = append(args, value)
	}
	if value := c.QueryParam("keywords"); value != "" {
		words := strings.Split(value, " ")
		var names, keywords string
		for _, word := range words {
			names += " AND `courses`.`name` LIKE ?"
			args = append(args, "%"+word+"%")
		}
		for _, word := range words {
			keywords += " AND `courses`.`keywords` LIKE ?"
			args = append(args, "%"+word+"%")
		}
		condition += " AND ((1=1" + names + ") OR (1=1" + keywords + "))"
	}
	if value := c.QueryParam("status"); slices.Contains(statuses, value) {
		condition += " AND `courses`.`status` = ?"
		args = append(args, value)
	}
	return condition, args
}

// pageNumber reads the page of the query string, which begins with 1.
func pageNumber(c echo.Context) (page int, ok bool) {
	text := c.QueryParam("page")
	if text == "" {
		return 1, true
	}
	page, err := strconv.Atoi(text)
	return page, err == nil && page > 0
}

// setLink sets the header that leads to the page before and to the next.
func setLink(c echo.Context, page int, hasNext bool) {
	var links []string
	query := c.Request().URL.Query()
	link := func(page int, rel string) {
		query.Set("page", strconv.Itoa(page))
		target := url.URL{Path: c.Request().URL.Path, RawQuery: query.Encode()}
		links = append(links, "<"+target.String()+`>; rel="`+rel+`"`)
	}
	if page > 1 {
		link(page-1, "prev")
	}
	if hasNext {
		link(page+1, "next")
	}
	if len(links) > 0 {
		c.Response().Header().Set("Link", strings.Join(links, ","))
	}
}
