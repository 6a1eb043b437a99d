import { expect, test } from '@jest/globals';
import { formatProblem } from './problems.ts';
import { readYaml } from './testing/read-yaml.ts';

/** Typical files of public sample repositories, rewritten: what a user's first file looks like. */
const files: [name: string, yaml: string, services: string[], others?: Record<string, string>][] = [
  [
    'a web server with its configuration',
    `
services:
  proxy:
    image: nginx:alpine
    ports: ["8080:80"]
    volumes: ["./nginx.conf:/etc/nginx/nginx.conf:ro", "./site:/usr/share/nginx/html"]
`,
    ['proxy'],
    { 'nginx.conf': 'events {}', 'site/index.html': '<p>' },
  ],
  [
    'Node with Postgres, an init script and a health check',
    `
version: "3.8"
services:
  app:
    build: { context: ., target: dev }
    command: npm run start
    ports: ["3000:3000"]
    environment:
      - DATABASE_URL=postgres://user:secret@db:5432/app
      - NODE_ENV=development
    volumes: [".:/usr/src/app", "/usr/src/app/node_modules"]
    depends_on:
      db: { condition: service_healthy }
  db:
    image: postgres:16
    restart: always
    environment: { POSTGRES_USER: user, POSTGRES_PASSWORD: secret, POSTGRES_DB: app }
    volumes: ["data:/var/lib/postgresql/data", "./init.sql:/docker-entrypoint-initdb.d/init.sql"]
    healthcheck: { test: ["CMD-SHELL", "pg_isready -U user"], interval: 5s, timeout: 5s, retries: 5 }
volumes:
  data:
`,
    ['app', 'db'],
    { Dockerfile: 'FROM node', 'init.sql': 'select 1;', 'package.json': '{}' },
  ],
  [
    'a front end, a back end and a database on two networks, with a secret',
    `
services:
  backend:
    build: backend
    restart: always
    secrets: [db-password]
    networks: [front, back]
    depends_on: { db: { condition: service_healthy } }
    expose: ["8000"]
  db:
    image: mariadb:10.6.4-focal
    command: "--default-authentication-plugin=mysql_native_password"
    restart: always
    healthcheck:
      test: ["CMD-SHELL", "mysqladmin ping -h 127.0.0.1 --silent"]
      interval: 3s
      retries: 5
      start_period: 30s
    secrets: [db-password]
    volumes: [db-data:/var/lib/mysql]
    networks: [back]
    environment: [MYSQL_DATABASE=example, MYSQL_ROOT_PASSWORD_FILE=/run/secrets/db-password]
    expose: [3306, 33060]
  proxy:
    build: proxy
    restart: always
    ports: ["80:80"]
    depends_on: [backend]
    networks: [front]
volumes: { db-data: }
secrets: { db-password: { file: db/password.txt } }
networks: { front: , back: }
`,
    ['backend', 'db', 'proxy'],
    { 'db/password.txt': 'p', 'backend/Dockerfile': 'FROM a', 'proxy/Dockerfile': 'FROM a' },
  ],
  [
    'a content system with an image for the database by platform',
    `
services:
  db:
    # works on arm64 and amd64
    image: mariadb:10.6
    command: '--default-authentication-plugin=mysql_native_password'
    volumes: [db_data:/var/lib/mysql]
    restart: always
    environment: [MYSQL_ROOT_PASSWORD=root, MYSQL_DATABASE=cms, MYSQL_USER=cms, MYSQL_PASSWORD=cms]
    expose: [3306, 33060]
  cms:
    image: wordpress:latest
    volumes: [cms_data:/var/www/html]
    ports: ["80:80"]
    restart: always
    environment: [WORDPRESS_DB_HOST=db, WORDPRESS_DB_USER=cms, WORDPRESS_DB_PASSWORD=cms, WORDPRESS_DB_NAME=cms]
volumes:
  db_data:
  cms_data:
`,
    ['cms', 'db'],
  ],
  [
    'a counter in Python with Redis',
    `
services:
  redis:
    image: redislabs/redismod
    ports: ['6379:6379']
  web:
    build: .
    ports: ["8000:8000"]
    volumes: [".:/code"]
    depends_on: [redis]
    x-coppice: { public: [{ port: 8000 }] }
`,
    ['redis', 'web'],
    { Dockerfile: 'FROM python', 'app.py': '' },
  ],
  [
    'variables with defaults, and a file of them',
    `
services:
  web:
    image: "shop:\${TAG:-latest}"
    ports: ["\${PORT:-8080}:8080"]
    env_file: [.env.defaults, { path: .env.local, required: false }]
    environment:
      LOG_LEVEL: \${LOG_LEVEL:-info}
      HOSTNAME_PATTERN: "^web-$$"
`,
    ['web'],
    { '.env.defaults': 'A=1\n# comment\nB="two words"\n', '.env': 'TAG=1.2\n' },
  ],
  [
    'anchors and extensions',
    `
x-logging: &logging { driver: json-file, options: { max-size: 10m, max-file: "3" } }
x-app: &app
  build: .
  environment: &env { RAILS_ENV: production, DB: db }
  logging: *logging
services:
  web:
    <<: *app
    command: bundle exec puma
    ports: ["3000:3000"]
  worker:
    <<: *app
    command: bundle exec sidekiq
    environment: { <<: *env, QUEUE: default }
  db: { image: "postgres:15", logging: *logging, environment: [POSTGRES_HOST_AUTH_METHOD=trust] }
`,
    ['db', 'web', 'worker'],
    { Dockerfile: 'FROM ruby' },
  ],
  [
    'extended services in a file beside',
    `
services:
  api:
    extends: { file: common.yml, service: node }
    build: ./api
    ports: ["4000:4000"]
  jobs:
    extends: { file: common.yml, service: node }
    build: ./jobs
`,
    ['api', 'jobs'],
    {
      'common.yml': 'services: { node: { init: true, environment: [NODE_ENV=production], stop_grace_period: 5s } }',
      'api/Dockerfile': 'FROM node',
      'jobs/Dockerfile': 'FROM node',
    },
  ],
  [
    'included parts of a monorepo',
    `
include:
  - ./infra/compose.yaml
  - path: apps/web/compose.yaml
services:
  smoke: { image: "curlimages/curl:8.9.1", command: ["http://web:3000"], depends_on: [web], restart: "no" }
`,
    ['db', 'smoke', 'web'],
    {
      'infra/compose.yaml':
        'services: { db: { image: "postgres:16", volumes: ["./init:/docker-entrypoint-initdb.d:ro"] } }',
      'infra/init/01.sql': 'select 1;',
      'apps/web/compose.yaml': 'services: { web: { build: ., ports: ["3000:3000"], depends_on: [db] } }',
      'apps/web/Dockerfile': 'FROM node',
    },
  ],
  [
    'profiles for tools that are started manually',
    `
services:
  app: { image: "app:1", ports: ["80:80"] }
  admin: { image: "adminer:4", ports: ["8081:8080"], profiles: [tools] }
`,
    ['app'],
  ],
  [
    'limits, replicas and a rolling update',
    `
services:
  api:
    image: registry.example.com/team/api:1.4.2
    ports: [{ target: 8080, published: "80", protocol: tcp, mode: host }]
    deploy:
      replicas: 2
      resources: { limits: { cpus: "0.50", memory: 256M }, reservations: { cpus: "0.25", memory: 128M } }
      restart_policy: { condition: on-failure, max_attempts: 3 }
      update_config: { parallelism: 1, delay: 10s, order: start-first }
`,
    ['api'],
  ],
  [
    'a queue and its workers, one of them by an older form of limits',
    `
version: '2.4'
services:
  rabbit:
    image: rabbitmq:3-management
    hostname: rabbit
    ports: ["15672:15672"]
    healthcheck: { test: rabbitmq-diagnostics -q ping, interval: 30s, timeout: 30s, retries: 3 }
    ulimits: { nofile: { soft: 65536, hard: 65536 } }
  worker:
    image: worker:1
    mem_limit: 512m
    cpus: 0.5
    links: [rabbit]
    depends_on: { rabbit: { condition: service_healthy } }
`,
    ['rabbit', 'worker'],
  ],
  [
    'a search engine that tunes its container',
    `
services:
  search:
    image: registry.example.com/search/elasticsearch:8.14.0
    container_name: search
    environment: { discovery.type: single-node, ES_JAVA_OPTS: "-Xms512m -Xmx512m", xpack.security.enabled: "false" }
    ulimits: { memlock: { soft: -1, hard: -1 } }
    cap_add: [CHOWN]
    volumes: ["search:/usr/share/elasticsearch/data"]
    ports: ["9200:9200", "9300:9300"]
    stop_signal: SIGTERM
    user: "1000:0"
volumes: { search: { driver: local } }
`,
    ['search'],
  ],
  [
    'migrations before the application',
    `
services:
  migrate:
    build: .
    command: ["./manage.py", "migrate"]
    restart: "no"
    depends_on: { db: { condition: service_healthy } }
  web:
    build: .
    command: ["./manage.py", "runserver", "0.0.0.0:8000"]
    ports: ["8000:8000"]
    depends_on: { migrate: { condition: service_completed_successfully } }
  db:
    image: postgres:16-alpine
    environment: { POSTGRES_PASSWORD: example }
    healthcheck: { test: ["CMD", "pg_isready"], start_interval: 1s, start_period: 10s }
    tmpfs: /var/lib/postgresql/data
`,
    ['db', 'migrate', 'web'],
    { Dockerfile: 'FROM python' },
  ],
  [
    'configurations in the file',
    `
services:
  metrics:
    image: prom/prometheus:v2.53.0
    command: ["--config.file=/etc/prometheus/prometheus.yml"]
    configs: [{ source: prometheus, target: /etc/prometheus/prometheus.yml }]
    ports: ["9090:9090"]
  dashboard:
    image: grafana/grafana:11.1.0
    environment: [GF_SECURITY_ADMIN_PASSWORD=grafana]
    volumes: ["./grafana:/etc/grafana/provisioning/datasources"]
    x-coppice: { public: [{ port: 3000, path: / }], healthcheck: { port: 3000, path: /api/health } }
    expose: ["3000"]
configs:
  prometheus: { content: "scrape_configs: []" }
`,
    ['dashboard', 'metrics'],
    { 'grafana/datasource.yml': 'apiVersion: 1' },
  ],
  [
    'build arguments and secrets',
    `
services:
  web:
    build:
      context: .
      dockerfile: docker/web.Dockerfile
      args: { VERSION: "1.0", COMMIT: "\${COMMIT:-unknown}" }
      secrets: [npm]
      cache_from: ["web:cache"]
    image: example/web
    ports: ["8080"]
secrets: { npm: { file: .npmrc } }
`,
    ['web'],
    { 'docker/web.Dockerfile': 'FROM node', '.npmrc': 'x' },
  ],
  [
    'a static network plan',
    `
services:
  a:
    image: a
    ports: ["1:1"]
    networks: { inner: { aliases: [first], ipv4_address: 172.16.238.10 } }
  b: { image: b, networks: [inner], extra_hosts: ["somehost:162.242.195.82"], dns: 8.8.8.8 }
networks:
  inner:
    driver: bridge
    ipam: { driver: default, config: [{ subnet: 172.16.238.0/24 }] }
`,
    ['a', 'b'],
  ],
  [
    'development by docker compose watch',
    `
name: todo
services:
  client:
    build: { context: client, target: development }
    develop: { watch: [{ action: sync, path: ./client/src, target: /app/src }, { action: rebuild, path: client/package.json }] }
    ports: ["5173:5173"]
    tty: true
    stdin_open: true
`,
    ['client'],
    { 'client/Dockerfile': 'FROM node', 'client/package.json': '{}' },
  ],
  [
    'a Java service with labels, sysctls and a read-only file system',
    `
services:
  api:
    image: eclipse-temurin:21
    working_dir: /srv
    entrypoint: ["java", "-jar", "app.jar"]
    labels: ["com.example.team=api", "com.example.tier=1"]
    read_only: true
    tmpfs: ["/tmp:size=64m", "/run"]
    sysctls: { net.ipv4.ip_unprivileged_port_start: 0 }
    security_opt: ["no-new-privileges:true"]
    volumes: [{ type: volume, source: data, target: /data, volume: { nocopy: true } }]
    ports: ["127.0.0.1:8080:8080/tcp"]
volumes: { data: }
`,
    ['api'],
  ],
  [
    'two public services on one host, jobs and a seed',
    `
services:
  web:
    build: web
    expose: ["80"]
    x-coppice: { public: [{ port: 80 }] }
  api:
    build: api
    expose: ["3000"]
    volumes: ["uploads:/srv/uploads"]
    x-coppice:
      public: [{ port: 3000, path: /api }]
      jobs: [{ name: migrate, command: npm run migrate }]
      seed: { volume: uploads, command: [sh, -c, "cp -r samples/. /srv/uploads"] }
      watch: [shared/**]
volumes: { uploads: { x-coppice: { size: 1Gi } } }
`,
    ['api', 'api-migrate', 'api-seed', 'web'],
    { 'web/Dockerfile': 'FROM a', 'api/Dockerfile': 'FROM a', 'shared/a.js': '' },
  ],
];

test.each(files)('%s', async (_, yaml, services, others = {}) => {
  const { serviceFile, errors } = await readYaml(yaml, others);
  expect(errors.map(formatProblem)).toEqual([]);
  expect(serviceFile?.services.map(({ name }) => name)).toEqual(services);
});
