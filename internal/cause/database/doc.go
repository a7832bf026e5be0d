// Package database has the rules about databases: queries, indexes, commits, locks and settings.
package database
