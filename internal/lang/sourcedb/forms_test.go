package sourcedb

import (
	"strings"
	"testing"
)

// A form is one way in which an app spells its connection.
type form struct {
	name, path, text string
	env, file        map[string]string // of the process, and of a file with variables
	more             []File
	want             string // user:password@host:port/schema or user:password@socket/schema
	line             int    // of the connection; 0 is not compared
	from             string // where user, password and host come from: P process, F file, S source, - nothing
}

type vars = map[string]string

func describe(c Connection) string {
	address := c.Host.Value + ":" + c.Port.Value
	if c.Socket.Value != "" {
		address = c.Socket.Value
	}
	return c.User.Value + ":" + c.Password.Value + "@" + address + "/" + c.Schema.Value
}

// origins names where user, password and address come from.
func origins(c Connection) string {
	var b strings.Builder
	address := c.Host
	if c.Socket.Value != "" {
		address = c.Socket
	}
	for _, p := range []Part{c.User, c.Password, address} {
		switch o, ok := p.Variable(); {
		case ok && o.Layer == 0:
			b.WriteString("P")
		case ok:
			b.WriteString("F")
		case p.Literal():
			b.WriteString("S")
		default:
			b.WriteString("-")
		}
	}
	return b.String()
}

const goHead = "package main\n\nimport (\n\t\"cmp\"\n\t\"database/sql\"\n\t\"fmt\"\n\t\"net\"\n\t\"os\"\n\n\t\"github.com/go-sql-driver/mysql\"\n\t\"github.com/jmoiron/sqlx\"\n)\n\n"

const goHelper = `
func getEnv(key, fallback string) string {
	if v, ok := os.LookupEnv(key); ok {
		return v
	}
	return fallback
}
`

