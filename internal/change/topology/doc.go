// Package topology plans where the services of a site run. A placement is two changes:
//
//	prepare   the other host gets the data, the settings and the accounts; the site does
//	          not use it yet
//	switch    the clients go to the other host, and the former server ends; it takes seconds,
//	          and so does its undo
//
// so that a comparison of both placements copies the data once. Acts:
//
//	act = move   a database to another host
//
// Steps of a move of a database:
//
//  1. mysqlserver.go: both servers have the same version, settings and folder of data;
//  2. clients.go, address.go: which apps connect to it, and by which variable each has the
//     host alone. An app that has it otherwise is refused, with the place in its source;
//  3. prepare.go: the account for the address of the clients is made on the present server,
//     both servers end, the folder of data is copied, both start again;
//  4. switch.go: drop-ins of the clients' units have the new address and a restart policy,
//     since machines boot in any order; the former server is stopped and disabled.
//
// Services are started and stopped by their units. Nothing is replicated.
package topology
