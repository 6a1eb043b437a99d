// Measures how fast secrets are masked in the lines of a log, in CPU time: `node test/build-logs/mask-throughput.ts
// [MiB of each kind]`.
import { randomBytes } from 'node:crypto';
import { createMask } from '../../build-logs/mask.ts';

const [mebibytes = 16] = process.argv.slice(2).map(Number);

const kinds: Record<string, string> = {
  plain: 'Step 7 copies the sources of the service and compiles 214 modules, none of them changed since',
  'JSON and URLs': '{"level":30,"url":"http://api:3000/users?q=a%20b&page=2","msg":"request \\"GET\\" took 3 ms"}',
  coloured:
    '\u001b[32m✔\u001b[0m \u001b[1mapi\u001b[22m built in \u001b[33m3.2s\u001b[39m, 214 modules transformed, 0 errors',
  base64: 'integrity sha512-pq3yLQmmkPeyk5zr6ZLjq4Xr0r9dPpVzE1hFzT5cY0h5w7hLxkqv0tqA9e9Zy7uBrW3kqM5nXo1cJ8vS2dQ4fg==',
  'one character': 'a'.repeat(4096),
  quotes: '"'.repeat(4096),
  'escapes alone': '\u001b[0m%41&#65;'.repeat(512),
};

const sets: Record<string, string[]> = {
  'no secret': [],
  '5 secrets': Array.from({ length: 5 }, () => randomBytes(24).toString('base64')),
  '200 secrets': Array.from({ length: 200 }, () => randomBytes(24).toString('base64')),
  'a key of 3 KiB': [
    `-----BEGIN PRIVATE KEY-----\n${(
      randomBytes(2300)
        .toString('base64')
        .match(/.{1,64}/g) ?? []
    ).join('\n')}\n-----END PRIVATE KEY-----\n`,
  ],
  '64 KiB of quotes in lines of 8': ['"'.repeat(8).concat('\n').repeat(7281)],
  '32 of 8 KiB, alike': Array.from({ length: 32 }, (_, index) => `${'a'.repeat(8 * 1024)}${index}`),
};

for (const [name, secrets] of Object.entries(sets)) {
  const before = process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  const started = performance.now();
  const mask = createMask(secrets);
  mask(kinds['plain'] ?? '');
  const built = performance.now() - started;
  const memory = process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers - before;
  const rates = Object.entries(kinds).map(([kind, line]) => `${kind} ${rate(mask, line).toFixed(1)}`);
  process.stdout.write(
    `${name}: made in ${built.toFixed(1)} ms, ${(memory / 1024 / 1024).toFixed(1)} MiB; MiB/s: ${rates.join(', ')}\n`,
  );
}

/** Returns how many MiB are masked per second of CPU time, so that other load matters less. */
function rate(mask: (line: string) => string, line: string): number {
  const count = Math.ceil((mebibytes * 1024 * 1024) / line.length);
  const started = process.cpuUsage();
  for (let index = 0; index < count; index++) mask(line);
  const { user, system } = process.cpuUsage(started);
  return (count * line.length) / 1024 / 1024 / ((user + system) / 1e6);
}
