# frozen_string_literal: true

require 'csv'
require 'json'
require 'jwt'
require 'open3'
require 'openssl'
require 'rack/utils'
require 'sinatra/base'

require_relative 'database'

module Isuports
  # A refusal with a status of its own.
  class Refused < StandardError
    attr_reader :status, :message_shown

    def initialize(status, reason, shown = '')
      super(reason)
      @status = status
      @message_shown = shown
    end
  end

  Viewer = Struct.new(:role, :player_id, :tenant)

  # The application of the contest, in the simplest way.
  class App < Sinatra::Base
    COOKIE = 'isuports_session'
    INIT_SCRIPT = File.expand_path('../sql/init.sh', __dir__)
    TENANT_NAME = /\A[a-z][a-z0-9-]{0,61}[a-z0-9]\z/
    INTEGER = /\A[+-]?[0-9]+\z/
    INT64 = (-(2**63)..(2**63 - 1))
    ROLES = %w[admin organizer player].freeze
    PLAYER_YEN = 100
    VISITOR_YEN = 10
    DEADLOCK = 1213
    DUPLICATE = 1062

    disable :sessions, :static, :protection, :show_exceptions
    enable :logging
    set :raise_errors, false

    before { headers 'Cache-Control' => 'private' }

    error Refused do
      e = env['sinatra.error']
      logger.error("#{request.request_method} #{request.path}: #{e.message}")
      answer_json(e.status, status: false, message: e.message_shown)
    end

    error do
      e = env['sinatra.error']
      logger.error("#{request.request_method} #{request.path}: #{e.full_message(highlight: false)}")
      answer_json(500, status: false, message: '')
    end

    not_found { answer_json(404, status: false, message: '') }

    helpers do
      def answer_json(code, body)
        status code
        content_type 'application/json', charset: 'utf-8'
        JSON.pretty_generate(body)
      end

      def success(data = nil)
        body = { status: true }
        body[:data] = data unless data.nil?
        answer_json(200, body)
      end

      # host_name is the request's host without a port.
      def host_name = request.env['HTTP_HOST'].to_s

      # tenant_of_host returns the tenant of the request's host, nil if there is none.
      def tenant_of_host
        name = host_name.delete_suffix(ENV.fetch('ISUCON_BASE_HOSTNAME', '.t.isucon.dev'))
        return { id: 0, name: 'admin', display_name: 'admin' } if name == 'admin'

        AdminDB.query('SELECT * FROM tenant WHERE name = ?', name).first
      end

      # integer converts a text that is an integer of 64 bits, and returns nil for any other.
      def integer(text) = (text.to_i if INTEGER.match?(text.to_s) && INT64.cover?(text.to_i))

      def unauthorized(reason) = raise(Refused.new(401, reason))

      def parse_session
        text = request.cookies[COOKIE]
        unauthorized('no session') if text.nil?
        key = OpenSSL::PKey::RSA.new(File.read(ENV.fetch('ISUCON_JWT_KEY_FILE', '../public.pem')))
        begin
          session, = JWT.decode(text, key, true, { algorithm: 'RS256' })
        rescue JWT::DecodeError => e
          unauthorized("invalid session: #{e.message}")
        end
        unauthorized('no subject') if session['sub'].to_s.empty?
        unauthorized('no role') unless ROLES.include?(session['role'])
        audience = [session['aud']].flatten.compact
        unauthorized('not one audience') unless audience.size == 1
        [session, audience.first]
      end

      def parse_viewer
        session, audience = parse_session
        tenant = tenant_of_host
        unauthorized('unknown tenant') if tenant.nil?
        unauthorized('not the admin') if tenant[:name] == 'admin' && session['role'] != 'admin'
        unauthorized('session of another tenant') if tenant[:name] != audience
        Viewer.new(session['role'], session['sub'], tenant)
      end

      # require_role returns the viewer if the session has a role.
      def require_role(role)
        viewer = parse_viewer
        raise Refused.new(403, "role #{role} required") if viewer.role != role

        viewer
      end

      def retrieve_player(db, id) = db.query('SELECT * FROM player WHERE id = ?', id).first

      def retrieve_competition(db, id) = db.query('SELECT * FROM competition WHERE id = ?', id).first

      def competition!(db, id) = retrieve_competition(db, id) || raise(Refused.new(404, 'competition not found'))

      # disqualified reports a flag that another driver may have stored as a text.
      def disqualified?(player) = ![0, nil, 'false', 'f', '0'].include?(player[:is_disqualified])

      def authorize_player(db, id)
        player = retrieve_player(db, id)
        unauthorized('player not found') if player.nil?
        raise Refused.new(403, 'player is disqualified') if disqualified?(player)
      end

      def player_view(row) = { id: row[:id], display_name: row[:display_name], is_disqualified: disqualified?(row) }

      def competition_view(row) = { id: row[:id], title: row[:title], is_finished: !row[:finished_at].nil? }

      # dispense_id makes an id that is unique in the whole system.
      def dispense_id
        last = nil
        100.times do
          id = AdminDB.write('REPLACE INTO id_generator (stub) VALUES (?)', 'a')
          return id.to_s(16) if id.positive?
        rescue Mysql2::Error => e
          raise if e.error_number != DEADLOCK

          last = e
        end
        raise "making an id: #{last}"
      end

      def billing_report(db, tenant_id, competition_id)
        comp = retrieve_competition(db, competition_id)
        billed = {}
        AdminDB.query(
          'SELECT player_id, MIN(created_at) AS min_created_at FROM visit_history WHERE tenant_id = ? AND competition_id = ? GROUP BY player_id',
          tenant_id, comp[:id]
        ).each do |visit|
          next if comp[:finished_at] && comp[:finished_at] < visit[:min_created_at]

          billed[visit[:player_id]] = :visitor
        end
        TenantDB.lock(tenant_id) do
          db.query('SELECT DISTINCT(player_id) FROM player_score WHERE tenant_id = ? AND competition_id = ?', tenant_id, comp[:id])
            .each { |row| billed[row[:player_id]] = :player }
          kinds = comp[:finished_at] ? billed.values.tally : {}
          players = kinds.fetch(:player, 0)
          visitors = kinds.fetch(:visitor, 0)
          { competition_id: comp[:id], competition_title: comp[:title], player_count: players, visitor_count: visitors,
            billing_player_yen: PLAYER_YEN * players, billing_visitor_yen: VISITOR_YEN * visitors,
            billing_yen: PLAYER_YEN * players + VISITOR_YEN * visitors }
        end
      end

      def answer_competitions(db, tenant_id)
        rows = db.query('SELECT * FROM competition WHERE tenant_id = ? ORDER BY created_at DESC', tenant_id)
        success(competitions: rows.map { |row| competition_view(row) })
      end
    end

    post '/initialize' do
      out, status = Open3.capture2e(INIT_SCRIPT)
      raise "running #{INIT_SCRIPT}: #{out}" unless status.success?

      success(lang: 'ruby')
    end

    post '/api/admin/tenants/add' do
      viewer = parse_viewer
      raise Refused.new(404, 'no such API') if viewer.tenant[:name] != 'admin'
      raise Refused.new(403, 'role admin required') if viewer.role != 'admin'

      name = params['name'].to_s
      display_name = params['display_name'].to_s
      raise Refused.new(400, 'invalid name') unless TENANT_NAME.match?(name)

      now = Time.now.to_i
      begin
        id = AdminDB.write('INSERT INTO tenant (name, display_name, created_at, updated_at) VALUES (?, ?, ?, ?)', name, display_name, now, now)
      rescue Mysql2::Error => e
        raise Refused.new(400, 'duplicate tenant') if e.error_number == DUPLICATE

        raise
      end
      TenantDB.create(id)
      success(tenant: { id: id.to_s, name: name, display_name: display_name, billing: 0 })
    end

    get '/api/admin/tenants/billing' do
      raise Refused.new(404, 'no such API') if host_name != ENV.fetch('ISUCON_ADMIN_HOSTNAME', 'admin.t.isucon.dev')

      viewer = parse_viewer
      raise Refused.new(403, 'role admin required') if viewer.role != 'admin'

      text = params['before'].to_s
      before = text.empty? ? 0 : integer(text)
      raise Refused.new(400, "before is #{text}") if before.nil?

      tenants = []
      AdminDB.query('SELECT * FROM tenant ORDER BY id DESC').each do |tenant|
        next if before != 0 && before <= tenant[:id]

        yen = TenantDB.open(tenant[:id]) do |db|
          db.query('SELECT * FROM competition WHERE tenant_id = ?', tenant[:id]).sum do |comp|
            billing_report(db, tenant[:id], comp[:id])[:billing_yen]
          end
        end
        tenants << { id: tenant[:id].to_s, name: tenant[:name], display_name: tenant[:display_name], billing: yen }
        break if tenants.size >= 10
      end
      success(tenants: tenants)
    end

    get '/api/organizer/players' do
      viewer = require_role('organizer')
      TenantDB.open(viewer.tenant[:id]) do |db|
        rows = db.query('SELECT * FROM player WHERE tenant_id = ? ORDER BY created_at DESC', viewer.tenant[:id])
        success(players: rows.map { |row| player_view(row) })
      end
    end

    post '/api/organizer/players/add' do
      viewer = require_role('organizer')
      TenantDB.open(viewer.tenant[:id]) do |db|
        players = [params['display_name']].flatten.grep(String).map do |name|
          id = dispense_id
          now = Time.now.to_i
          db.query('INSERT INTO player (id, tenant_id, display_name, is_disqualified, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)',
                   id, viewer.tenant[:id], name, 0, now, now)
          player_view(retrieve_player(db, id))
        end
        success(players: players)
      end
    end

    post '/api/organizer/player/:player_id/disqualified' do |id|
      viewer = require_role('organizer')
      TenantDB.open(viewer.tenant[:id]) do |db|
        db.query('UPDATE player SET is_disqualified = ?, updated_at = ? WHERE id = ?', 1, Time.now.to_i, id)
        player = retrieve_player(db, id) || raise(Refused.new(404, 'player not found'))
        success(player: player_view(player))
      end
    end

    post '/api/organizer/competitions/add' do
      viewer = require_role('organizer')
      TenantDB.open(viewer.tenant[:id]) do |db|
        title = params['title'].to_s
        now = Time.now.to_i
        id = dispense_id
        db.query('INSERT INTO competition (id, tenant_id, title, finished_at, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)',
                 id, viewer.tenant[:id], title, nil, now, now)
        success(competition: { id: id, title: title, is_finished: false })
      end
    end

    post '/api/organizer/competition/:competition_id/finish' do |id|
      viewer = require_role('organizer')
      TenantDB.open(viewer.tenant[:id]) do |db|
        competition!(db, id)
        now = Time.now.to_i
        db.query('UPDATE competition SET finished_at = ?, updated_at = ? WHERE id = ?', now, now, id)
        success
      end
    end

    post '/api/organizer/competition/:competition_id/score' do |id|
      viewer = require_role('organizer')
      tenant_id = viewer.tenant[:id]
      TenantDB.open(tenant_id) do |db|
        comp = competition!(db, id)
        raise Refused.new(400, 'finished', 'competition is finished') unless comp[:finished_at].nil?

        upload = params['scores']
        raise 'the file is missing' unless upload.is_a?(Hash) && upload[:tempfile]

        table = CSV.parse(upload[:tempfile].read.force_encoding(Encoding::UTF_8)).reject(&:empty?)
        header = table.shift
        raise 'the file is empty' if header.nil?
        raise Refused.new(400, 'invalid header') if header != %w[player_id score]

        # Without the lock, a reader would see a ranking with some rows only.
        TenantDB.lock(tenant_id) do
          rows = table.map.with_index(1) do |row, number|
            raise "row #{number} has #{row.size} columns" if row.size != 2

            player_id, score = row
            raise Refused.new(400, "row #{number} has an unknown player") if retrieve_player(db, player_id).nil?
            points = integer(score) || raise(Refused.new(400, "row #{number} has no score"))
            now = Time.now.to_i
            [dispense_id, tenant_id, player_id, id, points, number, now, now]
          end
          db.query('DELETE FROM player_score WHERE tenant_id = ? AND competition_id = ?', tenant_id, id)
          rows.each do |row|
            db.query('INSERT INTO player_score (id, tenant_id, player_id, competition_id, score, row_num, created_at, updated_at)' \
                     ' VALUES (?, ?, ?, ?, ?, ?, ?, ?)', *row)
          end
          success(rows: rows.size)
        end
      end
    end

    get '/api/organizer/billing' do
      viewer = require_role('organizer')
      TenantDB.open(viewer.tenant[:id]) do |db|
        competitions = db.query('SELECT * FROM competition WHERE tenant_id = ? ORDER BY created_at DESC', viewer.tenant[:id])
        success(reports: competitions.map { |comp| billing_report(db, viewer.tenant[:id], comp[:id]) })
      end
    end

    get '/api/organizer/competitions' do
      viewer = require_role('organizer')
      TenantDB.open(viewer.tenant[:id]) { |db| answer_competitions(db, viewer.tenant[:id]) }
    end

    get '/api/player/player/:player_id' do |id|
      viewer = require_role('player')
      tenant_id = viewer.tenant[:id]
      TenantDB.open(tenant_id) do |db|
        authorize_player(db, viewer.player_id)
        player = retrieve_player(db, id) || raise(Refused.new(404, 'player not found'))
        competitions = db.query('SELECT * FROM competition WHERE tenant_id = ? ORDER BY created_at ASC', tenant_id)
        TenantDB.lock(tenant_id) do
          rows = competitions.filter_map do |comp|
            # The last row of a file counts.
            db.query('SELECT * FROM player_score WHERE tenant_id = ? AND competition_id = ? AND player_id = ? ORDER BY row_num DESC LIMIT 1',
                     tenant_id, comp[:id], player[:id]).first
          end
          scores = rows.map { |row| { competition_title: retrieve_competition(db, row[:competition_id])[:title], score: row[:score] } }
          success(player: player_view(player), scores: scores)
        end
      end
    end

    get '/api/player/competition/:competition_id/ranking' do |id|
      viewer = require_role('player')
      tenant_id = viewer.tenant[:id]
      TenantDB.open(tenant_id) do |db|
        authorize_player(db, viewer.player_id)
        comp = competition!(db, id)
        now = Time.now.to_i
        tenant = AdminDB.query('SELECT * FROM tenant WHERE id = ?', tenant_id).first
        AdminDB.write('INSERT INTO visit_history (player_id, tenant_id, competition_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?)',
                      viewer.player_id, tenant[:id], comp[:id], now, now)
        text = params['rank_after'].to_s
        rank_after = text.empty? ? 0 : integer(text)
        raise "rank_after is #{text}" if rank_after.nil?

        # Without the lock, an upload could show a part of its rows.
        TenantDB.lock(tenant_id) do
          seen = {}
          ranks = []
          db.query('SELECT * FROM player_score WHERE tenant_id = ? AND competition_id = ? ORDER BY row_num DESC', tenant_id, comp[:id]).each do |row|
            # The rows come in reverse, and the last row of a player counts.
            next if seen[row[:player_id]]

            seen[row[:player_id]] = true
            player = retrieve_player(db, row[:player_id])
            ranks << { score: row[:score], player_id: player[:id], player_display_name: player[:display_name], row_num: row[:row_num] }
          end
          ranks.sort_by! { |rank| [-rank[:score], rank[:row_num]] }
          after = [rank_after, 0].max
          page = (ranks[after, 100] || []).map.with_index(after + 1) do |rank, number|
            { rank: number, score: rank[:score], player_id: rank[:player_id], player_display_name: rank[:player_display_name] }
          end
          success(competition: competition_view(comp), ranks: page)
        end
      end
    end

    get '/api/player/competitions' do
      viewer = require_role('player')
      TenantDB.open(viewer.tenant[:id]) do |db|
        authorize_player(db, viewer.player_id)
        answer_competitions(db, viewer.tenant[:id])
      end
    end

    get '/api/me' do
      tenant = tenant_of_host
      raise 'unknown tenant' if tenant.nil?

      shown = { name: tenant[:name], display_name: tenant[:display_name] }
      nobody = { tenant: shown, me: nil, role: 'none', logged_in: false }
      begin
        viewer = parse_viewer
      rescue Refused => e
        raise if e.status != 401

        halt success(nobody)
      end
      halt success(tenant: shown, me: nil, role: viewer.role, logged_in: true) if viewer.role != 'player'

      player = TenantDB.open(viewer.tenant[:id]) { |db| retrieve_player(db, viewer.player_id) }
      halt success(nobody) if player.nil?

      success(tenant: shown, me: player_view(player), role: viewer.role, logged_in: true)
    end
  end
end
