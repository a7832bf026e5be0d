# frozen_string_literal: true

# Workers are processes; without any, this process serves. A thread serves one
# request at a time.
workers Integer(ENV.fetch('PUMA_WORKERS', '0'))
threads 1, Integer(ENV.fetch('PUMA_THREADS', '5'))
bind "tcp://#{ENV.fetch('SERVER_APP_HOST', '127.0.0.1')}:#{ENV.fetch('SERVER_APP_PORT', '3000')}"
environment ENV.fetch('RACK_ENV', 'production')
log_requests true
