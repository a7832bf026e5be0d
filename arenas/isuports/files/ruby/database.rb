# frozen_string_literal: true

require 'json'
require 'mysql2'
require 'open3'
require 'sqlite3'

module Isuports
  # The admin database. Each thread has a connection of its own.
  module AdminDB
    module_function

    def connection
      Thread.current[:admin_db] ||= Mysql2::Client.new(
        host: ENV.fetch('ISUCON_DB_HOST', '127.0.0.1'),
        port: Integer(ENV.fetch('ISUCON_DB_PORT', '3306')),
        username: ENV.fetch('ISUCON_DB_USER', 'isucon'),
        password: ENV.fetch('ISUCON_DB_PASSWORD', 'isucon'),
        database: ENV.fetch('ISUCON_DB_NAME', 'isuports'),
        charset: 'utf8mb4',
        reconnect: true,
        symbolize_keys: true
      )
    end

    # query executes a prepared statement and returns its rows.
    def query(sql, *params)
      statement = connection.prepare(sql)
      begin
        statement.execute(*params).to_a
      ensure
        statement.close
      end
    end

    # write executes a prepared statement and returns the id that it made.
    def write(sql, *params)
      statement = connection.prepare(sql)
      begin
        statement.execute(*params)
        statement.last_id
      ensure
        statement.close
      end
    end
  end

  # An SQLite file of a tenant.
  class TenantDB
    DIR = ENV.fetch('ISUCON_TENANT_DB_DIR', '../tenant_db')
    SCHEMA = File.expand_path('../sql/tenant/10_schema.sql', __dir__)
    TRACE = ENV['ISUCON_SQLITE_TRACE_FILE'].to_s.empty? ? nil : File.open(ENV['ISUCON_SQLITE_TRACE_FILE'], 'a').tap { |f| f.sync = true }

    def self.path(id, ending) = File.join(DIR, "#{id}.#{ending}")

    # open yields the database of a tenant and closes it.
    def self.open(id)
      db = new(id)
      begin
        yield db
      ensure
        db.close
      end
    end

    # create makes the database of a new tenant.
    def self.create(id)
      out, status = Open3.capture2e('sh', '-c', 'sqlite3 "$1" <"$2"', 'sh', path(id, 'db'), SCHEMA)
      raise "creating the database of tenant #{id}: #{out}" unless status.success?
    end

    # lock locks the database of a tenant during a block. Readers and writers take the
    # same lock.
    def self.lock(id)
      File.open(path(id, 'lock'), File::CREAT | File::RDWR, 0o600) do |file|
        file.flock(File::LOCK_EX)
        yield
      end
    end

    def initialize(id)
      @path = self.class.path(id, 'db')
      @db = SQLite3::Database.new(@path, readwrite: true, results_as_hash: true)
      @db.busy_timeout = 5000
    end

    def close = @db.close

    # query executes a statement and returns its rows, with symbols as keys.
    def query(sql, *params)
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      rows = @db.execute(sql, params)
      trace(sql, params, began, rows.size)
      rows.map { |row| row.select { |key, _| key.is_a?(String) }.transform_keys(&:to_sym) }
    end

    private

    def trace(sql, params, began, rows)
      return unless TRACE

      seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
      TRACE.write("#{JSON.generate(time: Time.now.strftime('%Y-%m-%dT%H:%M:%S.%9N%:z'), statement: sql, args: params, query_time: seconds,
                                   affected_rows: sql.start_with?('SELECT') ? 0 : @db.changes, rows: rows, db: @path)}\n")
    end
  end
end
