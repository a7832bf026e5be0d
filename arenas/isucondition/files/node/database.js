'use strict';

const mysql = require('mysql2/promise');

const pool = mysql.createPool({
  host: process.env.MYSQL_HOST || '127.0.0.1',
  port: Number(process.env.MYSQL_PORT || 3306),
  user: process.env.MYSQL_USER || 'isucon',
  database: process.env.MYSQL_DBNAME || 'isucondition',
  password: process.env.MYSQL_PASS || 'isucon',
  timezone: '+09:00',
  connectionLimit: 10,
});

// inTransaction calls work with a connection that is in a transaction. An error of
// work takes the transaction back.
async function inTransaction(work) {
  const connection = await pool.getConnection();
  try {
    await connection.beginTransaction();
    const result = await work(connection);
    await connection.commit();
    return result;
  } catch (err) {
    try {
      await connection.rollback();
    } catch {
      connection.destroy(); // it is broken: the pool must not keep it
    }
    throw err;
  } finally {
    connection.release();
  }
}

// storable is the date of Unix seconds, a BigInt, moved into the years that a DATETIME
// can store.
function storable(seconds) {
  const first = BigInt(Date.UTC(1000, 0, 1) / 1000);
  const last = BigInt(Date.UTC(9999, 11, 30) / 1000);
  const moved = seconds < first ? first : seconds > last ? last : seconds;
  return new Date(Number(moved) * 1000);
}

// unixSeconds is the time of a row.
function unixSeconds(date) {
  return date.getTime() / 1000;
}

module.exports = { pool, inTransaction, storable, unixSeconds };