var goForms = []form{
	{name: "helper with LookupEnv", path: "main.go", text: goHead + goHelper + `
func connect() (*sqlx.DB, error) {
	return sqlx.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s:%s)/%s?parseTime=true&loc=Asia%%2FTokyo", getEnv("DB_USER", "isucon"), getEnv("DB_PASS", "pw"), getEnv("DB_HOST", "127.0.0.1"), getEnv("DB_PORT", "3306"), getEnv("DB_NAME", "isu")))
}`, env: vars{"DB_PORT": "3307", "DB_USER": "me"}, want: "me:pw@127.0.0.1:3307/isu", line: 23, from: "PSS"},
	{name: "helper that compares with nothing, of another name", path: "main.go", text: goHead + `
func fromEnvironment(name string, otherwise string) string {
	value := os.Getenv(name)
	if value != "" {
		return value
	}
	return otherwise
}

func main() {
	host := fromEnvironment("H", "10.0.0.2")
	db, err := sql.Open("mysql", "app:s3cret@tcp("+host+":3306)/shop")
	_, _ = db, err
}`, want: "app:s3cret@10.0.0.2:3306/shop", line: 25, from: "SSS"},
	{name: "if empty, take the default", path: "app.go", text: goHead + `
func main() {
	host := os.Getenv("MYSQL_HOST")
	if host == "" {
		host = "127.0.0.1"
	}
	port := os.Getenv("MYSQL_PORT")
	if port == "" {
		port = "3306"
	}
	user := os.Getenv("MYSQL_USER")
	if user == "" {
		user = "isucari"
	}
	dbname := os.Getenv("MYSQL_DBNAME")
	if dbname == "" {
		dbname = "isucari"
	}
	password := os.Getenv("MYSQL_PASS")
	if len(password) == 0 {
		password = "isucari"
	}
	dsn := fmt.Sprintf("%s:%s@tcp(%s:%s)/%s?charset=utf8mb4", user, password, host, port, dbname)
	dbx, err := sqlx.Open("mysql", dsn)
}`, env: vars{"MYSQL_HOST": "db1"}, file: vars{"MYSQL_PASS": "fromfile", "MYSQL_HOST": "no"}, want: "isucari:fromfile@db1:3306/isucari", from: "SFP"},
	{name: "cmp.Or", path: "main.go", text: goHead + `
func main() {
	c := mysql.Config{
		User:   cmp.Or(os.Getenv("U"), "root"),
		Passwd: cmp.Or(os.Getenv("P"), os.Getenv("P2"), "x"),
		Net:    "tcp",
		Addr:   net.JoinHostPort(cmp.Or(os.Getenv("H"), "localhost"), cmp.Or(os.Getenv("N"), "3306")),
		DBName: "shop",
	}
	db, _ := sql.Open("mysql", c.FormatDSN())
}`, env: vars{"P2": "second"}, want: "root:second@localhost:3306/shop", line: 16, from: "SPS"},
	{name: "NewConfig with assignments", path: "db.go", text: goHead + `
const hostKey = "ISUCON13_MYSQL_DIALCONFIG_ADDRESS"

func connectDB() (*sqlx.DB, error) {
	const portKey = "ISUCON13_MYSQL_DIALCONFIG_PORT"
	conf := mysql.NewConfig()
	conf.Net = "tcp"
	conf.Addr = net.JoinHostPort("127.0.0.1", "3306")
	conf.User = "isucon"
	conf.Passwd = "isucon"
	conf.DBName = "isupipe"
	if addr, ok := os.LookupEnv(hostKey); ok {
		if port, ok2 := os.LookupEnv(portKey); ok2 {
			conf.Addr = net.JoinHostPort(addr, port)
		} else {
			conf.Addr = net.JoinHostPort(addr, "3306")
		}
	}
	if v, ok := os.LookupEnv("PW"); ok {
		conf.Passwd = v
	}
	return sqlx.Open("mysql", conf.FormatDSN())
}`, env: vars{"ISUCON13_MYSQL_DIALCONFIG_ADDRESS": "192.168.0.12", "PW": "z"}, want: "isucon:z@192.168.0.12:3306/isupipe", from: "SPP"},
	{name: "socket", path: "db.go", text: goHead + `
func main() {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.DBName = "shop", os.Getenv("SHOP_WORD"), "shop"
	cfg.Net, cfg.Addr = "unix", "/run/mysqld/mysqld.sock"
	connector, err := mysql.NewConnector(cfg)
	db := sql.OpenDB(connector)
}`, env: vars{"SHOP_WORD": "w"}, want: "shop:w@/run/mysqld/mysqld.sock/shop", from: "SPS"},
	{name: "struct with a method", path: "main.go", text: goHead + goHelper + `
type MySQLConnectionEnv struct {
	Host, Port, User, DBName, Password string
}

func NewMySQLConnectionEnv() *MySQLConnectionEnv {
	return &MySQLConnectionEnv{
		Host:     getEnv("MYSQL_HOST", "127.0.0.1"),
		Port:     getEnv("MYSQL_PORT", "3306"),
		User:     getEnv("MYSQL_USER", "isucon"),
		DBName:   getEnv("MYSQL_DBNAME", "isucondition"),
		Password: getEnv("MYSQL_PASS", "isucon"),
	}
}

var mySQLConnectionData *MySQLConnectionEnv

func (mc *MySQLConnectionEnv) ConnectDB() (*sqlx.DB, error) {
	dsn := fmt.Sprintf("%v:%v@tcp(%v:%v)/%v?parseTime=true&loc=Asia%%2FTokyo", mc.User, mc.Password, mc.Host, mc.Port, mc.DBName)
	return sqlx.Open("mysql", dsn)
}

func main() {
	mySQLConnectionData = NewMySQLConnectionEnv()
	db, err := mySQLConnectionData.ConnectDB()
}`, env: vars{"MYSQL_USER": "other"}, want: "other:isucon@127.0.0.1:3306/isucondition", from: "PSS"},
	{name: "envconfig tags", path: "main.go", text: "package main\n" + `
import (
	"github.com/kelseyhightower/envconfig"
	"database/sql"
	"fmt"
)

type Config struct {
	DB struct {
		Host string ` + "`envconfig:\"DB_HOST\" default:\"127.0.0.1\"`" + `
		User string ` + "`envconfig:\"DB_USER\" default:\"shop\"`" + `
	}
	Password string ` + "`envconfig:\"DB_PASSWORD\" required:\"true\"`" + `
}

func main() {
	var cfg Config
	if err := envconfig.Process("", &cfg); err != nil {
		panic(err)
	}
	db, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)/shop", cfg.DB.User, cfg.Password, cfg.DB.Host+":3306"))
}`, env: vars{"DB_PASSWORD": "q"}, want: "shop:q@127.0.0.1:3306/shop", from: "SPS"},
	{name: "env tags with envDefault", path: "main.go", text: "package main\n" + `
import (
	"github.com/caarlos0/env/v11"
	"github.com/go-sql-driver/mysql"
)

type DB struct {
	Addr string ` + "`env:\"ADDR\" envDefault:\"127.0.0.1:3308\"`" + `
	User string ` + "`env:\"USER\" envDefault:\"u\"`" + `
	Pass string ` + "`env:\"PASS\"`" + `
}
type Config struct {
	DB DB ` + "`envPrefix:\"DB_\"`" + `
}

func main() {
	cfg := Config{}
	if err := env.Parse(&cfg); err != nil {
		return
	}
	c := &mysql.Config{User: cfg.DB.User, Passwd: cfg.DB.Pass, Addr: cfg.DB.Addr, Net: "tcp", DBName: "x"}
}`, file: vars{"DB_PASS": "f"}, want: "u:f@127.0.0.1:3308/x", from: "SFS"},
	{name: "viper", path: "main.go", text: "package main\n" + `
import (
	"fmt"
	"database/sql"
	"github.com/spf13/viper"
)

func main() {
	viper.SetEnvPrefix("shop")
	viper.AutomaticEnv()
	viper.SetDefault("db.host", "127.0.0.1")
	viper.SetDefault("db.user", "u")
	viper.SetDefault("db.password", "p")
	db, _ := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s:3306)/shop", viper.GetString("db.user"), viper.GetString("db.password"), viper.GetString("db.host")))
}`, env: vars{"SHOP_DB_HOST": "10.1.1.1"}, want: "u:p@10.1.1.1:3306/shop", from: "SSP"},
	{name: "a constant in another file, and a DSN in a variable with a default", path: "cmd/web/main.go", text: goHead + `
func main() {
	dsn := os.Getenv("DSN")
	if dsn == "" {
		dsn = defaultDSN
	}
	db := sqlx.MustConnect(driverName, dsn)
}`, more: []File{{"cmd/web/constants.go", "package main\n\nconst (\n\tdriverName = \"mysql\"\n\tdefaultDSN = \"root:toor@tcp(localhost:3306)/app\"\n)\n"}}, want: "root:toor@localhost:3306/app", line: 20, from: "SSS"},
	{name: "the same with the variable set", path: "cmd/web/main.go", text: goHead + "func main() { db, _ := sql.Open(\"mysql\", os.Getenv(\"DSN\")) }", env: vars{"DSN": "a:b@unix(/s.sock)/c"}, want: "a:b@/s.sock/c", from: "PPP"},
	{name: "helper in another package", path: "main.go", text: "package main\nimport (\n\"example.com/shop/internal/conf\"\n\"database/sql\"\n\"fmt\"\n)\nfunc main() { db, _ := sql.Open(\"mysql\", fmt.Sprintf(\"%s:%s@tcp(%s)/x\", conf.Env(\"U\", \"u\"), conf.Env(\"P\", \"p\"), conf.Address)) }",
		more: []File{{"internal/conf/conf.go", "package conf\n\nimport \"os\"\n\nvar Address = Env(\"A\", \"127.0.0.1:3310\")\n\nfunc Env(k, d string) string {\n\tif v := os.Getenv(k); len(v) > 0 {\n\t\treturn v\n\t}\n\treturn d\n}\n"}}, env: vars{"P": "pp"}, want: "u:pp@127.0.0.1:3310/x", from: "SPS"},
	{name: "env tags with a default among the options", path: "main.go", text: "package main\nimport (\n\"context\"\n\"database/sql\"\n\"github.com/sethvargo/go-envconfig\"\n)\ntype C struct {\n\tDSN string `env:\"DSN, default=o:p@tcp(h:1)/q\"`\n}\nfunc main() {\n\tvar c C\n\tif err := envconfig.Process(context.Background(), &c); err != nil {\n\t\tpanic(err)\n\t}\n\tsql.Open(\"mysql\", c.DSN)\n}\n", want: "o:p@h:1/q", line: 15, from: "SSS"},
	{name: "viper's BindEnv", path: "main.go", text: "package main\nimport (\n\"database/sql\"\n\"github.com/spf13/viper\"\n)\nfunc main() {\n\tv := viper.New()\n\tviper.BindEnv(\"dsn\", \"SHOP_DSN\")\n\tsql.Open(\"mysql\", viper.GetString(\"dsn\"))\n}\n", file: vars{"SHOP_DSN": "b:e@tcp(h:2)/v"}, want: "b:e@h:2/v", line: 9, from: "FFF"},
	{name: "gorm", path: "main.go", text: "package main\nimport (\n\"gorm.io/driver/mysql\"\n\"gorm.io/gorm\"\n)\nfunc main() { db, err := gorm.Open(mysql.Open(\"g:w@tcp(127.0.0.1:3306)/orm?parseTime=True\"), &gorm.Config{}) }", want: "g:w@127.0.0.1:3306/orm", from: "SSS"},
	{name: "ParseDSN and a change of it", path: "main.go", text: goHead + "func main() {\n\tc, err := mysql.ParseDSN(\"a:b@tcp(h:1)/d\")\n\tc.Passwd = os.Getenv(\"PW\")\n\tdb, _ := sql.Open(\"mysql\", c.FormatDSN())\n}", env: vars{"PW": "new"}, want: "a:new@h:1/d", from: "SPS"},
}

