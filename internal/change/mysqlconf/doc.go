// Package mysqlconf plans settings of MariaDB and MySQL: in one drop-in file
// that the server reads last and that is iikanji's alone, and in the running
// server: by SET GLOBAL where that does all that a restart would do, by a
// restart where it does not.
//
// It touches no other configuration file, sets only what settings.go lists,
// and does not choose values.
//
// Steps of a plan:
//
//  1. read the drop-in file, the server's variables, and what the server says
//     of them: dynamic or not, bounds and steps (server.go);
//  2. round the values as the server would, and refuse those beyond its bounds,
//     so that file, SET GLOBAL and restart lead to one state;
//  3. edit the file (dropin.go), unless the server is set so already;
//  4. hold the memory that the server could take against the machine's, and
//     against what the other services leave (memory.go);
//  5. have the server's program try the edited file, beside the real one;
//  6. return the file as a Change with either one op SET GLOBAL per variable,
//     whose state is the variable's value, or a restart.
//
// Note: a restart may still make another value of a setting (the limit of open
// files lowers max_connections): InForce says so.
package mysqlconf
