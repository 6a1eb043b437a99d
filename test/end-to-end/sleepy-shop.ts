/**
 * Returns a page, `/cgi-bin/echo`, which returns the body of a request, `/cgi-bin/runs`, which counts the runs of a job, and
 * `/cgi-bin/stream`, which never ends. The page depends on the service `back` and on the job.
 */
export function sleepyShop(title: string): Record<string, string> {
  return {
    'compose.yaml': `services:
  web:
    build: .
    ports: ['8080:8080']
    volumes: ['data:/data:ro']
    depends_on:
      back: { condition: service_healthy }
      migrate: { condition: service_completed_successfully }
  back:
    build: .
    healthcheck: { test: [CMD, 'true'], interval: 1s }
  migrate:
    build: .
    command: ['sh', '-c', 'echo ran >> /data/runs']
    volumes: ['data:/data']
volumes: { data: {} }
`,
    Dockerfile: `FROM busybox:1
COPY . /www/
RUN chmod +x /www/cgi-bin/*
CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]
`,
    'index.html': `<h1>${title}</h1>\n`,
    'cgi-bin/echo': `#!/bin/sh\nprintf 'Content-Type: text/plain\\r\\n\\r\\n'\ncat\n`,
    'cgi-bin/runs': `#!/bin/sh\nprintf 'Content-Type: text/plain\\r\\n\\r\\n'\nwc -l < /data/runs\n`,
    'cgi-bin/stream': `#!/bin/sh\nprintf 'Content-Type: text/plain\\r\\n\\r\\n'\nwhile echo tick; do sleep 1; done\n`,
  };
}