var nodeForms = []form{
	{name: "createPool with || and ??", path: "db.js", text: `const mysql = require('mysql2/promise');
// host: 'commented.example', user: 'nobody'
const pool = mysql.createPool({
  host: process.env.DB_HOST || '127.0.0.1',
  port: parseInt(process.env.DB_PORT ?? '3306', 10),
  user: process.env.DB_USER ?? 'isucon',
  password: process.env['DB_PASSWORD'] || "isucon",
  database: ` + "`${process.env.STAGE || 'prod'}_shop`" + `,
  connectionLimit: 10,
});`, env: vars{"DB_HOST": "db", "DB_PASSWORD": "pp"}, want: "isucon:pp@db:3306/prod_shop", line: 3, from: "SPP"},
	{name: "DATABASE_URL", path: "index.mjs", text: "import mysql from 'mysql2/promise'\nexport const pool = mysql.createPool(process.env.DATABASE_URL)\n", file: vars{"DATABASE_URL": "mysql://u:p%40@10.0.0.1:3307/d"}, want: "u:p@@10.0.0.1:3307/d", line: 2, from: "FFF"},
	{name: "TypeScript, destructuring with defaults", path: "src/db.ts", text: `import { createPool, type Pool } from "mysql2";
const { DB_HOST = "localhost", DB_USER: user = "ts", DB_PASS } = process.env as Record<string, string>;
interface Options { host: string; user: string }
export class Database {
  private readonly pool: Pool;
  constructor(private name: string) {
    this.pool = createPool<Row>({ host: DB_HOST, user, password: DB_PASS!, database: "shop" });
  }
}`, env: vars{"DB_PASS": "s"}, want: "ts:s@localhost:3306/shop", line: 7, from: "SPS"},
	{name: "a configuration module", path: "lib/db.js", text: "const config = require('../config');\nmodule.exports = require('mysql').createConnection({ ...config.db, database: 'a' });\n",
		more: []File{{"config/index.js", "const env = (name, fallback) => process.env[name] || fallback;\nmodule.exports = { db: { host: env('H', 'h'), user: env('U', 'u'), password: env('P', 'p') } };\n"}}, env: vars{"P": "x"}, want: "u:x@h:3306/a", from: "SPS"},
	{name: "knex", path: "knexfile.js", text: "module.exports = {\n  development: { client: 'sqlite3', connection: { filename: './dev.sqlite3' } },\n  production: {\n    client: 'mysql2',\n    connection: { host: '10.2.2.2', user: 'k', password: 'w', database: 'kn' },\n  },\n};\n", env: vars{"NODE_ENV": "production"}, want: "k:w@10.2.2.2:3306/kn", from: "SSS"},
	{name: "knex in a call", path: "db.js", text: "const knex = require('knex')({ client: 'mysql', connection: process.env.MYSQL_URL || { socketPath: '/run/m.sock', user: 'k' } });", want: "k:@/run/m.sock/", from: "S-S"},
	{name: "sequelize", path: "models.js", text: "import { Sequelize } from 'sequelize';\nconst db = new Sequelize('shop', 'seq', process.env.SEQ_PW || 'dd', { host: 'dbhost', dialect: 'mysql', logging: false });", want: "seq:dd@dbhost:3306/shop", line: 2, from: "SSS"},
	{name: "typeorm", path: "src/data-source.ts", text: "import { DataSource } from 'typeorm'\nexport const AppDataSource = new DataSource({\n  type: 'mariadb', host: process.env.H ?? 'th', port: +(process.env.N || 3320), username: 'tu', password: 'tp', database: 'td',\n  entities: [User],\n})\n", want: "tu:tp@th:3320/td", line: 2, from: "SSS"},
	{name: "prisma", path: "prisma/schema.prisma", text: "// datasource\ngenerator client {\n  provider = \"prisma-client-js\"\n}\ndatasource db {\n  provider = \"mysql\"\n  url      = env(\"DATABASE_URL\")\n}\n", env: vars{"DATABASE_URL": "mysql://pr:is@127.0.0.1/ma"}, want: "pr:is@127.0.0.1:3306/ma", line: 5, from: "PPP"},
	{name: "sequelize's config.json", path: "config/config.json", text: `{"development": {"username": "j", "password": "s", "database": "on", "host": "127.0.0.1", "dialect": "mysql"}}`, want: "j:s@127.0.0.1:3306/on", from: "SSS"},
	{name: "Number of a port that is not set", path: "src/db.ts", text: "import { createPool, type Pool } from 'mysql2/promise'\n\nexport const db: Pool = createPool({\n  host: process.env.H || 'localhost',\n  port: Number(process.env.N) || 3319,\n  user: process.env.U || 'root',\n  password: process.env.P,\n})\n", env: vars{"P": "np"}, want: "root:np@localhost:3319/", line: 3, from: "SPS"},
	{name: "a helper and a condition", path: "app.js", text: "function getConfig() {\n  if (process.env.SOCKET) {\n    return { socketPath: process.env.SOCKET, user: 'a', password: 'b' };\n  }\n  return { host: '127.0.0.1', user: 'c', password: 'd' };\n}\nasync function main() {\n  const conn = await mysql.createConnection(getConfig());\n}\n", env: vars{"SOCKET": "/x.sock"}, want: "a:b@/x.sock/", line: 8, from: "SSP"},
}

