// Package mysqlconf plans settings of MariaDB and MySQL: in one drop-in file
// that the server reads last and that is iikanji's alone, then a restart.
//
// It touches no other configuration file, and sets only what settings.go
// lists. Note: SET GLOBAL would spare the restart of a dynamic variable, and
// leave the warm buffer pool of the run before to the run after: the restart
// keeps the two runs of a pair alike.
//
// Steps of a plan:
//
//  1. read the drop-in file and the server's variables;
//  2. edit the file (dropin.go), unless the server is set so already;
//  3. hold the memory that the server could take against the machine's (memory.go);
//  4. have the server's program read the edited file, beside the real one;
//  5. return the file as a Change with a restart.
package mysqlconf
