// Package cacheplan makes the plan of a query cache (internal/rewrite/sqlcache) from the
// statements of an app and the definitions of its tables: which answers may be
// kept, and which rows each write touches. What cannot be told from the text is
// left out of the plan, and the reason is given: a statement that the plan does
// not list empties the cache.
package cacheplan