var rubyForms = []form{
	{name: "Mysql2 with fetch", path: "app.rb", text: `require 'mysql2'
class App < Sinatra::Base
  helpers do
    def db
      Thread.current[:db] ||= Mysql2::Client.new(
        host: ENV.fetch('DB_HOST', '127.0.0.1'),
        port: ENV.fetch('DB_PORT') { '3306' }.to_i,
        username: ENV['DB_USER'] || 'isucon',
        password: ENV.fetch("DB_PASS") { "isucon" },
        database: ENV['DB_NAME'] || "isu#{1}",
        reconnect: true,
      )
    end
  end
end
`, env: vars{"DB_PORT": "3309", "DB_PASS": "r"}, want: "isucon:r@127.0.0.1:3309/isu1", line: 5, from: "SPS"},
	{name: "a hash with symbols", path: "db.rb", text: "CONFIG = { :host => 'h', :username => 'u', :password => ENV['PW'], 'database' => 'd' }.freeze\n=begin\nMysql2::Client.new(host: 'commented')\n=end\nclient = Mysql2::Client.new(CONFIG.merge(socket: '/s.sock'))\n", file: vars{"PW": "ff"}, want: "u:ff@/s.sock/d", line: 5, from: "SFS"},
	{name: "methods of a configuration", path: "lib/db.rb", text: "module Db\n  def self.host\n    host = ENV['H']\n    return 'localhost' if host.nil? || host.empty?\n    host\n  end\n\n  def connect\n    Sequel.connect(adapter: 'mysql2', host: Db.host, user: user_name, password: 'w', database: 'sq')\n  end\n\n  def user_name = ENV.fetch('U', 'seq')\nend\n", want: "seq:w@localhost:3306/sq", line: 9, from: "SSS"},
	{name: "a URL in establish_connection", path: "config.ru", text: "ActiveRecord::Base.establish_connection ENV['DATABASE_URL'] || 'mysql2://a:b@c:3311/d'\nrun App\n", want: "a:b@c:3311/d", line: 1, from: "SSS"},
	{name: "a method that keeps the settings", path: "lib/app.rb", text: "class App < Base\n  helpers do\n    def settings_of\n      @settings_of ||= { db: { host: ENV['H'] || 'localhost', port: ENV['N'] && ENV['N'].to_i, username: ENV['U'] || 'root', password: ENV['P'] } }\n    end\n\n    def db\n      return Thread.current[:db] if Thread.current[:db]\n      client = Mysql2::Client.new(\n        host: settings_of[:db][:host], port: settings_of[:db][:port],\n        username: settings_of[:db][:username], password: settings_of[:db][:password], database: 'kept')\n      Thread.current[:db] = client\n      client\n    end\n  end\nend\n", env: vars{"P": "pw"}, want: "root:pw@localhost:3306/kept", line: 9, from: "SPS"},
	{name: "Trilogy", path: "db.rb", text: "DB = Trilogy.new(host: ENV.fetch('H', 'rh'), username: 'ru', password: 'rp', database: 'rd')\n", want: "ru:rp@rh:3306/rd", line: 1, from: "SSS"},
	{name: "database.yml", path: "config/database.yml", text: "default: &default\n  adapter: mysql2\n  username: <%= ENV.fetch(\"DB_USER\") { \"rails\" } %> # comment\n  password: <%= ENV['DB_PASSWORD'] %>\n  host: \"<%= ENV.fetch('DB_HOST', 'localhost') %>\"\n\ndevelopment:\n  <<: *default\n  database: dev\n\nproduction:\n  primary:\n    <<: *default\n    database: <%= ENV['STAGE'] || 'live' %>_db\n    port: 3312\n", env: vars{"RAILS_ENV": "production", "DB_PASSWORD": "rp", "DB_HOST": "dbh"}, want: "rails:rp@dbh:3312/live_db", line: 12, from: "SPP"},
}

