interface SeededPageOptions {
  /** `x-coppice` of the service file, as YAML. */
  extension: string;
  /** Shell command that writes the page's text to /www/index.html. */
  seed: string;
  /** Size of the volume. */
  size: string;
}

/** Returns the service file of a page that a seed writes to its volume. */
export function seededPage({ extension, seed, size }: SeededPageOptions): Record<string, string> {
  return {
    'compose.yaml': `x-coppice: ${extension}
services:
  web:
    image: busybox:1
    command: [httpd, -f, -p, '8080', -h, /www]
    ports: ['8080:8080']
    stop_grace_period: 0s
    volumes: ['data:/www']
    x-coppice:
      seed:
        volume: data
        command: [sh, -c, '${seed}']
volumes:
  data: { x-coppice: { size: ${size} } }
`,
  };
}
