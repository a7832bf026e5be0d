package isuumo_test

import "testing"

func testPages(t *testing.T)          {}
func testBrowserSearch(t *testing.T)  {}
func testBrowserDetail(t *testing.T)  {}
func testBrowserNazotte(t *testing.T) {}