var pythonForms = []form{
	{name: "pymysql", path: "app.py", text: "import os\nimport pymysql\n\n\ndef db():\n    \"\"\"connects as root:pw@tcp(x)/y\"\"\"\n    return pymysql.connect(\n        host=os.environ.get('DB_HOST', '127.0.0.1'), port=int(os.getenv(\"DB_PORT\", 3306)),\n        user=os.environ.get(\"DB_USER\", \"py\"), password=os.environ[\"DB_PASSWORD\"],\n        db='shop', cursorclass=pymysql.cursors.DictCursor)\n", env: vars{"DB_PASSWORD": "x", "DB_PORT": "3313"}, want: "py:x@127.0.0.1:3313/shop", line: 7, from: "SPS"},
	{name: "MySQLdb with a dict", path: "app.py", text: "from os import environ as env\nimport MySQLdb as driver\nconfig = {\n    'host': env.get('H') or 'localhost',  # the host\n    'user': 'u',\n    'passwd': env.get('P', 'p'),\n}\nconfig['db'] = 'named'\nconn = driver.connect(**config)\n", env: vars{"P": "w"}, want: "u:w@localhost:3306/named", line: 9, from: "SPS"},
	{name: "mysql.connector with a socket", path: "web/db.py", text: "import mysql.connector\n\nif True:\n    pool = mysql.connector.pooling.MySQLConnectionPool(\n        pool_size=5, unix_socket='/run/my.sock', user='c', password='d', database='e')\n", want: "c:d@/run/my.sock/e", line: 4, from: "SSS"},
	{name: "SQLAlchemy, an f-string", path: "db.py", text: "from sqlalchemy import create_engine\nfrom settings import DB_HOST, DB_USER\nimport settings\nengine = create_engine(f\"mysql+pymysql://{DB_USER}:{settings.DB_PASSWORD}@{DB_HOST}:{3306}/alchemy?charset=utf8mb4\", echo=False)\n",
		more: []File{{"settings.py", "import os\n\nDB_HOST = os.getenv('DB_HOST', 'localhost')\nDB_USER = 'al'\nDB_PASSWORD = os.getenv('DB_PASSWORD') or 'ch'\n"}}, env: vars{"DB_HOST": "10.3.3.3"}, want: "al:ch@10.3.3.3:3306/alchemy", from: "SSP"},
	{name: "Flask's settings in a class", path: "config.py", text: "import os\n\nclass Config(object):\n    HOST = os.environ.get('H', 'fh')\n    SQLALCHEMY_DATABASE_URI = 'mysql://{}:{pw}@{}/fl'.format('fu', HOST, pw='fp')\n", want: "fu:fp@fh:3306/fl", from: "SSS"},
	{name: "Django", path: "site/settings.py", text: "import os\nDEBUG = False\nDATABASES = {\n    'default': {\n        'ENGINE': 'django.db.backends.mysql',\n        'NAME': 'dj', 'USER': os.environ.get('DB_USER', 'django'),\n        'PASSWORD': os.environ.get('DB_PASSWORD', ''),\n        'HOST': '127.0.0.1', 'PORT': '3314',\n        'OPTIONS': {'charset': 'utf8mb4'},\n    }\n}\n", env: vars{"DB_PASSWORD": "jj"}, want: "django:jj@127.0.0.1:3314/dj", line: 4, from: "SPS"},
	{name: "by position", path: "a.py", text: "import pymysql\nclass Store:\n    def __init__(self, host, name='shop'):\n        self.connection = pymysql.connect(host, 'pos', 'ition', name)\n\nstore = Store('10.5.5.5')\n", want: "pos:ition@10.5.5.5:3306/shop", line: 4, from: "SSS"},
	{name: "peewee and decouple", path: "models.py", text: "from decouple import config\nfrom peewee import MySQLDatabase\ndb = MySQLDatabase('pd', user=config('U', default='pu'), password=config('P'), host=config('H', 'ph'), port=3321)\n", env: vars{"P": "pp"}, want: "pu:pp@ph:3321/pd", line: 3, from: "SPS"},
	{name: "URL.create", path: "db.py", text: "import os\nfrom sqlalchemy import URL, create_engine\nurl = URL.create('mysql+pymysql', username='cu', password=os.environ['P'], host='ch', database='cd')\nengine = create_engine(url)\n", env: vars{"P": "cp"}, want: "cu:cp@ch:3306/cd", line: 3, from: "SPS"},
	{name: "aiomysql", path: "main.py", text: "import aiomysql\nasync def start(app):\n    app['pool'] = await aiomysql.create_pool(host='ah', user='au', password='ap', db='ad')\n", want: "au:ap@ah:3306/ad", line: 3, from: "SSS"},
	{name: "pydantic's settings", path: "settings.py", text: "import MySQLdb\nfrom pydantic_settings import BaseSettings\n\nclass Settings(BaseSettings):\n    db_host: str = 'yh'\n    db_password: str\n    db_user: str = 'yu'\n\nsettings = Settings()\nMySQLdb.connect(host=settings.db_host, user=settings.db_user, passwd='yp')\n", env: vars{"DB_HOST": "10.6.6.6"}, want: "yu:yp@10.6.6.6:3306/", line: 10, from: "SSP"},
	{name: "a percent format", path: "m.py", text: "from sqlalchemy import create_engine\ne = create_engine('mysql+mysqldb://%s:%s@%s/db' % ('a', 'b', 'c'))\n", want: "a:b@c:3306/db", line: 2, from: "SSS"},
}

