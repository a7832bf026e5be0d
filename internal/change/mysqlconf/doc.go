// Package mysqlconf plans settings of MariaDB and MySQL. It writes them to one
// drop-in file, which the server reads last and only iikanji writes, and applies
// them to the running server: with SET GLOBAL if that has the full effect of a
// restart, otherwise with a restart.
//
// It touches no other configuration file, sets only the variables in
// settings.go, and does not choose values.
//
// Steps of a plan:
//
//  1. read the drop-in file, the server's variables, and their traits from the
//     server: whether they are dynamic, their bounds and steps (server.go);
//  2. round the values as the server does, and refuse values outside its bounds,
//     so that file, SET GLOBAL and restart give the same state;
//  3. edit the file (dropin.go), unless the server has the values already;
//  4. compare the memory that the server could take with the machine's memory,
//     and with the memory that the other processes leave (memory.go);
//  5. let the server's program read the edited file, next to the real one;
//  6. return the file as a Change with either one op SET GLOBAL per variable,
//     whose state is the variable's value, or a restart.
//
// A file that the server reads after the drop-in file and that sets the same
// variable is an error that names it (order.go).
//
// Note: a restart can still change the value of a setting (the limit of open
// files lowers max_connections). The executor reads the values back (InForce)
// when a change is applied, and tune again after its restart rehearsal.
package mysqlconf
