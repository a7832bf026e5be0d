package settings

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
	{name: "a URL in establish_connection", path: "config.ru", text: "ActiveRecord::Base.establish_connection ENV['DATABASE_URL'] || 'mysql2://a:b@c:3311/d'\nrun App\n", want: "a:b@c:3311/d", line: 1, from: "SSS"},
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
	{name: "peewee and decouple", path: "models.py", text: "from decouple import config\nfrom peewee import MySQLDatabase\ndb = MySQLDatabase('pd', user=config('U', default='pu'), password=config('P'), host=config('H', 'ph'), port=3321)\n", env: vars{"P": "pp"}, want: "pu:pp@ph:3321/pd", line: 3, from: "SPS"},
	{name: "URL.create", path: "db.py", text: "import os\nfrom sqlalchemy import URL, create_engine\nurl = URL.create('mysql+pymysql', username='cu', password=os.environ['P'], host='ch', database='cd')\nengine = create_engine(url)\n", env: vars{"P": "cp"}, want: "cu:cp@ch:3306/cd", line: 4, from: "SPS"},
	{name: "aiomysql", path: "main.py", text: "import aiomysql\nasync def start(app):\n    app['pool'] = await aiomysql.create_pool(host='ah', user='au', password='ap', db='ad')\n", want: "au:ap@ah:3306/ad", line: 3, from: "SSS"},
	{name: "a percent format", path: "m.py", text: "from sqlalchemy import create_engine\ne = create_engine('mysql+mysqldb://%s:%s@%s/db' % ('a', 'b', 'c'))\n", want: "a:b@c:3306/db", line: 2, from: "SSS"},
}

var phpForms = []form{
	{name: "PDO", path: "index.php", text: "<html><?php\n$host = getenv('DB_HOST') ?: '127.0.0.1';\n$dsn = \"mysql:host=$host;port={$_ENV['DB_PORT']};dbname=shop;charset=utf8mb4\";\n# $pdo = new PDO('mysql:host=old', 'x', 'y');\n$pdo = new PDO($dsn, $_SERVER['DB_USER'] ?? 'php', getenv('DB_PASS') ?: 'pw', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);\n?></html>", env: vars{"DB_PORT": "3315", "DB_PASS": "e"}, want: "php:e@127.0.0.1:3315/shop", line: 5, from: "SPS"},
	{name: "PDO with a socket in a class", path: "src/Db.php", text: "<?php\nnamespace App;\nfinal class Db {\n    private const NAME = 'sock';\n    private ?\\PDO $pdo = null;\n    public static function get(string $user = 'cls'): \\PDO {\n        return new \\PDO('mysql:unix_socket=/run/p.sock;dbname=' . self::NAME, $user, sprintf('%s!', 'w'));\n    }\n}\n", want: "cls:w!@/run/p.sock/sock", line: 7, from: "SSS"},
	{name: "mysqli", path: "a.php", text: "<?php\ndefine('DB_PASSWORD', 'mp');\n$db = new mysqli('p:localhost', 'mu', DB_PASSWORD, 'mi', 3316);\n", want: "mu:mp@localhost:3316/mi", line: 3, from: "SSS"},
	{name: "vsprintf", path: "db.php", text: "<?php\nreturn function (): PDO {\n    $set = ['host' => getenv('H') ?: 'vh', 'name' => 'vn'];\n    return new PDO(vsprintf('mysql:host=%s;dbname=%s;port=%d', [$set['host'], $set['name'], 3318]), 'vu', 'vp');\n};\n", want: "vu:vp@vh:3318/vn", line: 4, from: "SSS"},
	{name: "Laravel", path: "config/database.php", text: "<?php\nreturn [\n    'default' => env('DB_CONNECTION', 'mysql'),\n    'connections' => [\n        'sqlite' => ['driver' => 'sqlite', 'database' => 'x'],\n        'mysql' => [\n            'driver' => 'mysql',\n            'host' => env('DB_HOST', '127.0.0.1'),\n            'port' => env('DB_PORT', '3306'),\n            'database' => env('DB_DATABASE', 'forge'),\n            'username' => env('DB_USERNAME', 'forge'),\n            'password' => env('DB_PASSWORD', ''),\n        ],\n    ],\n];\n", file: vars{"DB_PASSWORD": "lv", "DB_USERNAME": "la"}, want: "la:lv@127.0.0.1:3306/forge", from: "FFS"},
	{name: "WordPress", path: "wp-config.php", text: "<?php\ndefine( 'DB_NAME', 'wp' );\ndefine( 'DB_USER', 'press' );\ndefine( 'DB_PASSWORD', getenv('WP') ?: 'word' );\ndefine( 'DB_HOST', 'localhost:3317' );\n", want: "press:word@localhost:3317/wp", from: "SSS"},
}

// TestForms reads the forms in which apps spell their connections: with the process's
// environment before files with variables, and both before the source.
func TestForms(t *testing.T) {
	n := 0
	for lang, forms := range map[string][]form{"node": nodeForms, "ruby": rubyForms, "python": pythonForms, "php": phpForms} {
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
	if n < 25 {
		t.Errorf("only %d forms", n)
	}
}