var phpForms = []form{
	{name: "PDO", path: "index.php", text: "<html><?php\n$host = getenv('DB_HOST') ?: '127.0.0.1';\n$dsn = \"mysql:host=$host;port={$_ENV['DB_PORT']};dbname=shop;charset=utf8mb4\";\n# $pdo = new PDO('mysql:host=old', 'x', 'y');\n$pdo = new PDO($dsn, $_SERVER['DB_USER'] ?? 'php', getenv('DB_PASS') ?: 'pw', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);\n?></html>", env: vars{"DB_PORT": "3315", "DB_PASS": "e"}, want: "php:e@127.0.0.1:3315/shop", line: 5, from: "SPS"},
	{name: "PDO with a socket in a class", path: "src/Db.php", text: "<?php\nnamespace App;\nfinal class Db {\n    private const NAME = 'sock';\n    private ?\\PDO $pdo = null;\n    public static function get(string $user = 'cls'): \\PDO {\n        return new \\PDO('mysql:unix_socket=/run/p.sock;dbname=' . self::NAME, $user, sprintf('%s!', 'w'));\n    }\n}\n", want: "cls:w!@/run/p.sock/sock", line: 7, from: "SSS"},
	{name: "mysqli", path: "a.php", text: "<?php\ndefine('DB_PASSWORD', 'mp');\n$db = new mysqli('p:localhost', 'mu', DB_PASSWORD, 'mi', 3316);\n", want: "mu:mp@localhost:3316/mi", line: 3, from: "SSS"},
	{name: "a class whose constructor connects", path: "model.php", text: "<?php\nclass Model {\n    public function __construct($server, $schema, $user, $word) {\n        $url = \"mysql:host=\" . $server . \";dbname=\" . $schema;\n        $this->pdo = new PDO($url, $user, $word);\n    }\n}\n",
		more: []File{{"index.php", "<?php\nrequire 'model.php';\n$m = new Model('localhost', 'sh', getenv('U') ?: 'cu', DB_PASS);\n"}, {"config.php", "<?php\ndefine('DB_PASS', 'cp');\n"}}, want: "cu:cp@localhost:3306/sh", line: 5, from: "SSS"},
	{name: "vsprintf", path: "db.php", text: "<?php\nreturn function (): PDO {\n    $set = ['host' => getenv('H') ?: 'vh', 'name' => 'vn'];\n    return new PDO(vsprintf('mysql:host=%s;dbname=%s;port=%d', [$set['host'], $set['name'], 3318]), 'vu', 'vp');\n};\n", want: "vu:vp@vh:3318/vn", line: 4, from: "SSS"},
	{name: "Laravel", path: "config/database.php", text: "<?php\nreturn [\n    'default' => env('DB_CONNECTION', 'mysql'),\n    'connections' => [\n        'sqlite' => ['driver' => 'sqlite', 'database' => 'x'],\n        'mysql' => [\n            'driver' => 'mysql',\n            'host' => env('DB_HOST', '127.0.0.1'),\n            'port' => env('DB_PORT', '3306'),\n            'database' => env('DB_DATABASE', 'forge'),\n            'username' => env('DB_USERNAME', 'forge'),\n            'password' => env('DB_PASSWORD', ''),\n        ],\n    ],\n];\n", file: vars{"DB_PASSWORD": "lv", "DB_USERNAME": "la"}, want: "la:lv@127.0.0.1:3306/forge", from: "FFS"},
	{name: "WordPress", path: "wp-config.php", text: "<?php\ndefine( 'DB_NAME', 'wp' );\ndefine( 'DB_USER', 'press' );\ndefine( 'DB_PASSWORD', getenv('WP') ?: 'word' );\ndefine( 'DB_HOST', 'localhost:3317' );\n", want: "press:word@localhost:3317/wp", from: "SSS"},
}

// TestForms reads the forms in which apps spell their connections: with the process's
// environment before files with variables, and both before the source.
func TestForms(t *testing.T) {
	n := 0
	for lang, forms := range map[string][]form{"go": goForms, "node": nodeForms, "ruby": rubyForms, "python": pythonForms, "php": phpForms} {
		for _, f := range forms {
			n++
			t.Run(lang+"/"+f.name, func(t *testing.T) {
				got := Read(append([]File{{f.path, f.text}}, f.more...), []Layer{{"process", f.env}, {"file", f.file}})
				if len(got) == 0 {
					t.Fatal("nothing was found")
				}
				c := got[0]
				if is := describe(c); is != f.want || !c.Complete() {
					t.Errorf("%s, want %s; missing: %q", is, f.want, c.Missing())
				}
				if is := origins(c); is != f.from {
					t.Errorf("from %s, want %s", is, f.from)
				}
				if f.line > 0 && (c.Line != f.line || c.Path != f.path) {
					t.Errorf("at %s, want %s:%d", c.Where(), f.path, f.line)
				}
			})
		}
	}
	if n < 40 {
		t.Errorf("only %d forms", n)
	}
}
